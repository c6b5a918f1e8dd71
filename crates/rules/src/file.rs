//! Rule files: conditions, parameters and an expiry. Errors suggest fixes.

use crate::error::render_counterpart;
use crate::rule::Side;
use crate::{Rule, RuleError, catalog};
use candlewick_sdk::{
    AliasContext, AliasTarget, CloseType, Interval, Parameter, extract_rejected_value, find_alias_targets,
    find_setting, nearest_name, simplify_parse_error,
};
use serde::Deserialize;
use serde_json::{Number, Value};
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RuleConfig {
    pub(crate) about: String,
    pub(crate) buy: Option<String>,
    pub(crate) sell: Option<String>,
    pub(crate) expiry: Option<CloseType>,
    pub(crate) parameters: BTreeMap<String, ParameterConfig>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParameterConfig {
    default: Number,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(default)]
    about: String,
}

#[derive(Deserialize)]
struct KeySpans {
    buy: Option<Spanned<String>>,
    sell: Option<Spanned<String>>,
    #[serde(default)]
    parameters: BTreeMap<Spanned<String>, toml::Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileError {
    /// 1-based line number in the file.
    pub(crate) line: Option<u64>,
    pub(crate) message: String,
}

impl FileError {
    pub(crate) fn without_line(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }
}

impl RuleConfig {
    pub(crate) fn parse(text: &str) -> Result<Self, FileError> {
        toml::from_str(text).map_err(|error| syntax_error(&error, text))
    }

    pub(crate) fn rule(&self, file: Option<&str>) -> Result<Rule, FileError> {
        for (name, parameter) in &self.parameters {
            let checked = check_name(name).and_then(|()| parameter.check(name));
            checked.map_err(|problem| parameter_error(name, &problem, file))?;
        }
        let at = |(side, error): (Side, RuleError)| self.condition_error(side, &error, file);
        let rule = Rule::parse(self.buy.as_deref(), self.sell.as_deref()).map_err(at)?;
        // The bot's interval is checked later. At this point, any longer interval is valid.
        let defaults = self.defaults();
        let unused = rule.unused_parameters(&defaults, Interval::SECOND).map_err(at)?;
        match unused.first() {
            None => Ok(rule),
            Some(name) => {
                let problem = format!("parameter `{name}` is not used in any condition: use or remove it");
                Err(parameter_error(name, &problem, file))
            }
        }
    }

    pub(crate) fn parameter_specs(&self) -> impl Iterator<Item = Parameter> {
        self.parameters.iter().map(|(name, parameter)| {
            let mut described = Parameter::new(name.as_str(), Value::Number(parameter.default.clone()));
            (described.minimum, described.maximum) = (parameter.min, parameter.max);
            described.with_about(parameter.about.as_str())
        })
    }

    pub(crate) fn defaults(&self) -> BTreeMap<String, f64> {
        let number = |(name, parameter): (&String, &ParameterConfig)| {
            Some((name.clone(), parameter.default.as_f64()?))
        };
        self.parameters.iter().filter_map(number).collect()
    }

    pub(crate) fn condition_error(&self, side: Side, error: &RuleError, file: Option<&str>) -> FileError {
        let text = match side {
            Side::Buy => self.buy.as_deref(),
            Side::Sell => self.sell.as_deref(),
        };
        let Some(text) = text else { return FileError::without_line(error.message.clone()) };
        let key = side.key();
        let (line, column) = error.line_and_column(text);
        let shown = format!("{}\n  {}", error.message, error.render(text));
        match file.and_then(|file| locate_in_file(file, side, text, error)) {
            Some((line, column)) => {
                FileError { line: Some(line), message: format!("column {column}: {key}: {shown}") }
            }
            None if line == 1 => FileError::without_line(format!("{key}, character {column}: {shown}")),
            None => FileError::without_line(format!("{key}, line {line}, character {column}: {shown}")),
        }
    }
}

impl ParameterConfig {
    fn check(&self, name: &str) -> Result<(), String> {
        let default = self.default.as_f64().filter(|number| number.is_finite());
        let default = default
            .ok_or_else(|| format!("parameters.{name}: default = {} is not a number", self.default))?;
        let (low, high) = (self.min.unwrap_or(f64::NEG_INFINITY), self.max.unwrap_or(f64::INFINITY));
        if low >= high || low.is_nan() || high.is_nan() {
            return Err(format!("parameters.{name}: min = {low} must be below max = {high}"));
        }
        if (low..=high).contains(&default) {
            return Ok(());
        }
        Err(format!("parameters.{name}: default = {default} is outside {low} to {high}"))
    }
}

pub(crate) const KEYS: [&str; 5] = ["file", "buy", "sell", "expiry", "parameters"];

fn check_name(name: &str) -> Result<(), String> {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if !begins_well || !name.chars().all(is_allowed) {
        return Err(format!(
            "parameters.{name}: use letters, digits and _ in the name, and no digit at the start"
        ));
    }
    if KEYS.contains(&name) || name == "about" || catalog::reserved_names().any(|known| known == name) {
        return Err(format!("parameters.{name}: `{name}` is a reserved name: choose another"));
    }
    Ok(())
}

fn parameter_error(name: &str, problem: &str, file: Option<&str>) -> FileError {
    let place = |file: &str| {
        let places: KeySpans = toml::from_str(file).ok()?;
        places.parameters.keys().find(|key| key.get_ref() == name).map(Spanned::span)
    };
    match file.and_then(|file| Some((file, place(file)?))) {
        Some((file, place)) => error_at(file, &RuleError::new(place, problem)),
        None => FileError::without_line(problem),
    }
}

/// Returns the 1-based line and column of an error. `None` if the condition is written with escape sequences.
fn locate_in_file(file: &str, side: Side, text: &str, error: &RuleError) -> Option<(u64, usize)> {
    let places: KeySpans = toml::from_str(file).ok()?;
    let place = match side {
        Side::Buy => places.buy,
        Side::Sell => places.sell,
    };
    let span = place?.span();
    let begins = span.start + file.get(span)?.find(text)?;
    let at = begins + text.floor_char_boundary(error.span.start);
    let column = file[..at].rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some((line_number_at(file, at), column))
}

fn line_number_at(text: &str, at: usize) -> u64 {
    text[..text.floor_char_boundary(at)].matches('\n').count() as u64 + 1
}

const CONFIGURATION_HINT: &str = "the file is a configuration, not a rule: use it with --config";
const RULE_KEYS: [&str; 4] = ["buy", "sell", "expiry", "about"];

fn syntax_error(error: &toml::de::Error, text: &str) -> FileError {
    if is_configuration(text) {
        return FileError::without_line(CONFIGURATION_HINT);
    }
    let message = error.message().trim_end().replace('\n', ", ");
    let Some(span) = error.span() else { return FileError::without_line(message) };
    let number = line_number_at(text, span.start);
    let line = usize::try_from(number).ok().and_then(|number| text.lines().nth(number - 1));
    let value = line.and_then(|line| line.split_once('=')).map(|(_, value)| value);
    let words = line.and_then(|line| hint_for_line(line.trim(), &message));
    let words =
        words.or_else(|| hint_for_key(&message, value)).unwrap_or_else(|| simplify_parse_error(&message));
    error_at(text, &RuleError::new(span, words))
}

fn error_at(text: &str, error: &RuleError) -> FileError {
    let (line, column) = error.line_and_column(text);
    let message = format!("column {column}: {}\n  {}", error.message, error.render(text));
    FileError { line: Some(line as u64), message }
}

fn hint_for_line(line: &str, message: &str) -> Option<String> {
    if message.starts_with("expected `.`, `=`") {
        return Some(hint_for_bare_line(line));
    }
    if let Some(side) = [Side::Buy, Side::Sell].into_iter().find(|side| line == format!("[{}]", side.key())) {
        return Some(format!("a condition is a string: {} = \"rsi(14) < 30\"", side.key()));
    }
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    if message.contains("struct ParameterConfig") {
        if RULE_KEYS.contains(&key) {
            return Some(format!("{key} is not a parameter: move it above the line [parameters]"));
        }
        return Some(format!(
            "a parameter needs a default and, for searches, a range: {key} = {{ default = {value}, min = 2, max = 50 }}"
        ));
    }
    if key == "expiry" {
        return Some(hint_for_expiry(value));
    }
    if ![Side::Buy.key(), Side::Sell.key()].contains(&key) {
        return None;
    }
    let quotes = |quote| value.matches(quote).count();
    match value.chars().next()? {
        '"' if value.starts_with("\"\"\"") => None,
        '"' if quotes('"') == 1 => Some("the condition has no closing \"".to_owned()),
        '"' if second_key(value).is_some() => second_key(value)
            .map(|key| format!("each key needs a separate line: start a new line before `{key}`")),
        '"' if quotes('"') > 2 => Some(
            "use single quotes inside the double quotes of a condition, as in between('08:00', '17:00')"
                .to_owned(),
        ),
        '\'' if value.starts_with("'''") => None,
        '\'' if quotes('\'') == 1 => Some("the condition has no closing '".to_owned()),
        '\'' if quotes('\'') > 2 => Some(
            "enclose a condition in double quotes if it contains strings: \"between('08:00', '17:00')\""
                .to_owned(),
        ),
        '"' | '\'' if message.starts_with("expected newline") => {
            Some("text follows the closing quote: move the quote to the end of the line".to_owned())
        }
        '"' | '\'' => None,
        '[' | '{' => {
            Some("write one condition in double quotes, and join its parts with `and` or `or`".to_owned())
        }
        _ => Some(hint_to_quote(key, value)),
    }
}

fn second_key(value: &str) -> Option<&str> {
    let (_, behind) = value.strip_prefix('"')?.split_once('"')?;
    let (key, _) = behind.split_once('=')?;
    RULE_KEYS.contains(&key.trim()).then(|| key.trim())
}

fn hint_for_bare_line(line: &str) -> String {
    let name = line.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    let (key, rest) = match [Side::Buy, Side::Sell].into_iter().find(|side| side.key() == name) {
        Some(side) => (side.key(), &line[name.len()..]),
        None if line.contains(['<', '>', '(']) => (Side::Buy.key(), line),
        None => return "each line must have the form key = value".to_owned(),
    };
    let condition = rest.trim_start_matches(|letter: char| letter == ':' || letter.is_whitespace());
    format!("each line must have the form key = value; {}", hint_to_quote(key, condition))
}

fn hint_to_quote(key: &str, condition: &str) -> String {
    let is_quote = |letter: char| "\"'\u{201c}\u{201d}\u{201e}".contains(letter);
    let condition = condition.trim().trim_start_matches(is_quote);
    // Strips the closing quote, unless the quote belongs to a string inside the condition.
    let curly = condition.trim_end_matches(['\u{201c}', '\u{201d}']);
    let bare = curly.strip_suffix(['"', '\'']).filter(|bare| bare.matches(['"', '\'']).count() % 2 == 0);
    let condition = bare.unwrap_or(curly).replace(['"', '\u{201c}', '\u{201d}'], "'");
    format!("put the condition in double quotes: {key} = \"{condition}\"")
}

pub(crate) fn hint_for_expiry(value: &str) -> String {
    const EXPIRY_HINT: &str = "write a duration as minutes and seconds in quotes";
    let plain = value.trim_matches(|letter| letter == '"' || letter == '\'');
    let error = plain.parse::<CloseType>().err();
    match error.as_ref().map_or(Some(plain), |error| error.suggestion()) {
        Some(code) if code.parse::<CloseType>().is_ok() => {
            format!("{EXPIRY_HINT}: did you mean expiry = \"{code}\"?")
        }
        Some(both) => format!("{EXPIRY_HINT}: did you mean {both}?"),
        None => format!("{EXPIRY_HINT}, such as expiry = \"05:00\""),
    }
}

fn is_configuration(text: &str) -> bool {
    const SECTIONS: [&str; 5] = ["account", "bots", "risk", "sandbox", "simulation"];
    toml::from_str::<toml::Table>(text)
        .is_ok_and(|table| SECTIONS.iter().any(|name| table.contains_key(*name)))
}

pub(crate) fn hint_for_key(message: &str, value: Option<&str>) -> Option<String> {
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    let known: Vec<&str> = names.collect();
    let is_rule = known.contains(&Side::Buy.key());
    let context = if is_rule { AliasContext::RuleKey } else { AliasContext::RuleParameter };
    let is_global = |setting: &&AliasTarget| !matches!(setting, AliasTarget::Name { .. });
    let setting = || {
        let foreign = find_alias_targets(AliasContext::Combination, unknown)
            .chain(find_alias_targets(AliasContext::Setting, unknown))
            .find(is_global);
        foreign.or_else(|| find_setting(unknown).filter(is_global)).filter(|_| is_rule)
    };
    let in_other_case = known.iter().find(|own| own.eq_ignore_ascii_case(unknown));
    let in_other_case = in_other_case.map(|own| format!("did you mean `{own}`?"));
    let near = || nearest_name(unknown, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    let named_value = || value.filter(|_| is_rule).and_then(|value| hint_for_value(unknown, value));
    let foreign = || find_alias_targets(context, unknown).next().or_else(setting).map(render_counterpart);
    let hint = in_other_case.or_else(foreign).or_else(near).or_else(named_value);
    let hint = hint.unwrap_or_else(|| format!("known are: {}", known.join(", ")));
    Some(format!("unknown key `{unknown}`: {hint}"))
}

fn hint_for_value(name: &str, value: &str) -> Option<String> {
    let value = value.trim();
    if value.parse::<f64>().is_ok() {
        let is_taken = catalog::reserved_names().any(|known| known == name);
        let prefix = if is_taken { "my_" } else { "" };
        return Some(format!(
            "parameters belong below the line [parameters]: {prefix}{name} = {{ default = {value} }}"
        ));
    }
    let is_calculation = value.starts_with(['"', '\'']) && value.contains(['(', '<', '>']);
    is_calculation.then(|| "an expression cannot have a name: write it in buy or sell".to_owned())
}

pub(crate) fn prepend_key(table: &Value, message: &str) -> String {
    let mut found = Vec::new();
    if let Some(given) = extract_rejected_value(message).and_then(|shown| serde_json::from_str(shown).ok()) {
        collect_keys(table, "", &given, &mut found);
    }
    match found.as_slice() {
        [key] => format!("{key}: {}", simplify_parse_error(message)),
        _ => simplify_parse_error(message),
    }
}

fn collect_keys(table: &Value, path: &str, given: &Value, found: &mut Vec<String>) {
    for (key, own) in table.as_object().into_iter().flatten() {
        let path = format!("{path}{key}");
        collect_keys(own, &format!("{path}."), given, found);
        if own == given {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_intended_key_or_section() {
        for (line, expected) in [
            ("interval = \"1m\"", "it belongs in a configuration: interval = \"1m\" in [[bots]]; a value"),
            ("timeframe = \"M5\"", "interval = \"1m\" in [[bots]]"),
            ("symbol = \"EURUSD\"", "symbol = \"EURUSD\" in [[bots]]"),
            ("params = { period = 14 }", "belong below the line [parameters]: period = { default = 14"),
            ("[inputs]\nperiod = 14", "parameters belong below the line [parameters]"),
            ("period = 14", "parameters belong below the line [parameters]: period = { default = 14 }"),
            ("fast = \"ema(9)\"", "an expression cannot have a name"),
            ("close_type = \"05:00\"", "the duration of a trade is expiry = \"05:00\""),
            ("expiration = 5", "the duration of a trade is expiry = \"05:00\""),
            ("stop_loss = 10", "a fixed-time trade ends when its time is up"),
            ("exit = \"rsi(14) > 50\"", "a fixed-time trade ends when its time is up"),
            ("amount = 10", "stake = { kind = \"fixed\", amount = 10.0 } in [[bots]]"),
            ("gale = 2", "stake = { kind = \"martingale\", amount = 5.0"),
            ("hours = [\"08:00\", \"17:00\"]", "write between('08:00', '17:00') into the condition"),
            ("gate = { after_virtual_losses = 2 }", "strategy = \"combine\", params = { first_of = [{"),
            ("filter = []", "it belongs to a combination"),
            ("quorum = 2", "params = { vote = [{ strategy = \"rules\""),
            ("rsi = 14", "my_rsi = { default = 14 }"),
            ("hour = 9", "my_hour = { default = 9 }"),
            ("cooldown = 10", "pauses = [{ after = 1"),
            ("max_trades = 3", "max_trades_per_day = 10 in [risk]"),
            ("payout = 80", "payout_percent = 80.0 in [simulation]"),
            ("version = 5", "leave it out, or write about"),
            ("entry = \"rsi(14) < 30\"", "a rule has a condition to buy, one to sell, or both: buy ="),
            ("enter_long = \"rsi(14) < 30\"", "did you mean `buy`?"),
            ("put = \"rsi(14) > 70\"", "did you mean `sell`?"),
            ("paramters = {}", "did you mean `parameters`?"),
            ("[buy]\nwhen = \"rsi(14) < 30\"", "a condition is a string: buy = \"rsi(14) < 30\""),
            ("about = 5", "use a text in quotes, not 5"),
            ("[parameters]\nbuy = \"rsi(14) < 30\"", "buy is not a parameter: move it above the line"),
            ("[parameters]\np = { default = 14, type = \"int\" }", "without a point is a whole number"),
            ("[parameters]\np = { defval = 14 }", "write default = 14"),
            ("[parameters]\np = { default = 14, range = [2, 50] }", "write min = 2, max = 50"),
            ("[parameters]\np = { default = true }", "use a number, not true"),
            ("[parameters]\np = { default = nan }", "use a number: nan and inf are not allowed"),
        ] {
            let message = RuleConfig::parse(line).unwrap_err().message;
            let said = message.lines().next().unwrap_or_default();
            assert!(said.contains(expected), "{line}: {said}");
        }
    }
}
