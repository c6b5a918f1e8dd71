//! Rule files: conditions, parameters with ranges, and an expiry.

use crate::catalog;
use crate::file_error::{wrong_at, wrong_form};
use crate::rule::Side;
use crate::{Rule, RuleError};
use candlewick_sdk::{CloseType, Interval, Parameter};
use serde::Deserialize;
use serde_json::{Number, Value};
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Written {
    pub(crate) about: String,
    pub(crate) buy: Option<String>,
    pub(crate) sell: Option<String>,
    pub(crate) expiry: Option<CloseType>,
    pub(crate) parameters: BTreeMap<String, WrittenParameter>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenParameter {
    default: Number,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(default)]
    about: String,
}

#[derive(Deserialize)]
struct Places {
    buy: Option<Spanned<String>>,
    sell: Option<Spanned<String>>,
    #[serde(default)]
    parameters: BTreeMap<Spanned<String>, toml::Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// 1-based.
    pub(crate) line: Option<u64>,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn plain(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }
}

impl Written {
    pub(crate) fn of_file(text: &str) -> Result<Self, Wrong> {
        toml::from_str(text).map_err(|error| wrong_form(&error, text))
    }

    pub(crate) fn rule(&self, file: Option<&str>) -> Result<Rule, Wrong> {
        for (name, parameter) in &self.parameters {
            let checked = check_name(name).and_then(|()| parameter.check(name));
            checked.map_err(|problem| wrong_parameter(name, &problem, file))?;
        }
        let at = |(side, error): (Side, RuleError)| self.wrong(side, &error, file);
        let rule = Rule::parse(self.buy.as_deref(), self.sell.as_deref()).map_err(at)?;
        // Longer candles are held to the bot's own later; here they may be as short as they like.
        let defaults = self.defaults();
        let unused = rule.unused(&defaults, Interval::SECOND).map_err(at)?;
        match unused.first() {
            None => Ok(rule),
            Some(name) => {
                let problem = format!("no condition names the parameter `{name}`: use it, or remove it");
                Err(wrong_parameter(name, &problem, file))
            }
        }
    }

    pub(crate) fn described(&self) -> impl Iterator<Item = Parameter> {
        self.parameters.iter().map(|(name, parameter)| {
            let mut described = Parameter::new(name.as_str(), Value::Number(parameter.default.clone()));
            (described.minimum, described.maximum) = (parameter.min, parameter.max);
            described.described(parameter.about.as_str())
        })
    }

    pub(crate) fn defaults(&self) -> BTreeMap<String, f64> {
        let number = |(name, parameter): (&String, &WrittenParameter)| {
            Some((name.clone(), parameter.default.as_f64()?))
        };
        self.parameters.iter().filter_map(number).collect()
    }

    pub(crate) fn wrong(&self, side: Side, error: &RuleError, file: Option<&str>) -> Wrong {
        let text = match side {
            Side::Buy => self.buy.as_deref(),
            Side::Sell => self.sell.as_deref(),
        };
        let Some(text) = text else { return Wrong::plain(error.message.clone()) };
        let key = side.key();
        let (line, column) = error.line_and_column(text);
        let shown = format!("{}\n  {}", error.message, error.shown(text));
        match file.and_then(|file| place_in_file(file, side, text, error)) {
            Some((line, column)) => {
                Wrong { line: Some(line), message: format!("column {column}: {key}: {shown}") }
            }
            None if line == 1 => Wrong::plain(format!("{key}, character {column}: {shown}")),
            None => Wrong::plain(format!("{key}, line {line}, character {column}: {shown}")),
        }
    }
}

impl WrittenParameter {
    fn check(&self, name: &str) -> Result<(), String> {
        let default = self.default.as_f64().filter(|number| number.is_finite());
        let default =
            default.ok_or_else(|| format!("parameters.{name}: default = {} is no number", self.default))?;
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
            "parameters.{name}: a name has letters, digits and _ and does not begin with a digit"
        ));
    }
    if KEYS.contains(&name) || name == "about" || catalog::names().any(|known| known == name) {
        return Err(format!("parameters.{name}: `{name}` has a meaning of its own: take another name"));
    }
    Ok(())
}

fn wrong_parameter(name: &str, problem: &str, file: Option<&str>) -> Wrong {
    let place = |file: &str| {
        let places: Places = toml::from_str(file).ok()?;
        places.parameters.keys().find(|key| key.get_ref() == name).map(Spanned::span)
    };
    match file.and_then(|file| Some((file, place(file)?))) {
        Some((file, place)) => wrong_at(file, &RuleError::new(place, problem)),
        None => Wrong::plain(problem),
    }
}

/// Returns 1-based line and column of an error; `None` if the file contains the condition in
/// another form, such as with escapes.
fn place_in_file(file: &str, side: Side, text: &str, error: &RuleError) -> Option<(u64, usize)> {
    let places: Places = toml::from_str(file).ok()?;
    let place = match side {
        Side::Buy => places.buy,
        Side::Sell => places.sell,
    };
    let span = place?.span();
    let begins = span.start + file.get(span)?.find(text)?;
    let at = begins + text.floor_char_boundary(error.place.start);
    let column = file[..at].rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some((line_of(file, at), column))
}

pub(crate) fn line_of(text: &str, at: usize) -> u64 {
    text[..text.floor_char_boundary(at)].matches('\n').count() as u64 + 1
}
