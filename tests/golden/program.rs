//! Runs of the program in a separate folder with a clean environment.

use crate::case::Case;
use crate::document::{hex_sha256, parse_file, parse_stdout, visit};
use crate::{golden_folder, server};
use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) struct Program {
    binary: PathBuf,
}

impl Program {
    pub(crate) fn new(binary: impl Into<PathBuf>) -> Self {
        Self { binary: binary.into() }
    }

    pub(crate) fn run_case(&self, case: &Case) -> Value {
        let folder = tempfile::tempdir().unwrap();
        for file in &case.files {
            copy(&golden_folder().join(file), folder.path());
        }
        let run = |line: &String| {
            let output = self.command(folder.path(), line).output().unwrap();
            let stdout = String::from_utf8(output.stdout).unwrap();
            json!({ "command": line, "code": output.status.code(), "stdout": parse_stdout(line, &stdout) })
        };
        let mut document = json!({ "commands": case.run.iter().map(run).collect::<Vec<_>>() });
        if let Some(server) = &case.server {
            document["answers"] = server::ask(self.command(folder.path(), &server.run), server);
        }
        document["files"] = record_files(folder.path(), &case.keep, parse_file);
        document["hashes"] = record_files(folder.path(), &case.hash, |_, bytes| hex_sha256(bytes).into());
        hide_folder(&mut document, &folder.path().to_string_lossy());
        document
    }

    fn command(&self, folder: &Path, line: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(split(line)).current_dir(folder).env_clear().stdin(Stdio::null()).env("TZ", "UTC");
        for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"]
        {
            command.env(name, folder);
        }
        // Sealing would hide the last candles of a case.
        command.env("CANDLEWICK_EVIDENCE__SEAL", "false");
        command
    }
}

/// Splits a command into arguments. Text in single quotes is one argument.
fn split(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(index, part)| if index % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

fn copy(file: &Path, folder: &Path) {
    let mut bytes = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut name = PathBuf::from(file.file_name().unwrap());
    if file.parent().is_some_and(|parent| parent.ends_with("journals")) {
        let packed = std::mem::take(&mut bytes);
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        name.set_extension("");
    }
    fs::write(folder.join(name), bytes).unwrap();
}

fn record_files(folder: &Path, names: &[String], record: impl Fn(&str, &[u8]) -> Value) -> Value {
    let file = |name: &String| {
        let bytes = fs::read(folder.join(name)).ok();
        (name.clone(), bytes.map_or(Value::Null, |bytes| record(name, &bytes)))
    };
    names.iter().map(file).collect::<Map<_, _>>().into()
}

fn hide_folder(document: &mut Value, folder: &str) {
    visit(document, "", &mut |_, value| {
        if let Value::String(text) = value {
            *text = text.replace(folder, "<folder>");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_commands_and_keeps_quoted_texts_whole() {
        assert_eq!(
            split("sweep --where 'slow > fast' --json"),
            ["sweep", "--where", "slow > fast", "--json"]
        );
    }

    #[test]
    fn hides_the_folder_and_records_missing_files_as_null() {
        let folder = tempfile::tempdir().unwrap();
        let mut value = record_files(folder.path(), &["a.csv".to_owned()], parse_file);
        assert_eq!(value, json!({ "a.csv": null }));
        let path = folder.path().to_string_lossy().into_owned();
        value["a.csv"] = json!([format!("{path}/data")]);
        hide_folder(&mut value, &path);
        assert_eq!(value["a.csv"][0], "<folder>/data");
    }
}
