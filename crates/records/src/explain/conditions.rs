//! Conditions of a strategy, evaluated at one candle, as text and JSON.

use candlewick_engine::parse_utc_offset;
use candlewick_sdk::{Condition, ConditionRole, Millis, escape_hidden, format_price};
use chrono::DateTime;
use chrono_tz::Tz;
use serde::{Serialize, Serializer};

const MAX_CONDITION_CHARS: usize = 40;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ConditionState {
    /// Name of a part or filter of a combination. Empty for the strategy itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    part: String,
    /// Kind of condition: `buy`, `sell`, `vote`, `first_of`, `part` or `filter`.
    side: &'static str,
    /// Nesting depth: 0 for the whole condition, 1 for the operands of its `and` or `or`.
    depth: usize,
    condition: String,
    /// Whether the condition is true. `None` if this is unknown, or if a filter received no signal.
    holds: Option<bool>,
    /// Named values in the condition. A missing value is NaN here and null in JSON.
    #[serde(serialize_with = "serialize_numbers")]
    numbers: Vec<(String, f64)>,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

impl ConditionState {
    pub(super) fn from_condition(condition: &Condition<'_>) -> Self {
        Self {
            part: condition.part_path.to_string(),
            side: condition.role.key(),
            depth: condition.depth,
            condition: condition.text.to_owned(),
            holds: condition.is_met,
            numbers: condition.numbers.to_vec(),
            note: condition.note.clone(),
        }
    }

    fn is_filter(&self) -> bool {
        self.side == ConditionRole::Filter.key() && self.depth == 0
    }

    fn label(&self) -> String {
        let is_own = ["part", "filter"].contains(&self.side);
        match (self.part.as_str(), self.side) {
            ("", "first_of") => "first of".to_owned(),
            ("", side) => side.to_owned(),
            (part, side) if is_own => format!("{side} {part}"),
            (part, side) => format!("{part} {side}"),
        }
    }

    fn state(&self) -> &'static str {
        match self.holds {
            Some(true) => "true",
            Some(false) => "false",
            None if self.is_filter() => "no signal",
            None => "not known yet",
        }
    }

    fn details(&self) -> String {
        let number = |(name, value): &(String, f64)| {
            let value = if value.is_finite() { format_price(*value) } else { "not known yet".to_owned() };
            format!("{name} = {value}")
        };
        let mut parts: Vec<String> = self.numbers.iter().map(number).collect();
        parts.extend(Some(self.note.clone()).filter(|note| !note.is_empty()));
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

fn serialize_numbers<S: Serializer>(numbers: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(numbers.iter().map(|(name, value)| (name, value)))
}

pub(super) fn condition_lines(conditions: &[ConditionState]) -> Vec<String> {
    let line = |(place, one): (usize, &ConditionState)| {
        let has_parts = conditions.get(place + 1).is_some_and(|next| next.depth > one.depth);
        let label = if one.depth == 0 { one.label() } else { String::new() };
        // The parts that follow repeat the text of the whole condition.
        let text = match (one.depth, has_parts, one.is_filter()) {
            (0, true, false) => "",
            (_, true, false) => &shorten_condition(&one.condition),
            _ => one.condition.as_str(),
        };
        let gap = if label.is_empty() || text.is_empty() { "" } else { ": " };
        let text = format!("{}{label}{gap}{text}: {}{}", "  ".repeat(one.depth), one.state(), one.details());
        escape_hidden(&text).into_owned()
    };
    conditions.iter().enumerate().map(line).collect()
}

/// Formats a time in the time zones that the conditions mention, such as ` (12:17:00 America/New_York)`.
pub(super) fn format_local_times(conditions: &[ConditionState], at: Millis) -> String {
    let Some(utc) = DateTime::from_timestamp_millis(at.get()) else { return String::new() };
    let mut clocks: Vec<String> = Vec::new();
    for condition in conditions {
        // After splitting at the quotation marks, every second piece is a quoted text.
        for name in condition.condition.split(['\'', '"']).skip(1).step_by(2) {
            let zone: Option<Tz> = name.parse().ok().or_else(|| parse_utc_offset(name));
            let Some(zone) = zone.filter(|zone| *zone != Tz::UTC) else { continue };
            let there = utc.with_timezone(&zone);
            let is_same_day = there.date_naive() == utc.date_naive();
            let clock = there.format(if is_same_day { "%H:%M:%S" } else { "%m-%d %H:%M:%S" });
            let words = format!("{clock} {}", escape_hidden(name));
            if !clocks.contains(&words) {
                clocks.push(words);
            }
        }
    }
    if clocks.is_empty() { String::new() } else { format!(" ({})", clocks.join(", ")) }
}

pub fn shorten_condition(condition: &str) -> String {
    if condition.chars().count() <= MAX_CONDITION_CHARS {
        return condition.to_owned();
    }
    let begin: String = condition.chars().take(MAX_CONDITION_CHARS - 3).collect();
    format!("{}...", begin.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state<'a>(
        (part, side): (&'a str, ConditionRole),
        depth: usize,
        text: &'a str,
        holds: Option<bool>,
    ) -> Condition<'a> {
        Condition {
            part_path: part.into(),
            role: side,
            depth,
            text,
            is_met: holds,
            numbers: &[],
            note: String::new(),
        }
    }

    /// 2026-01-05T00:00Z is 19:00 on the previous day in New York, which is five hours behind UTC in winter.
    #[test]
    fn formats_time_in_the_zones_of_the_conditions() {
        let clocks = |texts: &[&str], at: i64| {
            let shown = texts.iter().map(|text| state(("", ConditionRole::Buy), 0, text, None));
            let states: Vec<ConditionState> = shown.map(|one| ConditionState::from_condition(&one)).collect();
            format_local_times(&states, Millis::new(at))
        };
        let (midnight, noon) = (1_767_571_200_000, 1_767_571_200_000 + 12 * 3_600_000);
        let new_york = "between('08:00', '17:00', 'America/New_York')";
        assert_eq!(clocks(&[new_york], noon), " (07:00:00 America/New_York)");
        assert_eq!(clocks(&[new_york], midnight), " (01-04 19:00:00 America/New_York)");
        let both = [new_york, "hour(\"UTC-3\") > 8 and hour('America/New_York') < 5"];
        assert_eq!(clocks(&both, noon), " (07:00:00 America/New_York, 09:00:00 UTC-3)");
        assert_eq!(clocks(&["between('08:00', '17:00')", "hour('UTC') > 3", "close > open"], noon), "");
    }

    #[test]
    fn lines_name_owner_state_and_numbers_of_conditions() {
        use ConditionRole::{Buy, Filter, FirstOf, Part, Sell};
        let numbers = [("rsi(14)".to_owned(), 41.200_000_001), ("sma(9)".to_owned(), f64::NAN)];
        let long = "close > open and rsi(14) < sma(9) and volume > 0";
        let shown = [
            state(("", Buy), 0, long, Some(false)),
            state(("", Buy), 1, long, None),
            Condition { numbers: &numbers, ..state(("", Buy), 2, "rsi(14) < sma(9)", None) },
            state(("dip", Sell), 0, "close < open", Some(true)),
            Condition { note: "BUY".to_owned(), ..state(("dip", Part), 0, "signals", Some(true)) },
            state(("hours", Filter), 0, "lets the signal pass", None),
            state(("hours", Filter), 1, "close > 1", Some(false)),
            state(("", FirstOf), 0, "a part signals", Some(false)),
        ];
        let states: Vec<ConditionState> = shown.iter().map(ConditionState::from_condition).collect();
        let expected = [
            "buy: false",
            "  close > open and rsi(14) < sma(9) and...: not known yet",
            "    rsi(14) < sma(9): not known yet (rsi(14) = 41.2, sma(9) = not known yet)",
            "dip sell: close < open: true",
            "part dip: signals: true (BUY)",
            "filter hours: lets the signal pass: no signal",
            "  close > 1: false",
            "first of: a part signals: false",
        ];
        assert_eq!(condition_lines(&states), expected);
        let machine = serde_json::to_value(&states[2]).unwrap();
        assert_eq!(machine["numbers"], serde_json::json!({ "rsi(14)": 41.200_000_001, "sma(9)": null }));
        assert_eq!((&machine["holds"], &machine["side"]), (&serde_json::Value::Null, &"buy".into()));
    }
}
