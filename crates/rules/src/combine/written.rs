//! Parsing of a combination from the parameters of a bot.

use super::entry::refuse;
use super::strategy::Need;
use crate::wrong_value::with_key;
use candlewick_sdk::{BuildError, suggest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPart {
    pub(super) strategy: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) params: Map<String, Value>,
    #[serde(default, deserialize_with = "a_number")]
    pub(super) weight: Option<f64>,
    pub(super) within: Option<usize>,
    #[serde(default)]
    pub(super) invert: bool,
}

/// Rejects null: TOML's `nan` and `inf` arrive as null, which differs from a missing key.
fn a_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    f64::deserialize(deserializer).map(Some)
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFilter {
    strategy: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    params: Map<String, Value>,
    within: Option<usize>,
    #[serde(default)]
    invert: bool,
    view: Option<Need>,
    hours: Option<Value>,
    timezone: Option<String>,
    trend: Option<u32>,
    volatility: Option<Volatility>,
    when: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
}

/// Average true range as a fraction of the close.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Volatility {
    #[serde(default = "usual_period")]
    period: u32,
    min: Option<f64>,
    max: Option<f64>,
}

const fn usual_period() -> u32 {
    14
}

const MAX_PERIOD: u32 = 5_000;

pub(super) fn list<T: DeserializeOwned>(params: &Value, key: &str) -> Result<Vec<T>, BuildError> {
    let Some(value) = params.get(key).filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
    let Value::Array(items) = value else {
        return Err(refuse(format!("{key} is a list: {key} = [{{ strategy = \"rsi-reversal\" }}]")));
    };
    let read = |(place, item): (usize, &Value)| {
        if !item.is_object() {
            let usual = if key == "filters" {
                "{ when = \"adx(14) > 25\" }"
            } else {
                "{ strategy = \"rsi-reversal\" }"
            };
            return Err(refuse(format!("{key}[{place}] = {item} is no table: write it as {usual}")));
        }
        T::deserialize(item).map_err(|error| refuse(format!("{key}[{place}]: {}", words_of(&error, item))))
    };
    items.iter().enumerate().map(read).collect()
}

pub(super) fn words_of(error: &serde_json::Error, table: &Value) -> String {
    let text = error.to_string();
    // "unknown field `a`, expected one of `b`, `c`": the names stand between the marks.
    let mut names = text.split('`').skip(1).step_by(2);
    if let Some(given) = names.next().filter(|_| text.starts_with("unknown field")) {
        return format!("unknown key `{given}`; {}", suggest(given, names));
    }
    with_key(table, &text)
}

impl WrittenFilter {
    pub(super) fn part(self, place: usize) -> Result<(WrittenPart, Need), BuildError> {
        let wrong = |problem: &str| refuse(format!("filters[{place}]: {problem}"));
        if let Some(key) = self.key_of_a_strategy().filter(|_| self.strategy.is_none()) {
            let turned = match (&self.hours, &self.when) {
                _ if key != "invert" => "",
                (Some(_), _) => "; all hours but these: hours = [\"17:00\", \"08:00\"]",
                (_, Some(_)) => "; the opposite: when = \"not (...)\"",
                _ => "",
            };
            return Err(wrong(&format!("{key} belongs to a filter with a strategy{turned}")));
        }
        if self.when.is_none() && !self.parameters.is_empty() {
            return Err(wrong("parameters belong to a filter with `when`"));
        }
        if self.hours.is_none() && self.timezone.is_some() {
            return Err(wrong("timezone belongs to a filter with `hours`"));
        }
        let usual = |name: &str| if self.name.is_empty() { name.to_owned() } else { self.name.clone() };
        let rule = |name: &str, params: Value, need: Need| {
            let params = params.as_object().cloned().unwrap_or_default();
            let part = WrittenPart { strategy: crate::NAME.to_owned(), name: usual(name), params, ..bare() };
            (part, need)
        };
        match (&self.strategy, &self.hours, self.trend, &self.volatility, &self.when) {
            (Some(strategy), None, None, None, None) => {
                let part = WrittenPart {
                    strategy: strategy.clone(),
                    name: self.name,
                    params: self.params,
                    weight: None,
                    within: self.within,
                    invert: self.invert,
                };
                Ok((part, self.view.unwrap_or(Need::Same)))
            }
            (None, Some(hours), None, None, None) => {
                let (from, to) = two_times(hours).ok_or_else(|| {
                    wrong(
                        "hours are two times of the day, UTC unless a timezone stands beside them: \
                         hours = [\"08:00\", \"17:00\"]",
                    )
                })?;
                let zone = match self.timezone.as_deref() {
                    None => String::new(),
                    Some(zone) if zone.contains(['"', '\'']) => return Err(wrong("timezone holds a quote")),
                    Some(zone) => format!(", \"{zone}\""),
                };
                Ok(rule("hours", json!({ "buy": format!("between(\"{from}\", \"{to}\"{zone})") }), Need::Any))
            }
            (None, None, Some(period), None, None) => {
                let params = json!({
                    "buy": "close > sma(period)",
                    "sell": "close < sma(period)",
                    "parameters": { "period": whole(period, 2, "Candles in the average.") },
                });
                Ok(rule("trend", params, Need::Same))
            }
            (None, None, None, Some(volatility), None) => {
                let params = volatility.rule().ok_or_else(|| wrong("volatility has min, max or both"))?;
                Ok(rule("volatility", params, Need::Any))
            }
            (None, None, None, None, Some(when)) => {
                Ok(rule("when", json!({ "buy": when, "parameters": self.parameters }), Need::Any))
            }
            _ => Err(wrong("a filter is one of strategy, hours, trend, volatility, when")),
        }
    }

    fn key_of_a_strategy(&self) -> Option<&'static str> {
        let given = [
            (self.invert, "invert"),
            (self.within.is_some(), "within"),
            (!self.params.is_empty(), "params"),
            (self.view.is_some(), "view"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, key)| key)
    }
}

fn two_times(hours: &Value) -> Option<(&str, &str)> {
    let [from, to] = hours.as_array()?.as_slice() else { return None };
    let (from, to) = (from.as_str()?, to.as_str()?);
    [from, to].iter().all(|time| !time.contains(['"', '\''])).then_some((from, to))
}

impl Volatility {
    fn rule(&self) -> Option<Value> {
        let mut parameters = json!({ "period": whole(self.period, 1, "Candles in the average true range.") });
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

fn whole(default: u32, min: u32, about: &str) -> Value {
    json!({ "default": default, "min": min, "max": MAX_PERIOD, "about": about })
}

fn bare() -> WrittenPart {
    let (strategy, name) = (String::new(), String::new());
    WrittenPart { strategy, name, params: Map::new(), weight: None, within: Some(1), invert: false }
}
