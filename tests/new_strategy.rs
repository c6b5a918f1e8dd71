//! `strategy new`: a crate that builds and passes as it is written.

use crate::candlewick::{BINARY, Folder, Run, repository};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_new_crate_builds_and_passes_its_tests_offline() {
    let folder = Folder::new();
    let written = folder.run(&["strategy", "new", "three-in-a-row"]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    // What the workspace has built of the dependencies is not built again, and nothing is fetched.
    let target = Path::new(BINARY).ancestors().nth(2).unwrap();
    let tested = |name: &str| {
        let output = Command::new(env!("CARGO"))
            .args(["test", "--offline", "--tests"])
            .current_dir(folder.path(name))
            .env("CARGO_TARGET_DIR", target)
            .env("CARGO_TERM_COLOR", "never")
            .output()
            .expect("cargo must be installed to build the crate that strategy new writes");
        let [printed, errors] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        (output.status.success(), printed, errors)
    };
    let (is_passed, printed, errors) = tested("three-in-a-row");
    assert!(is_passed, "{printed}\n{errors}");
    assert!(printed.contains("2 passed; 0 failed"), "{printed}\n{errors}");
    assert!(!errors.contains("warning"), "{errors}");
    assert!(!errors.contains("Compiling candlewick-cli"), "tests need no program: {errors}");
    let formatted = Command::new(env!("CARGO"))
        .args(["fmt", "--check"])
        .current_dir(folder.path("three-in-a-row"))
        .output();
    let formatted = formatted.expect("cargo was there just now");
    assert!(formatted.status.success(), "{}", String::from_utf8_lossy(&formatted.stdout));
    // Of a copy with the same times cargo believes that it is built already, whatever stands in it.
    copy_with_times(&folder.path("three-in-a-row"), &folder.path("copy"));
    let (is_passed, printed, errors) = tested("copy");
    let told = format!("built of {}, not of {}", shown(&folder, "three-in-a-row"), shown(&folder, "copy"));
    assert!(!is_passed && format!("{printed}{errors}").contains(&told), "{told}: {printed}\n{errors}");
}

fn shown(folder: &Folder, name: &str) -> String {
    folder.path(name).canonicalize().unwrap().display().to_string()
}

fn copy_with_times(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let copy = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_with_times(&entry.path(), &copy);
        } else {
            fs::copy(entry.path(), &copy).unwrap();
            let written = entry.metadata().unwrap().modified().unwrap();
            fs::File::options().write(true).open(&copy).unwrap().set_modified(written).unwrap();
        }
    }
}

#[test]
fn several_strategies_live_in_one_workspace_with_one_program() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["strategy", "new", "momentum"]).code, 0);
    let inside = |arguments: &[&str]| {
        let output = folder.command(arguments).current_dir(folder.path("momentum")).output().unwrap();
        Run::of(&output)
    };
    let added = inside(&["strategy", "new", "three-in-a-row", "--workspace"]);
    assert!(added.code == 0 && added.stdout.contains("cargo test -p three-in-a-row"), "{}", added.stderr);
    assert_eq!(inside(&["strategy", "new", "breakout", "--workspace"]).code, 0);
    // Cargo itself says what the members are, and what the program needs.
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
    let outside = folder.run(&["strategy", "new", "other", "--workspace"]);
    outside.fails(2, &["there is no cargo workspace", "leave --workspace out"]);
    assert!(!folder.path("other").exists());
}

#[test]
fn what_is_there_stays_and_nothing_half_written_is_left() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["strategy", "new", "momentum"]).code, 0);
    let rule = folder.read("momentum/src/lib.rs");
    for (name, expected) in [
        ("momentum", "there is a file or folder momentum already"),
        ("rsi-reversal", "this program has a strategy \"rsi-reversal\" already"),
        ("Momentum", "\"Momentum\" is no name of a strategy"),
    ] {
        let refused = folder.run(&["strategy", "new", name]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    let elsewhere = folder.run(&["strategy", "new", "other", "--path", "momentum"]);
    assert!(
        elsewhere.code == 2 && elsewhere.stderr.contains("momentum is no checkout of Candlewick"),
        "{}",
        elsewhere.stderr
    );
    assert_eq!(folder.read("momentum/src/lib.rs"), rule);
    let left: Vec<_> =
        std::fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !left.iter().any(|name| name.to_string_lossy().contains("partial") || *name == *"other"),
        "{left:?}"
    );
}

#[test]
fn the_answer_names_the_files_and_the_checkout() {
    let folder = Folder::new();
    let path = repository();
    let path = path.to_str().unwrap();
    let answer = folder.run(&["strategy", "new", "momentum", "--path", path, "--json"]).json();
    assert_eq!(answer["checkout"], path);
    for file in answer["files"].as_array().unwrap() {
        assert!(folder.path("momentum").join(file.as_str().unwrap()).is_file(), "{file}");
    }
}

#[test]
fn an_installed_program_asks_where_the_source_is_and_writes_nothing() {
    let folder = Folder::new();
    let installed = folder.path("candlewick");
    std::fs::copy(BINARY, &installed).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(&installed)
            .args(arguments)
            .current_dir(folder.path(""))
            .output()
            .expect("it was copied");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&["strategy", "new", "momentum"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--path DIR") && said.contains("--git URL"), "{said}");
    assert!(!folder.path("momentum").exists());
    let (code, said) = run(&["strategy", "new", "momentum", "--git", "https://example.com/candlewick"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        folder.read("momentum/Cargo.toml").contains("git = \"https://example.com/candlewick\", tag = \"v")
    );
    assert!(!folder.path("momentum/.cargo").exists());
}
