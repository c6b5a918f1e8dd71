//! Syntax errors in rule files, with their position and a hint.

use crate::RuleError;
use crate::file::{Wrong, line_of};
use crate::rule::Side;
use crate::unknown_key::hint_for_key;
use candlewick_sdk::{CloseType, plain_words};

const IS_CONFIGURATION: &str = "this is a configuration, not a rule: it is named with --config";
const OF_THE_RULE: [&str; 4] = ["buy", "sell", "expiry", "about"];

pub(crate) fn wrong_form(error: &toml::de::Error, text: &str) -> Wrong {
    if is_configuration(text) {
        return Wrong::plain(IS_CONFIGURATION);
    }
    let message = error.message().trim_end().replace('\n', ", ");
    let Some(span) = error.span() else { return Wrong::plain(message) };
    let number = line_of(text, span.start);
    let line = usize::try_from(number).ok().and_then(|number| text.lines().nth(number - 1));
    let value = line.and_then(|line| line.split_once('=')).map(|(_, value)| value);
    let words = line.and_then(|line| cure_of_line(line.trim(), &message));
    let words = words.or_else(|| hint_for_key(&message, value)).unwrap_or_else(|| plain_words(&message));
    wrong_at(text, &RuleError::new(span, words))
}

pub(crate) fn wrong_at(text: &str, error: &RuleError) -> Wrong {
    let (line, column) = error.line_and_column(text);
    let message = format!("column {column}: {}\n  {}", error.message, error.shown(text));
    Wrong { line: Some(line as u64), message }
}

fn cure_of_line(line: &str, message: &str) -> Option<String> {
    if message.starts_with("expected `.`, `=`") {
        return Some(cure_of_bare(line));
    }
    if let Some(side) = [Side::Buy, Side::Sell].into_iter().find(|side| line == format!("[{}]", side.key())) {
        return Some(format!("a condition is one text: {} = \"rsi(14) < 30\"", side.key()));
    }
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    if message.contains("struct WrittenParameter") {
        if OF_THE_RULE.contains(&key) {
            return Some(format!("{key} is no parameter: it stands above the line [parameters]"));
        }
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

fn second_key(value: &str) -> Option<&str> {
    let (_, behind) = value.strip_prefix('"')?.split_once('"')?;
    let (key, _) = behind.split_once('=')?;
    OF_THE_RULE.contains(&key.trim()).then(|| key.trim())
}

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

fn in_quotes(key: &str, condition: &str) -> String {
    let is_quote = |letter: char| "\"'\u{201c}\u{201d}\u{201e}".contains(letter);
    let condition = condition.trim().trim_start_matches(is_quote);
    // A closing one belongs to a text within where that has an opening one.
    let curly = condition.trim_end_matches(['\u{201c}', '\u{201d}']);
    let bare = curly.strip_suffix(['"', '\'']).filter(|bare| bare.matches(['"', '\'']).count() % 2 == 0);
    let condition = bare.unwrap_or(curly).replace(['"', '\u{201c}', '\u{201d}'], "'");
    format!("a condition stands in double quotes: {key} = \"{condition}\"")
}

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

fn is_configuration(text: &str) -> bool {
    const SECTIONS: [&str; 5] = ["account", "bots", "risk", "sandbox", "simulation"];
    toml::from_str::<toml::Table>(text)
        .is_ok_and(|table| SECTIONS.iter().any(|name| table.contains_key(*name)))
}
