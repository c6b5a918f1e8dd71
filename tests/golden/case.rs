//! Cases: commands, the files they need and the outputs to record.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Value;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Package whose own test runs the case, `None` for the program.
    pub(crate) package: Option<String>,
    #[serde(default)]
    pub(crate) files: Vec<String>,
    #[serde(default)]
    pub(crate) run: Vec<String>,
    /// Written files to record by content.
    #[serde(default)]
    pub(crate) keep: Vec<String>,
    /// Written files to record by SHA-256.
    #[serde(default)]
    pub(crate) hash: Vec<String>,
    pub(crate) server: Option<Server>,
    #[serde(default)]
    pub(crate) mask: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) run: String,
    pub(crate) ready: String,
    pub(crate) get: Vec<String>,
}

impl Case {
    pub(crate) fn file_name(&self) -> String {
        format!("{}.json", self.name)
    }

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
