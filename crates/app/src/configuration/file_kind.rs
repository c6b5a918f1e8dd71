//! Distinction of TOML files: rules and configurations.

use crate::shell::shell_word;
use figment::value::Dict;
use std::fs;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Rule,
    Configuration,
}

impl FileKind {
    pub fn read(path: &Path) -> Option<Self> {
        let values: Dict = toml::from_str(&fs::read_to_string(path).ok()?).ok()?;
        Some(Self::from_values(&values))
    }

    pub(super) fn from_values(values: &Dict) -> Self {
        let is_rule =
            ["buy", "sell"].iter().any(|key| values.contains_key(*key)) && !values.contains_key("bots");
        if is_rule { Self::Rule } else { Self::Configuration }
    }

    pub fn advice(self, path: &Path) -> String {
        let file = path.display();
        let shown = file.to_string();
        let word = shell_word(&shown);
        match self {
            Self::Rule => format!(
                "{file} is a rule: `candlewick strategy check rules --param file={word}` checks it, `candlewick tune {word}` says what it is \
                 worth, and `--rules {word}` trades it in a backtest; a bot of a configuration has it as strategy = \"rules\", params = {{ file = \
                 \"{file}\" }}"
            ),
            Self::Configuration => format!(
                "{file} is a configuration: `candlewick config check --config {word}` checks it, and `candlewick strategy check NAME --config {word}` \
                 a strategy of its bots"
            ),
        }
    }
}
