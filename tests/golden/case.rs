//! Cases: commands, the files they need and the outputs to record.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Value;

/// One case of `cases.toml`; it runs in a folder of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Package whose own test runs the case, `None` for the program.
    pub(crate) package: Option<String>,
    /// Files to copy into the folder, relative to `tests/golden`; journals are unpacked.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// Commands in their order, without the name of the program.
    #[serde(default)]
    pub(crate) run: Vec<String>,
    /// Written files to record by their content.
    #[serde(default)]
    pub(crate) keep: Vec<String>,
    /// Written files to record by their SHA-256.
    #[serde(default)]
    pub(crate) hash: Vec<String>,
    pub(crate) server: Option<Server>,
    /// JSON pointers of values to mask in this case, each with its reason.
    #[serde(default)]
    pub(crate) mask: BTreeMap<String, String>,
}

/// A command that serves HTTP while its paths are requested.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) run: String,
    /// Text in the first printed line that holds the address.
    pub(crate) ready: String,
    pub(crate) get: Vec<String>,
}

impl Case {
    /// Returns the name of the base file.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.json", self.name)
    }

    /// Parses all cases. A case with `each` is repeated with each of its words in place of `{}`.
    pub(crate) fn parse_all(text: &str) -> Vec<Self> {
        let mut document: toml::Table = text.parse().unwrap();
        let Some(Value::Array(cases)) = document.remove("case") else { return Vec::new() };
        cases.into_iter().flat_map(repeat).map(|case| case.try_into().unwrap()).collect()
    }
}

fn repeat(mut case: Value) -> Vec<Value> {
    let Some(Value::Array(words)) = case.as_table_mut().unwrap().remove("each") else { return vec![case] };
    words.iter().map(|word| fill(&case, word.as_str().unwrap())).collect()
}

fn fill(value: &Value, word: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("{}", word)),
        Value::Array(values) => Value::Array(values.iter().map(|value| fill(value, word)).collect()),
        Value::Table(table) => {
            let filled = table.iter().map(|(key, value)| (key.replace("{}", word), fill(value, word)));
            Value::Table(filled.collect())
        }
        other => other.clone(),
    }
}
