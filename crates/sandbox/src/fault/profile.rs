//! Fault profiles in one line of text: faults with probability and duration.

use super::Fault;
use candlewick_sdk::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A choice of faults, written as names with commas between them: `errors:0.2,latency:300ms,list-lag:0.5:10s`.
///
/// After a name may stand a probability from 0 to 1 and, for a fault that lasts, a span in `ms`, `s` or `m`.
/// `none` is no fault, `mixed` a bit of each, `all` each at its usual rate; later names replace earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct FaultProfile {
    rates: BTreeMap<Fault, FaultRate>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultRate {
    /// Probability per occasion, 0 to 1.
    pub probability: f64,
    /// Duration, zero for an instantaneous fault.
    pub span: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    #[error("\"{name}\" is not a fault: use none, mixed, all, or names from {known}")]
    UnknownName { name: String, known: String },
    #[error("\"{part}\" after {fault}: use a probability from 0 to 1{span}")]
    BadPart { part: String, fault: Fault, span: &'static str },
}

impl FaultProfile {
    pub fn none() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn with(mut self, fault: Fault, rate: FaultRate) -> Self {
        self.rates.insert(fault, rate);
        self
    }

    pub fn rate(&self, fault: Fault) -> Option<FaultRate> {
        self.rates.get(&fault).copied()
    }

    fn add_item(&mut self, item: &str) -> Result<(), FaultError> {
        let mut parts = item.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default();
        match name {
            "none" => self.rates.clear(),
            "mixed" => self.add_all(Fault::mixed_probability),
            "all" => self.add_all(Fault::usual_probability),
            _ => {
                let fault = Fault::ALL.into_iter().find(|fault| fault.as_str() == name);
                let fault = fault.ok_or_else(|| FaultError::UnknownName {
                    name: name.chars().take(32).collect(),
                    known: Fault::ALL.map(Fault::as_str).join(", "),
                })?;
                self.rates.insert(fault, parse_rate(fault, parts)?);
                return Ok(());
            }
        }
        match parts.next() {
            None => Ok(()),
            Some(part) => Err(FaultError::UnknownName {
                name: format!("{name}:{part}"),
                known: "themselves".to_owned(),
            }),
        }
    }

    fn add_all(&mut self, probability: impl Fn(Fault) -> f64) {
        for fault in Fault::ALL {
            let rate = FaultRate { probability: probability(fault), span: fault.usual_span() };
            self.rates.insert(fault, rate);
        }
    }
}

fn parse_rate<'a>(fault: Fault, parts: impl Iterator<Item = &'a str>) -> Result<FaultRate, FaultError> {
    let mut rate = FaultRate { probability: fault.usual_probability(), span: fault.usual_span() };
    for part in parts {
        let probability = part.parse::<f64>().ok().filter(|value| (0.0..=1.0).contains(value));
        let span = parse_span(part).filter(|_| fault.has_span());
        match (probability, span) {
            (Some(probability), _) => rate.probability = probability,
            (None, Some(span)) => rate.span = span,
            (None, None) => {
                let span = if fault.has_span() { " or a span such as 300ms, 10s or 2m" } else { "" };
                return Err(FaultError::BadPart { part: part.chars().take(32).collect(), fault, span });
            }
        }
    }
    Ok(rate)
}

fn parse_span(text: &str) -> Option<Millis> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let count: i64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return None,
    };
    Some(Millis::new(count.checked_mul(unit)?)).filter(|span| *span <= Millis::DAY)
}

impl FromStr for FaultProfile {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut profile = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            profile.add_item(item)?;
        }
        Ok(profile)
    }
}

impl fmt::Display for FaultProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rates.is_empty() {
            return f.write_str("none");
        }
        for (index, (fault, rate)) in self.rates.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{fault}:{}", rate.probability)?;
            if fault.has_span() {
                write!(f, ":{}ms", rate.span)?;
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for FaultProfile {
    type Error = FaultError;
    fn try_from(text: String) -> Result<Self, FaultError> {
        text.parse()
    }
}

impl From<FaultProfile> for String {
    fn from(profile: FaultProfile) -> Self {
        profile.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let parsed = text.parse::<FaultProfile>();
        let printed = parsed.clone().map(|profile| profile.to_string()).map_err(|error| error.to_string());
        assert_eq!(printed.as_deref().map_err(String::as_str), expected, "{text}");
        if let Ok(profile) = parsed {
            assert_eq!(profile.to_string().parse(), Ok(profile), "{text} prints what it parses from");
        }
    }

    #[test]
    fn names_rates_and_spans_combine() {
        check("none", Ok("none"));
        check("", Ok("none"));
        check("errors", Ok("errors:0.2"));
        check("errors:1, latency:250ms", Ok("latency:1:250ms,errors:1"));
        check("list-lag:0.5:10s", Ok("list-lag:0.5:10000ms"));
        check("late-settlement:2m:0.25", Ok("late-settlement:0.25:120000ms"));
        check("all,none,hang", Ok("hang:0.1:30000ms"));
    }

    #[test]
    fn what_is_not_a_profile_is_named() {
        let unknown = "\"eror\" is not a fault: use none, mixed, all, or names from latency, drop-before, errors, \
                       expired-token, list-lag, late-settlement, shuffle, duplicates, drop-after, errors-after, \
                       hang, garbage, unknown-values, stream-drop, stream-stall, stream-duplicate, stream-reorder, \
                       stream-garbage";
        check("eror", Err(unknown));
        check("errors:2", Err("\"2\" after errors: use a probability from 0 to 1"));
        check("errors:10s", Err("\"10s\" after errors: use a probability from 0 to 1"));
        check(
            "hang:soon",
            Err("\"soon\" after hang: use a probability from 0 to 1 or a span such as 300ms, 10s or 2m"),
        );
        check("errors:NaN", Err("\"NaN\" after errors: use a probability from 0 to 1"));
        assert!("mixed:0.5".parse::<FaultProfile>().is_err());
    }

    #[test]
    fn mixed_and_all_hold_every_fault() {
        for text in ["mixed", "all"] {
            let profile: FaultProfile = text.parse().unwrap();
            assert!(Fault::ALL.into_iter().all(|fault| profile.rate(fault).is_some()), "{text}");
        }
    }
}
