//! The mistakes that authors make get an error that says the fix.
//!
//! Each file in `mistakes/` is one, with the error beside it; `TRYBUILD=overwrite` writes what the compiler says now.

#[test]
fn each_mistake_is_answered_with_its_fix() {
    trybuild::TestCases::new().compile_fail("tests/mistakes/*.rs");
}
