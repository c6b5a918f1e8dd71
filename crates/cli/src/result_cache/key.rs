//! What a result is known by.

use candlewick_engine::BotSettings;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;

/// The form of what is kept; raised when it changes.
const FORMAT: u32 = 1;

/// The hash of everything that decides a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key(blake3::Hash);

/// The files that parameters name, by what they hold. A strategy reads such a file when it is built, so its content is as
/// much a parameter as its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct NamedFiles(BTreeMap<String, String>);

impl Key {
    /// Of a result of this kind that the program with this hash makes of all that `parts` says.
    pub(crate) fn of(kind: &str, program_hash: &str, parts: &Value) -> Self {
        let all = json!({ "format": FORMAT, "kind": kind, "program": program_hash, "parts": parts });
        Self(blake3::hash(all.to_string().as_bytes()))
    }

    /// As hexadecimal digits.
    pub(super) fn name(&self) -> String {
        self.0.to_hex().to_string()
    }
}

impl NamedFiles {
    /// Of every text among the bots' parameters that is the path of something.
    ///
    /// # Errors
    /// What keeps a file from being read: then it is not known what it holds. So it is of a folder.
    pub(crate) fn of(bots: &[BotSettings]) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        bots.iter().try_for_each(|bot| add(&bot.params, &mut files))?;
        Ok(Self(files))
    }

    /// Whether these are the files that the bots name, and hold what they held.
    pub(super) fn are_as_before(&self, bots: &[BotSettings]) -> bool {
        Self::of(bots).is_ok_and(|files| files == *self)
    }
}

fn add(value: &Value, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    match value {
        // A text that is no path is a text like any other.
        Value::String(text) if fs::metadata(text).is_ok() => {
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(File::open(text)?)?;
            files.insert(text.clone(), hasher.finalize().to_hex().to_string());
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| add(item, files)),
        Value::Object(entries) => entries.values().try_for_each(|item| add(item, files)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_kind_program_or_part_has_another_key() {
        let usual = || Key::of("run", "p", &json!({ "a": 1, "b": [1.0] }));
        assert_eq!(usual(), Key::of("run", "p", &json!({ "b": [1.0], "a": 1 })));
        for other in [
            Key::of("trials", "p", &json!({ "a": 1, "b": [1.0] })),
            Key::of("run", "q", &json!({ "a": 1, "b": [1.0] })),
            Key::of("run", "p", &json!({ "a": 2, "b": [1.0] })),
            Key::of("run", "p", &json!({ "a": 1, "b": [1.0, 2.0] })),
            Key::of("run", "p", &json!({ "a": 1, "b": [1.000_000_000_000_000_2] })),
        ] {
            assert_ne!(other, usual());
        }
    }

    fn files(params: &Value) -> io::Result<NamedFiles> {
        let bot = json!({
            "name": "a", "symbol": "BTCUSDT", "interval": "1m", "strategy": "any", "close_type": "01:00",
            "params": params,
        });
        NamedFiles::of(&[serde_json::from_value(bot).unwrap()])
    }

    #[test]
    fn a_file_that_a_parameter_names_counts_by_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.csv");
        let params = json!({ "deep": [{ "file": path }], "name": "no such file", "empty": "" });
        assert_eq!(files(&params).unwrap(), NamedFiles::default());
        fs::write(&path, "one").unwrap();
        let one = files(&params).unwrap();
        assert_eq!(one.0[path.to_str().unwrap()], blake3::hash(b"one").to_hex().to_string());
        fs::write(&path, "two").unwrap();
        assert_ne!(files(&params).unwrap(), one);
        assert!(files(&json!({ "file": folder.path() })).is_err(), "nobody knows what a folder holds");
    }
}
