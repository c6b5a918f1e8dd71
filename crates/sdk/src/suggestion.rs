//! Suggestions for unknown names, and plain-language messages for deserialization errors.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

fn normalize(name: &str) -> String {
    name.to_lowercase().replace(['-', '_', ' ', '/'], "")
}

/// Returns the number of edits between two names, ignoring case and separators.
/// Each insertion, deletion, substitution or swap of neighbouring letters is one edit.
pub fn edit_distance(one: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(&normalize(one), &normalize(other))
}

/// Returns the known name closest to a misspelt or abbreviated name.
/// The known name differs in at most a third of the letters, or is the only known name that starts with `name`.
pub fn nearest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let wanted = normalize(name);
    let max_distance = (wanted.chars().count() / 3).clamp(1, 4);
    let ranked = known.iter().map(|known| (edit_distance(name, known), *known));
    let closest = ranked.min_by_key(|(distance, _)| *distance);
    if let Some((_, closest)) = closest.filter(|(distance, _)| *distance <= max_distance) {
        return Some(closest);
    }
    let is_longer = |known: &&str| !wanted.is_empty() && normalize(known).starts_with(&wanted);
    let mut longer = known.iter().copied().filter(is_longer);
    longer.next().filter(|_| longer.next().is_none())
}

/// Returns the known key for a misspelt name or an alias (a name that other programs use).
pub fn find_key<'a>(contexts: &[AliasContext], name: &str, known: &[&'a str]) -> Option<&'a str> {
    let foreign = contexts.iter().flat_map(|context| find_alias_targets(*context, name));
    let mut own = foreign.filter_map(AliasTarget::key);
    let found = own.find_map(|own| known.iter().copied().find(|known| *known == own));
    found.or_else(|| nearest_name(name, known.iter().copied()))
}

/// Returns a hint with the closest known name, or with all known names.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest_name(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "none are known".to_owned(),
        None => format!("known are: {}", known.join(", ")),
    }
}

/// Place where an alias (a name that other programs use) is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AliasContext {
    /// Configuration key.
    Setting,
    /// Parameter of a strategy combination, written in the wrong place.
    Combination,
    /// Per-bot override of a global setting.
    BotSetting,
    /// Name of a stake kind, such as `fixed`.
    StakeKind,
    /// Top-level key of a rule file.
    RuleKey,
    /// Key of a rule parameter.
    RuleParameter,
    /// Name of a value or function in a rule condition.
    RuleName,
    /// Module name before a dot in a rule condition.
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

/// Equivalent of an alias (a name that other programs use).
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum AliasTarget {
    /// Key of a configuration section.
    Key {
        /// Section name, `bots` for per-bot keys.
        section: String,
        /// Key with an example value.
        example: String,
    },
    /// Equivalent name, or key that exists in several sections. May include an example value.
    Name {
        /// Name or key.
        name: String,
    },
    /// Workaround, or the reason why no equivalent exists.
    Advice {
        /// Advice text without a final period.
        advice: String,
    },
}

impl AliasTarget {
    /// Returns the example, the name or the advice.
    pub fn text(&self) -> &str {
        match self {
            Self::Key { example: text, .. } | Self::Name { name: text } | Self::Advice { advice: text } => {
                text
            }
        }
    }

    /// Returns the key or name without the example value, `None` for advice.
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
    /// Alias names in lower case, separated by spaces. `_` separates the words of a name.
    names: String,
    #[serde(flatten)]
    counterpart: AliasTarget,
}

static ALIASES: LazyLock<BTreeMap<AliasContext, Vec<Alias>>> = LazyLock::new(|| {
    toml::from_str(include_str!("aliases.toml")).expect("the embedded alias table is valid")
});

fn aliases(context: AliasContext) -> impl Iterator<Item = &'static Alias> {
    ALIASES.get(&context).into_iter().flatten()
}

/// Returns the equivalents of an alias, most common first. Ignores case and treats `-` as `_`.
pub fn find_alias_targets(
    context: AliasContext,
    name: &str,
) -> impl Iterator<Item = &'static AliasTarget> + use<> {
    let plain = name.trim_start_matches('-').to_lowercase().replace('-', "_");
    let is_meant = move |alias: &&Alias| alias.names.split(' ').any(|known| known == plain);
    aliases(context).filter(is_meant).map(|alias| &alias.counterpart)
}

/// Returns a setting with an example value, `None` if the alias table has no example for this key.
pub fn find_setting(key: &str) -> Option<&'static AliasTarget> {
    let mut settings = aliases(AliasContext::Setting).map(|alias| &alias.counterpart);
    settings.find(|setting| setting.key() == Some(key) && setting.text().contains(" = "))
}

/// Rewrites a deserialization error in plain words, without Rust types.
/// For example, `` invalid type: boolean `true`, expected u32 `` becomes `use a whole number, not true`.
/// A message in an unknown format stays unchanged.
pub fn simplify_parse_error(message: &str) -> String {
    if message == "not a JSON number" {
        return "use a number: nan and inf are not allowed".to_owned();
    }
    if let Some(name) = quoted_names(message).next() {
        let others: Vec<&str> = quoted_names(message).skip(1).collect();
        if message.starts_with("missing field ") {
            return format!("the key {name} is missing");
        }
        if message.starts_with("unknown field ") {
            return format!("unknown key {name}; the known keys are: {}", others.join(", "));
        }
        if message.starts_with("unknown variant ") {
            return format!("use one of \"{}\", not \"{name}\"", others.join("\", \""));
        }
    }
    let Some((given, wanted)) = split_message(message) else { return message.to_owned() };
    let mut words = format!("use {}", describe_type(wanted));
    if let Some(given) = describe_value(given) {
        // Writing to a string cannot fail.
        let _ = write!(words, ", not {given}");
    }
    words
}

/// Returns the rejected value in a deserialization error, `None` if the message does not contain the value.
pub fn extract_rejected_value(message: &str) -> Option<&str> {
    let (given, _) = split_message(message)?;
    let is_repeated = given.contains('`') || given.starts_with("string ");
    describe_value(given).filter(|_| is_repeated)
}

fn split_message(message: &str) -> Option<(&str, &str)> {
    let said = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = said.iter().find_map(|beginning| message.strip_prefix(beginning))?;
    // The rejected text may itself contain this separator.
    rest.rsplit_once(", expected ")
}

fn quoted_names(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

fn describe_value(given: &str) -> Option<&str> {
    match given {
        "sequence" => Some("a list"),
        "map" => Some("a table"),
        "null" => Some("nothing"),
        _ if given.starts_with("string ") => given.strip_prefix("string "),
        _ => quoted_names(given).next(),
    }
}

fn describe_type(wanted: &str) -> &str {
    match wanted {
        // Omits the range of the integer type, because the range of the setting is narrower.
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" | "a JSON number" => "a number",
        "a string" | "string or map" => "a text in quotes",
        "a boolean" => "true or false",
        "a map" => "a table, as { key = value }",
        "a sequence" => "a list, as [1, 2]",
        _ if wanted.starts_with("struct ") => "a table, as { key = value }",
        _ if wanted.starts_with("a Decimal ") => "a number",
        "fewer elements in array" => "fewer values",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use serde_json::{Number, json};
    use std::collections::BTreeSet;

    #[test]
    fn suggests_misspelt_and_shortened_names_only() {
        let known = ["rsi-reversal", "ema-cross", "ema-ribbon"];
        for (name, expected) in [
            ("rsi-reversl", Some("rsi-reversal")),
            ("rsi_reversal", Some("rsi-reversal")),
            ("EMA-CROSS", Some("ema-cross")),
            ("ema-corss", Some("ema-cross")),
            ("rsi", Some("rsi-reversal")),
            ("ema", None),
            ("momentum", None),
            ("", None),
        ] {
            assert_eq!(nearest_name(name, known), expected, "{name:?}");
        }
        assert_eq!(suggest("rsi", known), "did you mean \"rsi-reversal\"?");
        assert_eq!(suggest("momentum", known), "known are: rsi-reversal, ema-cross, ema-ribbon");
        assert_eq!(suggest("momentum", []), "none are known");
    }

    #[test]
    fn finds_keys_by_alias_before_spelling() {
        use AliasContext::{Keyword, Setting};
        for (contexts, name, known, expected) in [
            (&[Setting][..], "expiry", &["expires_ms", "close_type"][..], Some("close_type")),
            (&[Setting], "take_profit", &["loss_limit", "profit_target"], Some("profit_target")),
            (&[Setting], "take_profit", &["daily_profit_target"], Some("daily_profit_target")),
            (&[Keyword, Setting], "period", &["params", "interval"], Some("interval")),
            (&[Keyword, Setting], "close_typ", &["params", "close_type"], Some("close_type")),
            (&[Setting], "leverage", &["stake"], None),
        ] {
            assert_eq!(find_key(contexts, name, known), expected, "{name}");
        }
    }

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
            let found = find_alias_targets(context, name).next().map(AliasTarget::text);
            let is_meant =
                expected.map_or(found.is_none(), |text| found.is_some_and(|f| f.starts_with(text)));
            assert!(is_meant, "{context:?} {name}: {found:?}");
        }
        assert_eq!(find_setting("interval").map(AliasTarget::text), Some("interval = \"1m\""));
        assert_eq!(find_setting("tf"), None);
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        #[serde(rename = "number")]
        _number: u8,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        One,
        Other,
    }

    fn check<T: DeserializeOwned>(value: &serde_json::Value, expected: &str) {
        let error = serde_json::from_value::<T>(value.clone()).err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert_eq!(simplify_parse_error(&error), expected, "{error}");
    }

    #[test]
    fn rewrites_messages_without_rust_types() {
        check::<u32>(&json!(1.5), "use a whole number, not 1.5");
        check::<u32>(&json!(-1), "use a whole number, not -1");
        check::<usize>(&json!(true), "use a whole number, not true");
        check::<i64>(&json!("7"), "use a whole number, not \"7\"");
        check::<f64>(&json!("1,5, expected f64"), "use a number, not \"1,5, expected f64\"");
        check::<Number>(&json!([1]), "use a number, not a list");
        check::<String>(&json!(5), "use a text in quotes, not 5");
        check::<bool>(&json!(1), "use true or false, not 1");
        check::<BTreeMap<String, f64>>(&json!(1), "use a table, as { key = value }, not 1");
        check::<Vec<f64>>(&json!({ "a": 1 }), "use a list, as [1, 2], not a table");
        check::<String>(&json!(null), "use a text in quotes, not nothing");
        check::<Table>(&json!(7), "use a table, as { key = value }, not 7");
        check::<Table>(&json!([1, 2]), "use fewer values");
        check::<Table>(&json!({}), "the key number is missing");
        check::<Table>(&json!({ "numbr": 1 }), "unknown key numbr; the known keys are: number");
        check::<Choice>(&json!("third"), "use one of \"one\", \"other\", not \"third\"");
        check::<Choice>(&json!(true), "use a text in quotes, not true");
        assert_eq!(simplify_parse_error("not a JSON number"), "use a number: nan and inf are not allowed");
        let list = "invalid length 2, expected struct Volatility with 3 elements";
        assert_eq!(simplify_parse_error(list), "use a table, as { key = value }");
        assert_eq!(simplify_parse_error("the end is missing"), "the end is missing");
    }

    #[test]
    fn finds_the_value_in_the_message() {
        assert_eq!(extract_rejected_value("invalid type: boolean `true`, expected u32"), Some("true"));
        assert_eq!(extract_rejected_value("invalid type: string \"a\", expected u32"), Some("\"a\""));
        assert_eq!(extract_rejected_value("invalid type: sequence, expected u32"), None);
        assert_eq!(extract_rejected_value("missing field `a`"), None);
    }
}
