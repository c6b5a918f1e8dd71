//! Runs the example as a program.

use std::process::Command;

#[test]
fn lists_own_and_built_in_strategies() {
    let output = Command::new(env!("CARGO_BIN_EXE_own-bot")).args(["strategy", "list"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    for name in ["three-in-a-row", "band-return", "ema-cross"] {
        assert!(text.contains(name), "{name} is not in:\n{text}");
    }
}
