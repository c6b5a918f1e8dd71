//! `strategy new`: generated crates build and pass their tests unchanged.
#![cfg(unix)]

use crate::candlewick::{BINARY, Folder, Run, repository};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

#[test]
fn new_crate_builds_and_passes_its_tests_offline() {
    let folder = Folder::new();
    let written = folder.run(&["strategy", "new", "three-in-a-row"]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    // The target folder of the workspace, so that dependencies are neither built nor fetched again.
    let target = Path::new(BINARY).ancestors().nth(2).unwrap();
    let cargo = |arguments: &[&str], name: &str| {
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).current_dir(folder.path(name));
        command.env("CARGO_TARGET_DIR", target).env("CARGO_TERM_COLOR", "never");
        Run::from_output(&command.output().unwrap())
    };
    let test = ["test", "--offline", "--tests"];
    let run = cargo(&test, "three-in-a-row");
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("2 passed; 0 failed"), "{}", run.stdout);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    assert!(!run.stderr.contains("Compiling candlewick-cli"), "tests need no program: {}", run.stderr);
    let formatted = cargo(&["fmt", "--check"], "three-in-a-row");
    assert_eq!(formatted.code, 0, "{}", formatted.stdout);
    // Cargo treats a copy with the same modification times as already built, whatever its content.
    let cp = Command::new("cp").args(["-a", "three-in-a-row", "copy"]).current_dir(folder.path("")).status();
    assert!(cp.unwrap().success());
    let run = cargo(&test, "copy");
    let path = |name: &str| folder.path(name).canonicalize().unwrap().display().to_string();
    let said = format!("built in {}, not the one in {}", path("three-in-a-row"), path("copy"));
    assert!(run.code != 0 && format!("{}{}", run.stdout, run.stderr).contains(&said), "{}", run.stderr);
}

#[test]
fn several_strategies_share_one_workspace_and_program() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["strategy", "new", "momentum"]).code, 0);
    for name in ["three-in-a-row", "breakout"] {
        let mut add = folder.command(&["strategy", "new", name, "--workspace"]);
        let added = Run::from_output(&add.current_dir(folder.path("momentum")).output().unwrap());
        assert_eq!(added.code, 0, "{}", added.stderr);
    }
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1", "--no-deps"])
        .current_dir(folder.path("momentum"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let mut names: Vec<&str> = packages.iter().map(|one| one["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["breakout", "momentum", "three-in-a-row"]);
    let root = packages.iter().find(|one| one["name"] == "momentum").unwrap();
    let program = json!(["dep:candlewick-cli", "dep:three-in-a-row", "dep:breakout"]);
    assert_eq!(root["features"]["program"], program);
    let source = folder.read("momentum/src/main.rs");
    let calls = ".with_strategy::<three_in_a_row::ThreeInARow>().with_strategy::<breakout::Breakout>().run()";
    assert!(source.contains(calls), "{source}");
}

#[test]
fn refused_name_or_folder_changes_nothing() {
    let folder = Folder::new();
    let path = repository();
    let new = ["strategy", "new", "momentum", "--json", "--path", path.to_str().unwrap()];
    let written = folder.run(&new).json();
    assert_eq!(written["checkout"], path.to_str().unwrap());
    for file in written["files"].as_array().unwrap() {
        assert!(folder.path("momentum").join(file.as_str().unwrap()).is_file(), "{file}");
    }
    let rule = folder.read("momentum/src/lib.rs");
    for (arguments, part) in [
        (&["momentum"][..], "momentum"),
        (&["rsi-reversal"], "\"rsi-reversal\""),
        (&["Momentum"], "\"Momentum\""),
        (&["other", "--path", "momentum"], "momentum"),
        (&["other", "--workspace"], "--workspace"),
    ] {
        folder.run(&[&["strategy", "new"], arguments].concat()).fails(2, &[part]);
    }
    assert_eq!(folder.read("momentum/src/lib.rs"), rule);
    assert!(!folder.names().iter().any(|name| name.contains("partial") || name == "other"));
}

#[test]
fn installed_program_asks_for_the_source_folder_and_writes_nothing() {
    let folder = Folder::new();
    let installed = folder.path("candlewick");
    std::fs::copy(BINARY, &installed).unwrap();
    let new = ["strategy", "new", "momentum"];
    folder.run_program(&installed, &new).fails(2, &["--path DIR", "--git URL"]);
    assert!(!folder.path("momentum").exists());
    let from_git = [&new[..], &["--git", "https://example.com/candlewick"]].concat();
    assert_eq!(folder.run_program(&installed, &from_git).code, 0);
    assert!(
        folder.read("momentum/Cargo.toml").contains("git = \"https://example.com/candlewick\", tag = \"v")
    );
    assert!(!folder.path("momentum/.cargo").exists());
}
