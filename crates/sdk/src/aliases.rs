//! Names used by other programs and their counterparts here, from `aliases.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Context in which a foreign name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AliasContext {
    /// Configuration key.
    Setting,
    /// Key of a strategy combination, written outside its parameters.
    Combination,
    /// Per-bot override of a setting of all bots.
    BotSetting,
    /// Kind of stake.
    StakeKind,
    /// Top-level key of a rule file.
    RuleKey,
    /// Key of a rule parameter.
    RuleParameter,
    /// Name in a rule condition.
    RuleName,
    /// Module before a dot in a rule condition.
    RuleModule,
    /// Word used as an operator in a rule condition.
    RuleWord,
    /// CLI command.
    Command,
    /// CLI flag.
    Flag,
    /// Keyword argument of a Python function.
    Keyword,
}

/// Counterpart of a foreign name.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Counterpart {
    /// Key of a configuration section.
    Key {
        /// Section name, `bots` for per-bot keys.
        section: String,
        /// Key with an example value.
        example: String,
    },
    /// Synonym, or a key of several sections, optionally with an example value.
    Name {
        /// Name or key.
        name: String,
    },
    /// Workaround, or the reason why there is no counterpart.
    Advice {
        /// Advice text without a final period.
        advice: String,
    },
}

impl Counterpart {
    /// Returns the example, the name or the advice.
    pub fn text(&self) -> &str {
        match self {
            Self::Key { example: text, .. } | Self::Name { name: text } | Self::Advice { advice: text } => {
                text
            }
        }
    }

    /// Returns the name of the setting, `None` for advice.
    pub fn key(&self) -> Option<&str> {
        let is_key = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        match self {
            Self::Key { example: text, .. } | Self::Name { name: text } => {
                text.split(|letter| !is_key(letter)).next()
            }
            Self::Advice { .. } => None,
        }
    }
}

#[derive(Deserialize)]
struct Alias {
    /// Lower-case names with `_` between words, separated by spaces.
    names: String,
    #[serde(flatten)]
    counterpart: Counterpart,
}

static ALIASES: LazyLock<BTreeMap<AliasContext, Vec<Alias>>> = LazyLock::new(|| {
    toml::from_str(include_str!("aliases.toml")).expect("a test reads the embedded table of aliases")
});

fn rows(context: AliasContext) -> impl Iterator<Item = &'static Alias> {
    ALIASES.get(&context).into_iter().flatten()
}

/// Returns the counterparts of a foreign name, most common first.
///
/// Ignores case and treats `-` and `_` alike.
pub fn counterparts(context: AliasContext, name: &str) -> impl Iterator<Item = &'static Counterpart> + use<> {
    let plain = name.trim_start_matches('-').to_lowercase().replace('-', "_");
    let is_meant = move |alias: &&Alias| alias.names.split(' ').any(|known| known == plain);
    rows(context).filter(is_meant).map(|alias| &alias.counterpart)
}

/// Returns the setting with this key, `None` if the table has no example value.
pub fn find_setting(key: &str) -> Option<&'static Counterpart> {
    let mut settings = rows(AliasContext::Setting).map(|alias| &alias.counterpart);
    settings.find(|setting| setting.key() == Some(key) && setting.text().contains(" = "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_name_has_one_counterpart_per_key() {
        for (context, aliases) in &*ALIASES {
            let mut seen = BTreeSet::new();
            for alias in aliases {
                for name in alias.names.split(' ') {
                    assert_eq!(name, name.to_lowercase().replace('-', "_"), "{context:?}");
                    let key = alias.counterpart.key().filter(|_| *context == AliasContext::Setting);
                    assert!(seen.insert((name, key)), "{context:?}: {name} is listed twice");
                }
            }
        }
        assert_eq!(ALIASES.len(), 12);
    }

    #[test]
    fn finds_names_in_any_spelling() {
        use AliasContext::{Command, Flag, Keyword, RuleKey, Setting, StakeKind};
        for (context, name, expected) in [
            (Setting, "TimeFrame", Some("interval = \"1m\"")),
            (Setting, "Max-Trades", Some("max_trades_per_day = 10")),
            (Setting, "interval", None),
            (RuleKey, "Put", Some("sell")),
            (StakeKind, "anti-martingale", Some("profit that is staked again is kind = \"soros\"")),
            (Command, "download-data", Some("`candlewick data`")),
            (Flag, "--payout", Some("write payout_percent = 85")),
            (Keyword, "start", Some("from_")),
        ] {
            let found = counterparts(context, name).next().map(Counterpart::text);
            let is_meant =
                expected.map_or(found.is_none(), |text| found.is_some_and(|f| f.starts_with(text)));
            assert!(is_meant, "{context:?} {name}: {found:?}");
        }
        assert_eq!(find_setting("interval").map(Counterpart::text), Some("interval = \"1m\""));
        assert_eq!(find_setting("tf"), None);
    }
}
