//! Parser for the parts and filters of a combination in the bot's parameters.

use super::entry::{MAX_WITHIN_CANDLES, derive_entry, params_error};
use super::strategy::{Agreement, Part};
use crate::file::prepend_key;
use candlewick_sdk::{BotContext, BuildError, Parameter, Registry, StrategyEntry, suggest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartConfig {
    pub(super) strategy: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) params: Map<String, Value>,
    #[serde(default, deserialize_with = "non_null_number")]
    pub(super) weight: Option<f64>,
    pub(super) within: Option<usize>,
    #[serde(default)]
    pub(super) invert: bool,
}

/// Parses a number and rejects null. TOML's `nan` and `inf` arrive as null and must not look like a missing key.
fn non_null_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    f64::deserialize(deserializer).map(Some)
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilterConfig {
    strategy: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    params: Map<String, Value>,
    within: Option<usize>,
    #[serde(default)]
    invert: bool,
    view: Option<Agreement>,
    hours: Option<Value>,
    timezone: Option<String>,
    trend: Option<u32>,
    volatility: Option<Volatility>,
    when: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
}

/// Filter that bounds the average true range. The bounds are fractions of the close.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Volatility {
    #[serde(default = "default_period")]
    period: u32,
    min: Option<f64>,
    max: Option<f64>,
}

const fn default_period() -> u32 {
    14
}

const MAX_PERIOD: u32 = 5_000;

pub(super) fn parse_list<T: DeserializeOwned>(params: &Value, key: &str) -> Result<Vec<T>, BuildError> {
    let Some(value) = params.get(key).filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
    let Value::Array(items) = value else {
        return Err(params_error(format!(
            "{key} must be a list: {key} = [{{ strategy = \"rsi-reversal\" }}]"
        )));
    };
    let read = |(place, item): (usize, &Value)| {
        if !item.is_object() {
            let usual = if key == "filters" {
                "{ when = \"adx(14) > 25\" }"
            } else {
                "{ strategy = \"rsi-reversal\" }"
            };
            return Err(params_error(format!("{key}[{place}] = {item} is not a table: write {usual}")));
        }
        T::deserialize(item)
            .map_err(|error| params_error(format!("{key}[{place}]: {}", error_text(&error, item))))
    };
    items.iter().enumerate().map(read).collect()
}

pub(super) fn error_text(error: &serde_json::Error, table: &Value) -> String {
    let text = error.to_string();
    // Names are in backticks, as in "unknown field `a`, expected one of `b`, `c`".
    let mut names = text.split('`').skip(1).step_by(2);
    if let Some(given) = names.next().filter(|_| text.starts_with("unknown field")) {
        return format!("unknown key `{given}`; {}", suggest(given, names));
    }
    prepend_key(table, &text)
}

impl FilterConfig {
    pub(super) fn into_part(self, place: usize) -> Result<(PartConfig, Agreement), BuildError> {
        let wrong = |problem: &str| params_error(format!("filters[{place}]: {problem}"));
        if let Some(key) = self.strategy_only_key().filter(|_| self.strategy.is_none()) {
            let turned = match (&self.hours, &self.when) {
                _ if key != "invert" => "",
                (Some(_), _) => "; to trade in other hours, swap the times: hours = [\"17:00\", \"08:00\"]",
                (_, Some(_)) => "; to invert the condition, write when = \"not (...)\"",
                _ => "",
            };
            return Err(wrong(&format!("{key} is only valid with a strategy{turned}")));
        }
        if self.when.is_none() && !self.parameters.is_empty() {
            return Err(wrong("parameters are only valid with `when`"));
        }
        if self.hours.is_none() && self.timezone.is_some() {
            return Err(wrong("timezone is only valid with `hours`"));
        }
        let usual = |name: &str| if self.name.is_empty() { name.to_owned() } else { self.name.clone() };
        let rule = |name: &str, params: Value, need: Agreement| {
            let params = params.as_object().cloned().unwrap_or_default();
            let part =
                PartConfig { strategy: crate::NAME.to_owned(), name: usual(name), params, ..default_part() };
            (part, need)
        };
        match (&self.strategy, &self.hours, self.trend, &self.volatility, &self.when) {
            (Some(strategy), None, None, None, None) => {
                let part = PartConfig {
                    strategy: strategy.clone(),
                    name: self.name,
                    params: self.params,
                    weight: None,
                    within: self.within,
                    invert: self.invert,
                };
                Ok((part, self.view.unwrap_or(Agreement::Same)))
            }
            (None, Some(hours), None, None, None) => {
                let (from, to) = read_hours(hours).ok_or_else(|| {
                    wrong(
                        "hours must be two times of day, in UTC unless timezone is set: hours = [\"08:00\", \"17:00\"]",
                    )
                })?;
                let zone = match self.timezone.as_deref() {
                    None => String::new(),
                    Some(zone) if zone.contains(['"', '\'']) => {
                        return Err(wrong("timezone contains quotes"));
                    }
                    Some(zone) => format!(", \"{zone}\""),
                };
                Ok(rule(
                    "hours",
                    json!({ "buy": format!("between(\"{from}\", \"{to}\"{zone})") }),
                    Agreement::Any,
                ))
            }
            (None, None, Some(period), None, None) => {
                let params = json!({
                    "buy": "close > sma(period)",
                    "sell": "close < sma(period)",
                    "parameters": { "period": spec(period, 2, "Candles in the average.") },
                });
                Ok(rule("trend", params, Agreement::Same))
            }
            (None, None, None, Some(volatility), None) => {
                let params =
                    volatility.to_rule().ok_or_else(|| wrong("volatility needs min, max or both"))?;
                Ok(rule("volatility", params, Agreement::Any))
            }
            (None, None, None, None, Some(when)) => {
                Ok(rule("when", json!({ "buy": when, "parameters": self.parameters }), Agreement::Any))
            }
            _ => Err(wrong("a filter needs exactly one of strategy, hours, trend, volatility and when")),
        }
    }

    fn strategy_only_key(&self) -> Option<&'static str> {
        let given = [
            (self.invert, "invert"),
            (self.within.is_some(), "within"),
            (!self.params.is_empty(), "params"),
            (self.view.is_some(), "view"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, key)| key)
    }
}

fn read_hours(hours: &Value) -> Option<(&str, &str)> {
    let [from, to] = hours.as_array()?.as_slice() else { return None };
    let (from, to) = (from.as_str()?, to.as_str()?);
    [from, to].iter().all(|time| !time.contains(['"', '\''])).then_some((from, to))
}

impl Volatility {
    fn to_rule(&self) -> Option<Value> {
        // These texts are part of the hash in the bot's version, so they must never change.
        let mut parameters = json!({ "period": spec(self.period, 1, "Candles in the average true range.") });
        let mut conditions = Vec::new();
        for (name, bound, sign, about) in [
            ("lowest", self.min, ">=", "Least average true range, as a fraction of the close."),
            ("highest", self.max, "<=", "Largest average true range, as a fraction of the close."),
        ] {
            if let Some(bound) = bound {
                conditions.push(format!("atr(period) / close {sign} {name}"));
                parameters[name] = json!({ "default": bound, "min": 0.0, "max": 1.0, "about": about });
            }
        }
        let buy = conditions.join(" and ");
        (!conditions.is_empty()).then(|| json!({ "buy": buy, "parameters": parameters }))
    }
}

fn spec(default: u32, min: u32, about: &str) -> Value {
    json!({ "default": default, "min": min, "max": MAX_PERIOD, "about": about })
}

fn default_part() -> PartConfig {
    let (strategy, name) = (String::new(), String::new());
    PartConfig { strategy, name, params: Map::new(), weight: None, within: Some(1), invert: false }
}

#[derive(Clone, Copy)]
pub(super) enum BuildMode {
    Fast,
    Explained,
}

pub(super) struct PlannedPart {
    pub(super) name: String,
    pub(super) entry: StrategyEntry,
    pub(super) given_params: Value,
    parameters: Vec<Parameter>,
    pub(super) weight: f64,
    pub(super) within: Option<usize>,
    pub(super) invert: bool,
}

impl PlannedPart {
    pub(super) fn new(
        written: PartConfig,
        name: String,
        params: &Value,
        registry: &Arc<Registry>,
        depth: usize,
    ) -> Result<Self, BuildError> {
        let wrong = |problem: String| params_error(format!("part {name}: {problem}"));
        let mut own = written.params;
        let prefix = format!("{name}.");
        for (key, value) in params.as_object().into_iter().flatten() {
            if let Some(key) = key.strip_prefix(&prefix) {
                own.insert(key.to_owned(), value.clone());
            }
        }
        let own = Value::Object(own);
        let entry = if written.strategy == super::NAME {
            derive_entry(&own, registry, depth + 1)
        } else {
            let known = registry.find(&written.strategy);
            let known = known.ok_or_else(|| {
                let names = registry.entries().iter().map(|entry| entry.name.as_str());
                wrong(format!("unknown strategy {}; {}", written.strategy, suggest(&written.strategy, names)))
            })?;
            known.for_params(&own).map(std::borrow::Cow::into_owned)
        };
        let entry = entry.map_err(|error| part_error(&name, error))?;
        if entry.wants_prices {
            return Err(wrong(
                "the strategy needs prices between candle closes, but parts get only candles".to_owned(),
            ));
        }
        if let Some(unknown) = unknown_key(&own, &entry) {
            let known: Vec<&str> = entry.parameters.iter().map(|known| known.name.as_str()).collect();
            return Err(wrong(format!("unknown parameter {unknown}; known: {}", known.join(", "))));
        }
        let weight = written.weight.unwrap_or(1.0);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(wrong(format!("weight must be a number above 0, not {weight}")));
        }
        if written.within.is_some_and(|within| !(1..=MAX_WITHIN_CANDLES).contains(&within)) {
            return Err(wrong(format!("within must be a whole number from 1 to {MAX_WITHIN_CANDLES}")));
        }
        let named = |parameter: &Parameter| Parameter {
            name: format!("{prefix}{}", parameter.name),
            default: own.get(&parameter.name).unwrap_or(&parameter.default).clone(),
            ..parameter.clone()
        };
        let parameters = entry.parameters.iter().map(named).collect();
        let (within, invert) = (written.within, written.invert);
        Ok(Self { parameters, name, entry, given_params: own, weight, within, invert })
    }

    pub(super) fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the part's data for the version hash: all data except parameter values.
    pub(super) fn identity(&self) -> Value {
        let Self { name, entry, weight, within, invert, .. } = self;
        json!([name, entry.name, entry.version, weight, within, invert])
    }

    /// Builds the part with a bot's parameter values. `within` applies if the part does not set a value of its own.
    pub(super) fn build(
        &self,
        values: &Value,
        within: usize,
        (bot, form): (&BotContext, BuildMode),
    ) -> Result<Part, BuildError> {
        let value = |(own, named): (&Parameter, &Parameter)| {
            Some((own.name.clone(), values.get(&named.name).filter(|value| !value.is_null())?.clone()))
        };
        let own: Map<String, Value> =
            self.entry.parameters.iter().zip(&self.parameters).filter_map(value).collect();
        let own = Value::Object(own);
        let strategy = match form {
            BuildMode::Fast => self.entry.build(&own, bot),
            BuildMode::Explained => self.entry.build_explainer(&own, bot),
        };
        let strategy = strategy.map_err(|error| part_error(&self.name, error))?;
        Ok(Part::new(self.name.clone(), strategy, self.within.unwrap_or(within), self.invert))
    }
}

/// Returns a unique name for each part: the given name, or the strategy's name, with a number if necessary.
pub(super) fn assign_names(parts: &[&PartConfig]) -> Result<Vec<String>, BuildError> {
    let mut taken = BTreeSet::new();
    for part in parts.iter().filter(|part| !part.name.is_empty()) {
        let is_allowed = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-');
        if !part.name.chars().all(is_allowed) {
            return Err(params_error(format!(
                "name = \"{}\": use lower-case letters, digits and hyphens",
                part.name
            )));
        }
        if !taken.insert(part.name.clone()) {
            return Err(params_error(format!("two parts are named {}: rename one of them", part.name)));
        }
    }
    let mut name_of = |part: &&PartConfig| {
        if !part.name.is_empty() {
            return part.name.clone();
        }
        let numbered = (2..).map(|number| format!("{}-{number}", part.strategy));
        let mut names = std::iter::once(part.strategy.clone()).chain(numbered);
        let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    Ok(parts.iter().map(&mut name_of).collect())
}

fn unknown_key<'a>(own: &'a Value, entry: &StrategyEntry) -> Option<&'a str> {
    let is_known = |key: &str| entry.parameters.iter().any(|parameter| parameter.name == key);
    own.as_object()?.keys().map(String::as_str).find(|key| !is_known(key))
}

fn part_error(name: &str, error: BuildError) -> BuildError {
    match error {
        BuildError::File { .. } => error,
        other => params_error(format!("part {name}: {other}")),
    }
}
