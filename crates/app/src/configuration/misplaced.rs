//! What is written at the wrong place: a rule as a configuration, what belongs to a combination beside another strategy.

use crate::shell::shell_word;
use figment::value::Dict;
use std::fs;
use std::path::Path;

/// What only a combination has.
const OF_COMBINATIONS: [&str; 7] = ["gate", "filters", "first_of", "vote", "quorum", "within", "invert"];
/// What the file of a rule has at its top.
const OF_RULES: [&str; 2] = ["buy", "sell"];

/// What a TOML file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The file of a rule.
    Rule,
    /// A configuration.
    Configuration,
}

impl FileKind {
    /// What a file is, as its keys say; none for one that cannot be read as TOML.
    pub fn of(path: &Path) -> Option<Self> {
        let values: Dict = toml::from_str(&fs::read_to_string(path).ok()?).ok()?;
        Some(Self::of_values(&values))
    }

    pub(super) fn of_values(values: &Dict) -> Self {
        let is_rule = OF_RULES.iter().any(|key| values.contains_key(*key)) && !values.contains_key("bots");
        if is_rule { Self::Rule } else { Self::Configuration }
    }

    /// How a file of this kind is checked, and what else is done with it.
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

/// What is meant by a key that only the parameters of a bot have.
pub(super) fn of_params(key: &str) -> Option<String> {
    let strategy = match key {
        _ if OF_COMBINATIONS.contains(&key) => "combine",
        _ if OF_RULES.contains(&key) || key == "file" => "rules",
        _ => return None,
    };
    Some(format!(
        "{key} stands in the params of a bot: params = {{ {key} = ... }} with strategy = \"{strategy}\""
    ))
}

/// What is meant by a key that only a combination has, beside another strategy.
pub(crate) fn of_combination(key: &str, strategy: &str) -> Option<String> {
    (OF_COMBINATIONS.contains(&key) && strategy != "combine").then(|| {
        format!(
            "{key} belongs to a combination, which may be of one strategy: strategy = \"combine\", params = {{ first_of = [{{ strategy = \
             \"{strategy}\", params = {{ ... }} }}], {key} = ... }}; `candlewick strategy show combine` says what it takes"
        )
    })
}
