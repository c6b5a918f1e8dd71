//! Settings reloaded during a run: the changes and their journal note.

use crate::RiskSettings;
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::{self, Display};

const MAX_LISTED_CHANGES: usize = 12;
const MAX_CHANGE_CHARS: usize = 100;

/// The trigger of a settings reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReloadTrigger {
    /// The command `candlewick reload`.
    Command,
    /// The signal SIGHUP.
    Signal,
}

impl Display for ReloadTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command => "`candlewick reload`",
            Self::Signal => "SIGHUP",
        })
    }
}

/// A changed setting.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingChange {
    /// Key, such as `risk.max_open_trades`.
    pub key: String,
    /// Previous value, null if unset.
    pub from: Value,
    /// New value.
    pub to: Value,
}

impl Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.key, format_value(&self.from), format_value(&self.to))
    }
}

/// A reload of the settings during a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsReload {
    /// Venue time from which the settings apply.
    pub at: Millis,
    /// Command or signal that triggered the reload.
    pub by: ReloadTrigger,
    /// The blake3 hash of the new settings, in hexadecimal.
    pub hash: String,
    /// Changed settings as `key old -> new`. A long list is truncated.
    pub changes: Vec<String>,
}

/// The journal note of a reload, with the new settings.
/// The note precedes the event [`Control::Reload`](crate::Control::Reload).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReloadNote {
    /// Time, trigger and changes of the reload.
    pub reloaded: SettingsReload,
    /// New limits.
    pub risk: RiskSettings,
    /// New polling and timeout settings.
    pub runtime: Value,
}

impl ReloadNote {
    /// Creates the note for new settings that replace `before`, a JSON object with the keys `risk` and `runtime`.
    pub fn new(
        (at, by): (Millis, ReloadTrigger),
        risk: RiskSettings,
        runtime: Value,
        before: &Value,
    ) -> Result<Self, serde_json::Error> {
        let after = serde_json::json!({ "risk": serde_json::to_value(&risk)?, "runtime": runtime });
        let all = changes_between(before, &after);
        let mut changes: Vec<String> =
            all.iter().take(MAX_LISTED_CHANGES).map(|change| truncate(&change.to_string())).collect();
        if all.len() > MAX_LISTED_CHANGES {
            changes.push(format!("and {} more", all.len() - MAX_LISTED_CHANGES));
        }
        let hash = blake3::hash(after.to_string().as_bytes()).to_hex().to_string();
        Ok(Self { reloaded: SettingsReload { at, by, hash, changes }, risk, runtime })
    }

    /// Parses a journal note, `None` if the note is not about a reload.
    pub fn parse(body: &str) -> Result<Option<Self>, serde_json::Error> {
        // Skip notes about other topics.
        if !body.contains("\"reloaded\"") {
            return Ok(None);
        }
        let note: Value = serde_json::from_str(body)?;
        note.get("reloaded").is_some().then(|| Self::deserialize(&note)).transpose()
    }
}

/// Returns the settings that differ between two JSON objects, ordered by key.
/// Lists of named tables (`bots`) are compared by name, other lists as a whole.
pub fn changes_between(from: &Value, to: &Value) -> Vec<SettingChange> {
    let mut changes = Vec::new();
    collect_changes(String::new(), from, to, &mut changes);
    changes
}

fn collect_changes(key: String, from: &Value, to: &Value, changes: &mut Vec<SettingChange>) {
    if is_same_value(from, to) {
        return;
    }
    let tables = match (from, to) {
        (Value::Object(from), Value::Object(to)) => Some((from.clone(), to.clone())),
        (Value::Array(from), Value::Array(to)) => index_by_name(from).zip(index_by_name(to)),
        _ => None,
    };
    let Some((from, to)) = tables else {
        return changes.push(SettingChange { key, from: from.clone(), to: to.clone() });
    };
    let mut names: Vec<&String> = from.keys().chain(to.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        let value = |table: &serde_json::Map<String, Value>| table.get(name).cloned().unwrap_or_default();
        collect_changes(key, &value(&from), &value(&to), changes);
    }
}

/// Indexes a list of tables by name, `None` if the list is empty or a name is missing or repeated.
fn index_by_name(list: &[Value]) -> Option<serde_json::Map<String, Value>> {
    let named = list.iter().map(|item| Some((item.get("name")?.as_str()?.to_owned(), item.clone())));
    let named: serde_json::Map<String, Value> = named.collect::<Option<_>>()?;
    (named.len() == list.len() && !list.is_empty()).then_some(named)
}

/// Returns whether two settings have the same value. Amounts, which are strings in JSON, are compared as numbers.
fn is_same_value(from: &Value, to: &Value) -> bool {
    let amount = |value: &Value| match value {
        Value::String(text) => text.parse::<Decimal>().ok(),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    };
    from == to || matches!((amount(from), amount(to)), (Some(from), Some(to)) if from == to)
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "(not set)".to_owned(),
        Value::String(text) => match text.parse::<Decimal>() {
            Ok(amount) => amount.normalize().to_string(),
            Err(_) => value.to_string(),
        },
        _ => value.to_string(),
    }
}

fn truncate(text: &str) -> String {
    if text.chars().count() <= MAX_CHANGE_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_CHANGE_CHARS - 1).chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(from: &Value, to: &Value, expected: &[&str]) {
        let changes: Vec<String> = changes_between(from, to).iter().map(ToString::to_string).collect();
        assert_eq!(changes, expected, "{from} {to}");
    }

    #[test]
    fn lists_changes_with_both_values() {
        let bot = |name: &str, period: u32| json!({ "name": name, "params": { "period": period } });
        check(&json!({}), &json!({}), &[]);
        check(&json!({"risk": {"a": 1, "b": "x"}}), &json!({"risk": {"a": 2, "b": "x"}}), &["risk.a 1 -> 2"]);
        check(&json!({"limit": "100"}), &json!({"limit": "100.0"}), &[]);
        check(&json!({"limit": "100.0"}), &json!({"limit": "50"}), &["limit 100 -> 50"]);
        check(&json!({"a": 1}), &json!({"b": true}), &["a 1 -> (not set)", "b (not set) -> true"]);
        check(&json!({"hours": [1]}), &json!({"hours": [1, 2]}), &["hours [1] -> [1,2]"]);
        let bots = json!({ "bots": [bot("x", 2), bot("y", 3)] });
        check(&bots, &json!({ "bots": [bot("x", 2), bot("y", 4)] }), &["bots.y.params.period 3 -> 4"]);
        let gone = ["bots.y {\"name\":\"y\",\"params\":{\"period\":3}} -> (not set)"];
        check(&bots, &json!({ "bots": [bot("x", 2)] }), &gone);
    }

    #[test]
    fn parses_note_and_limits_its_list_of_changes() {
        let risk = RiskSettings { max_open_trades: 9, ..RiskSettings::default() };
        let before = json!({ "risk": serde_json::to_value(RiskSettings::default()).unwrap(), "runtime": {} });
        let when = (Millis::new(5), ReloadTrigger::Signal);
        let note = ReloadNote::new(when, risk.clone(), json!({}), &before).unwrap();
        assert_eq!(note.reloaded.changes, ["risk.max_open_trades 3 -> 9"]);
        let text = serde_json::to_string(&note).unwrap();
        assert_eq!(ReloadNote::parse(&text).unwrap(), Some(note.clone()));
        for other in ["{\"alarm\":\"halted\"}", "{\"alarm\":\"reloaded\"}", "no JSON"] {
            assert_eq!(ReloadNote::parse(other).unwrap(), None, "{other}");
        }
        let broken = [text.replacen("\"risk\"", "\"limits\"", 1), text.replacen("{\"at\"", "[\"at\"", 1)];
        for broken in broken.iter().map(String::as_str).chain(["{\"reloaded\": 1}"]) {
            assert!(ReloadNote::parse(broken).is_err(), "{broken}");
        }
        let later = (Millis::new(6), ReloadTrigger::Command);
        let nothing = json!({ "risk": {}, "runtime": {} });
        let again = ReloadNote::new(later, risk.clone(), json!({}), &nothing).unwrap();
        assert_eq!(again.reloaded.hash, note.reloaded.hash);
        assert_eq!(again.reloaded.changes.len(), MAX_LISTED_CHANGES + 1, "{:?}", again.reloaded.changes);
        assert!(again.reloaded.changes.iter().all(|change| change.chars().count() <= MAX_CHANGE_CHARS));
        let other = RiskSettings { max_open_trades: 8, ..risk };
        let other = ReloadNote::new(when, other, json!({}), &before).unwrap();
        assert_ne!(other.reloaded.hash, note.reloaded.hash);
    }
}
