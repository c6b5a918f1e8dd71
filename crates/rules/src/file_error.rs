//! What is wrong with the form of a rule's file, where, and what was meant.

use crate::RuleError;
use crate::error::suggestion;
use crate::file::{Wrong, line_of};
use crate::rule::Side;
use candlewick_sdk::CloseType;

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
    let step =
        if unknown == "step" { "; a step stands in the search, as --param period=2..50:2" } else { "" };
    Some(format!("there is no key `{unknown}`: {cure}{elsewhere}{step}"))
}

/// What to do about a line on which people often go wrong.
fn cure_of_line(line: &str, message: &str) -> Option<String> {
    if message.starts_with("expected `.`, `=`") {
        return Some(cure_of_bare(line));
    }
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    if message.contains("struct WrittenParameter") {
        return Some(format!(
            "a parameter has a default, and a range if it is searched: {key} = {{ default = {value}, min = 2, max = 50 }}"
        ));
    }
    if key == "expiry" {
        return Some(cure_of_expiry(value));
    }
    if ![Side::Buy.key(), Side::Sell.key()].contains(&key) {
        return None;
    }
    let quotes = |quote| value.matches(quote).count();
    match value.chars().next()? {
        '"' if value.starts_with("\"\"\"") => None,
        '"' if quotes('"') == 1 => Some("the condition has no closing \"".to_owned()),
        '"' if second_key(value).is_some() => second_key(value)
            .map(|key| format!("a key stands on a line of its own: begin a new one before `{key}`")),
        '"' if quotes('"') > 2 => Some(
            "within the double quotes of a condition a text has single ones, as in between('08:00', '17:00')"
                .to_owned(),
        ),
        '\'' if value.starts_with("'''") => None,
        '\'' if quotes('\'') == 1 => Some("the condition has no closing '".to_owned()),
        '\'' if quotes('\'') > 2 => Some(
            "a condition that has texts stands in double quotes: \"between('08:00', '17:00')\"".to_owned(),
        ),
        '"' | '\'' if message.starts_with("expected newline") => {
            Some("the condition ends at its closing quote: the whole of it stands between the two".to_owned())
        }
        '"' | '\'' => None,
        '[' | '{' => {
            Some("a condition is one text in double quotes: join several with `and` or `or`".to_owned())
        }
        _ => Some(in_quotes(key, value)),
    }
}

/// The key that stands behind the closing quote of a value.
fn second_key(value: &str) -> Option<&str> {
    let (_, behind) = value.strip_prefix('"')?.split_once('"')?;
    let (key, _) = behind.split_once('=')?;
    let keys = [Side::Buy.key(), Side::Sell.key(), "expiry", "about"];
    keys.contains(&key.trim()).then(|| key.trim())
}

/// What is said of a line that has no `=`.
fn cure_of_bare(line: &str) -> String {
    let name = line.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    let (key, rest) = match [Side::Buy, Side::Sell].into_iter().find(|side| side.key() == name) {
        Some(side) => (side.key(), &line[name.len()..]),
        None if line.contains(['<', '>', '(']) => (Side::Buy.key(), line),
        None => return "a line is a key, `=` and a value".to_owned(),
    };
    let condition = rest.trim_start_matches(|letter: char| letter == ':' || letter.is_whitespace());
    format!("a line is a key, `=` and a value; {}", in_quotes(key, condition))
}

/// How a condition is written behind its key.
fn in_quotes(key: &str, condition: &str) -> String {
    let is_quote = |letter: char| "\"'\u{201c}\u{201d}\u{201e}".contains(letter);
    let condition = condition.trim().trim_start_matches(is_quote);
    // A closing one belongs to a text within where that has an opening one.
    let curly = condition.trim_end_matches(['\u{201c}', '\u{201d}']);
    let bare = curly.strip_suffix(['"', '\'']).filter(|bare| bare.matches(['"', '\'']).count() % 2 == 0);
    let condition = bare.unwrap_or(curly).replace(['"', '\u{201c}', '\u{201d}'], "'");
    format!("a condition stands in double quotes: {key} = \"{condition}\"")
}

/// What is said of a duration that is none.
pub(crate) fn cure_of_expiry(value: &str) -> String {
    const FORM: &str = "a duration has minutes and seconds, in quotes";
    let plain = value.trim_matches(|letter| letter == '"' || letter == '\'');
    let error = plain.parse::<CloseType>().err();
    match error.as_ref().map_or(Some(plain), |error| error.meant()) {
        Some(code) if code.parse::<CloseType>().is_ok() => {
            format!("{FORM}: did you mean expiry = \"{code}\"?")
        }
        Some(both) => format!("{FORM}: did you mean {both}?"),
        None => format!("{FORM}, such as expiry = \"05:00\""),
    }
}

/// Whether a text that is no rule has what a configuration has at its top.
fn is_configuration(text: &str) -> bool {
    const SECTIONS: [&str; 5] = ["account", "bots", "risk", "sandbox", "simulation"];
    toml::from_str::<toml::Table>(text)
        .is_ok_and(|table| SECTIONS.iter().any(|name| table.contains_key(*name)))
}
