//! What is wrong with the form of a rule's file, where, and what was meant.

use crate::RuleError;
use crate::error::suggestion;
use crate::file::{Wrong, line_of};
use crate::rule::Side;

/// Words for a higher price, and for a lower one, that people take for the key of a condition.
const HIGHER: [&str; 8] = ["buy", "call", "long", "up", "higher", "rise", "compra", "buys"];
const LOWER: [&str; 8] = ["sell", "put", "short", "down", "lower", "fall", "venda", "sells"];
/// What is said of a configuration where a rule is asked for.
const IS_CONFIGURATION: &str = "this is a configuration, not a rule: it is named with --config";
/// What is said of keys that stand elsewhere.
const ELSEWHERE: &str =
    "stakes and ladders stand with the bot of a configuration, stops, pauses and trading hours in its [risk]";

/// What is said of a file that cannot be read as a rule.
pub(crate) fn wrong_form(error: &toml::de::Error, text: &str) -> Wrong {
    if is_configuration(text) {
        return Wrong::plain(IS_CONFIGURATION);
    }
    let message = error.message().trim_end().replace('\n', ", ");
    let Some(span) = error.span() else { return Wrong::plain(message) };
    let number = line_of(text, span.start);
    let line = usize::try_from(number).ok().and_then(|number| text.lines().nth(number - 1));
    let cure = line.and_then(|line| cure_of_line(line.trim(), &message));
    wrong_at(text, &RuleError::new(span, cure.or_else(|| cure_of_key(&message)).unwrap_or(message)))
}

/// The same with its line and column, and with the line and marks below what is wrong.
pub(crate) fn wrong_at(text: &str, error: &RuleError) -> Wrong {
    let (line, column) = error.line_and_column(text);
    let message = format!("column {column}: {}\n  {}", error.message, error.shown(text));
    Wrong { line: Some(line as u64), message }
}

/// What is said of a key that there is not; none where something else is wrong.
fn cure_of_key(message: &str) -> Option<String> {
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    let known: Vec<&str> = names.collect();
    let plain = unknown.to_lowercase();
    let side = [(&HIGHER, Side::Buy), (&LOWER, Side::Sell)];
    let side = side.into_iter().find(|(words, _)| words.contains(&plain.as_str()));
    let cure = match side {
        Some((_, side)) if known.contains(&side.key()) => format!("did you mean `{}`?", side.key()),
        _ => suggestion(unknown, known.iter().copied()),
    };
    let is_top = known.contains(&Side::Buy.key());
    let elsewhere = if is_top && !cure.starts_with("did") { format!("; {ELSEWHERE}") } else { String::new() };
    Some(format!("there is no key `{unknown}`: {cure}{elsewhere}"))
}

/// What to do about a line on which people often go wrong.
fn cure_of_line(line: &str, message: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    if key == "expiry" && message.contains("expected a string") {
        let minutes = value.parse().ok().filter(|minutes| (1..60).contains(minutes)).unwrap_or(5);
        return Some(format!("a duration has minutes and seconds, in quotes: expiry = \"{minutes:02}:00\""));
    }
    if ![Side::Buy.key(), Side::Sell.key()].contains(&key) {
        return None;
    }
    let quotes = |quote| value.matches(quote).count();
    match value.chars().next()? {
        '"' if value.starts_with("\"\"\"") => None,
        '"' if quotes('"') == 1 => Some("the condition has no closing \"".to_owned()),
        '"' if quotes('"') > 2 => Some(
            "within the double quotes of a condition a text has single ones, as in between('08:00', '17:00')"
                .to_owned(),
        ),
        '\'' if value.starts_with("'''") => None,
        '\'' if quotes('\'') == 1 => Some("the condition has no closing '".to_owned()),
        '\'' if quotes('\'') > 2 => Some(
            "a condition that has texts stands in double quotes: \"between('08:00', '17:00')\"".to_owned(),
        ),
        '"' | '\'' => None,
        _ => {
            let condition = value.replace('"', "'");
            Some(format!(
                "a condition stands in double quotes: {key} = \"{}\"",
                condition.trim_end_matches('\'')
            ))
        }
    }
}

/// Whether a text that is no rule has what a configuration has at its top.
fn is_configuration(text: &str) -> bool {
    const SECTIONS: [&str; 5] = ["account", "bots", "risk", "sandbox", "simulation"];
    toml::from_str::<toml::Table>(text)
        .is_ok_and(|table| SECTIONS.iter().any(|name| table.contains_key(*name)))
}
