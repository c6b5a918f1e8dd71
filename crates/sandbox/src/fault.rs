//! Fault injection: faults, profiles that select them, and a switchboard that triggers them at random and counts them.

use crate::chance::{RandomPurpose, RandomSource};
use candlewick_sdk::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    Latency,
    Errors,
    /// The response to an order has status 500 or 503, although the venue opened the trade.
    ErrorsAfter,
    DropBefore,
    /// The connection is reset without a response to an order, although the venue opened the trade.
    DropAfter,
    /// The server handles the request but does not respond. The connection is reset later.
    Hang,
    Garbage,
    /// A new trade is missing from responses for a period of venue time.
    ListLag,
    /// The settlement of a trade is hidden for a period of venue time.
    LateSettlement,
    Shuffle,
    Duplicates,
    UnknownValues,
    /// The server rejects the API token for a period of venue time.
    ExpiredToken,
    StreamDrop,
    /// The price stream stays open but sends nothing for a period of real time.
    StreamStall,
    StreamDuplicate,
    StreamReorder,
    StreamGarbage,
}

impl Fault {
    pub const ALL: [Self; 18] = [
        Self::Latency,
        Self::DropBefore,
        Self::Errors,
        Self::ExpiredToken,
        Self::ListLag,
        Self::LateSettlement,
        Self::Shuffle,
        Self::Duplicates,
        Self::DropAfter,
        Self::ErrorsAfter,
        Self::Hang,
        Self::Garbage,
        Self::UnknownValues,
        Self::StreamDrop,
        Self::StreamStall,
        Self::StreamDuplicate,
        Self::StreamReorder,
        Self::StreamGarbage,
    ];

    pub const fn as_str(self) -> &'static str {
        FAULT_ROWS[self as usize].0
    }

    const fn default_probability(self) -> f64 {
        FAULT_ROWS[self as usize].1
    }

    const fn mixed_probability(self) -> f64 {
        FAULT_ROWS[self as usize].2
    }

    /// Returns the default duration: in real time for latency, hang and stream faults, otherwise in venue time.
    const fn default_duration(self) -> Millis {
        Millis::new(FAULT_ROWS[self as usize].3)
    }

    fn has_duration(self) -> bool {
        self.default_duration() > Millis::ZERO
    }
}

/// One row per fault: name, default probability, probability in `mixed`, default duration in ms (0 if none).
const FAULT_ROWS: [(&str, f64, f64, i64); Fault::ALL.len()] = [
    ("latency", 1.0, 0.2, 300),
    ("errors", 0.2, 0.05, 0),
    ("errors-after", 0.5, 0.05, 0),
    ("drop-before", 0.2, 0.03, 0),
    ("drop-after", 0.5, 0.05, 0),
    ("hang", 0.1, 0.002, 30_000),
    ("garbage", 0.2, 0.03, 0),
    ("list-lag", 1.0, 0.2, 10_000),
    ("late-settlement", 1.0, 0.2, 30_000),
    ("shuffle", 1.0, 0.2, 0),
    ("duplicates", 0.5, 0.05, 0),
    ("unknown-values", 0.3, 0.05, 0),
    ("expired-token", 0.02, 0.002, 5_000),
    ("stream-drop", 0.02, 0.002, 0),
    ("stream-stall", 0.02, 0.002, 10_000),
    ("stream-duplicate", 0.2, 0.03, 0),
    ("stream-reorder", 0.2, 0.03, 0),
    ("stream-garbage", 0.2, 0.03, 0),
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Faults to inject, as a comma-separated list such as `errors:0.2,latency:300ms,list-lag:0.5:10s`.
///
/// A name can be followed by a probability from 0 to 1 and, if the fault lasts, a duration in `ms`, `s` or `m`.
/// `none` disables all faults, `mixed` enables all at low rates, `all` at default rates. Later entries take precedence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct FaultProfile {
    rates: BTreeMap<Fault, FaultRate>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultRate {
    /// Probability that the fault occurs at each opportunity, from 0 to 1.
    pub probability: f64,
    /// Duration of the fault. Zero if the fault is instantaneous.
    pub duration: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    #[error("\"{name}\" is not a fault: use none, mixed, all, or any of {known}")]
    UnknownName { name: String, known: String },
    #[error("\"{part}\" after {fault}: use a probability from 0 to 1{hint}")]
    BadPart { part: String, fault: Fault, hint: &'static str },
}

impl FaultProfile {
    pub fn none() -> Self {
        Self::default()
    }

    pub fn rate(&self, fault: Fault) -> Option<FaultRate> {
        self.rates.get(&fault).copied()
    }

    fn add_item(&mut self, item: &str) -> Result<(), FaultError> {
        let mut parts = item.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default();
        match name {
            "none" => self.rates.clear(),
            "mixed" => self.add_all_faults(Fault::mixed_probability),
            "all" => self.add_all_faults(Fault::default_probability),
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
                known: "the individual faults, such as errors:0.5".to_owned(),
            }),
        }
    }

    fn add_all_faults(&mut self, probability: impl Fn(Fault) -> f64) {
        for fault in Fault::ALL {
            let rate = FaultRate { probability: probability(fault), duration: fault.default_duration() };
            self.rates.insert(fault, rate);
        }
    }
}

fn parse_rate<'a>(fault: Fault, parts: impl Iterator<Item = &'a str>) -> Result<FaultRate, FaultError> {
    let mut rate = FaultRate { probability: fault.default_probability(), duration: fault.default_duration() };
    for part in parts {
        let probability = part.parse::<f64>().ok().filter(|value| (0.0..=1.0).contains(value));
        let duration = parse_duration(part).filter(|_| fault.has_duration());
        match (probability, duration) {
            (Some(probability), _) => rate.probability = probability,
            (None, Some(duration)) => rate.duration = duration,
            (None, None) => {
                let hint = if fault.has_duration() { " or a duration such as 300ms or 2m" } else { "" };
                return Err(FaultError::BadPart { part: part.chars().take(32).collect(), fault, hint });
            }
        }
    }
    Ok(rate)
}

fn parse_duration(text: &str) -> Option<Millis> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let count: i64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return None,
    };
    Some(Millis::new(count.checked_mul(unit)?)).filter(|duration| *duration <= Millis::DAY)
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
            if fault.has_duration() {
                write!(f, ":{}ms", rate.duration)?;
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

#[derive(Debug)]
pub struct FaultSwitchboard {
    chance: RandomSource,
    state: Mutex<FaultState>,
}

#[derive(Debug, Default)]
struct FaultState {
    profile: FaultProfile,
    draws: BTreeMap<Fault, u64>,
    counts: FaultCounts,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FaultCounts {
    strikes: BTreeMap<Fault, u64>,
}

impl FaultCounts {
    pub fn count(&self, fault: Fault) -> u64 {
        self.strikes.get(&fault).copied().unwrap_or_default()
    }

    pub fn total(&self) -> u64 {
        self.strikes.values().sum()
    }
}

impl FaultSwitchboard {
    pub fn new(profile: FaultProfile, seed: u64) -> Self {
        Self {
            chance: RandomSource::new(seed),
            state: Mutex::new(FaultState { profile, ..FaultState::default() }),
        }
    }

    pub fn set_profile(&self, profile: FaultProfile) {
        self.state().profile = profile;
    }

    pub fn profile(&self) -> FaultProfile {
        self.state().profile.clone()
    }

    pub fn counts(&self) -> FaultCounts {
        self.state().counts.clone()
    }

    /// Decides at random whether the fault occurs. Returns its duration, or `None` if it does not occur.
    pub(crate) fn draw_fault(&self, fault: Fault) -> Option<Millis> {
        let mut state = self.state();
        let rate = state.profile.rate(fault)?;
        let draw = state.draws.entry(fault).or_default();
        let index = *draw;
        *draw += 1;
        if self.chance.random_fraction(RandomPurpose::Fault, [fault as u64, 0], index) >= rate.probability {
            return None;
        }
        *state.counts.strikes.entry(fault).or_default() += 1;
        Some(rate.duration)
    }

    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn add_unknown_values(body: &mut Value) {
    match body {
        Value::Array(items) => {
            items.extend(build_fake_wallet(items));
            items.iter_mut().for_each(add_unknown_values);
        }
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                match name.as_str() {
                    "status" | "result" if value.is_string() => *value = json!("UNDER_REVIEW"),
                    "expirationType" if value.is_string() => *value = json!("UNKNOWN_KIND"),
                    _ => add_unknown_values(value),
                }
            }
            fields.insert("withBonus".to_owned(), json!(false));
            fields.insert("reviewedBy".to_owned(), json!({ "team": null, "steps": [1, "two"] }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn build_fake_wallet(items: &[Value]) -> Option<Value> {
    let mut wallet = items.first()?.clone();
    let is_wallet = ["id", "userId", "type", "balance"].iter().all(|field| wallet.get(field).is_some());
    if !is_wallet {
        return None;
    }
    wallet["id"] = json!("00000000000000000000000000");
    wallet["type"] = json!("UNKNOWN_KIND");
    Some(wallet)
}

pub(crate) fn garbage_body(index: u64) -> &'static [u8] {
    const BODIES: [&[u8]; 5] = [
        b"",
        b"<html><head><title>502</title></head><body>upstream</body></html>",
        b"{\"id\":\"01ARZ3NDEK",
        b"{\"data\":{\"nothing\":[null]}}",
        b"\xff\xfe\x00\x01[[[[",
    ];
    BODIES[(index % BODIES.len() as u64) as usize]
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
    fn names_rates_and_durations_combine() {
        check("none", Ok("none"));
        check("", Ok("none"));
        check("errors", Ok("errors:0.2"));
        check("errors:1, latency:250ms", Ok("latency:1:250ms,errors:1"));
        check("list-lag:0.5:10s", Ok("list-lag:0.5:10000ms"));
        check("late-settlement:2m:0.25", Ok("late-settlement:0.25:120000ms"));
        check("all,none,hang", Ok("hang:0.1:30000ms"));
    }

    #[test]
    fn rejects_invalid_profiles() {
        let unknown = "eror".parse::<FaultProfile>().unwrap_err().to_string();
        let start = "\"eror\" is not a fault: use none, mixed, all, or any of latency, drop-before, errors,";
        assert!(unknown.starts_with(start) && unknown.ends_with("stream-garbage"), "{unknown}");
        check("errors:2", Err("\"2\" after errors: use a probability from 0 to 1"));
        check("errors:10s", Err("\"10s\" after errors: use a probability from 0 to 1"));
        let hint = "\"soon\" after hang: use a probability from 0 to 1 or a duration such as 300ms or 2m";
        check("hang:soon", Err(hint));
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

    fn strikes(switchboard: &FaultSwitchboard, fault: Fault, occasions: usize) -> Vec<bool> {
        (0..occasions).map(|_| switchboard.draw_fault(fault).is_some()).collect()
    }

    #[test]
    fn strikes_repeat_with_the_seed_and_are_counted() {
        let make = |seed| FaultSwitchboard::new("errors:0.3".parse().unwrap(), seed);
        let (one, same, other) = (make(5), make(5), make(6));
        let struck = strikes(&one, Fault::Errors, 1_000);
        assert_eq!(struck, strikes(&same, Fault::Errors, 1_000));
        assert_ne!(struck, strikes(&other, Fault::Errors, 1_000));
        let count = struck.iter().filter(|struck| **struck).count();
        assert!((250..350).contains(&count), "{count}");
        assert_eq!(one.counts().count(Fault::Errors), count as u64);
        assert_eq!(one.counts().total(), count as u64);
    }
}
