//! Compile errors of common mistakes, each with its fix.
//!
//! Each file in `mistakes/` is a mistake, with the expected error next to it. `TRYBUILD=overwrite` updates the errors.

#[test]
fn each_mistake_has_an_error_with_its_fix() {
    trybuild::TestCases::new().compile_fail("tests/mistakes/*.rs");
}
