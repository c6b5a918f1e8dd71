//! Golden cases that only another test can run, compared with their base file.

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};

fn golden_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

pub(crate) fn unpack(name: &str) -> Vec<u8> {
    let packed = std::fs::File::open(golden_file(&format!("journals/{name}"))).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Runs the commands of a base file, or records it if it is missing and `CANDLEWICK_GOLDEN` is `record`.
pub(crate) fn check(name: &str, commands: &[&str], run: impl Fn(&[&str]) -> Value) {
    let document = |line: &&str| {
        let words: Vec<&str> = line.split(' ').collect();
        json!({ "command": line, "stdout": run(&words) })
    };
    let found = json!({ "commands": commands.iter().map(document).collect::<Vec<_>>() });
    let file = golden_file(&format!("base/{name}.json"));
    if !file.exists() && std::env::var("CANDLEWICK_GOLDEN").is_ok_and(|mode| mode == "record") {
        std::fs::write(&file, format!("{found:#}\n")).unwrap();
    }
    let recorded: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for (found, recorded) in
        found["commands"].as_array().unwrap().iter().zip(recorded["commands"].as_array().unwrap())
    {
        assert_eq!(found, recorded, "{name}");
    }
    assert_eq!(
        found["commands"].as_array().map(Vec::len),
        recorded["commands"].as_array().map(Vec::len),
        "{name}"
    );
}
