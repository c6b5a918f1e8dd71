//! The `[sandbox]` section: data, credentials, speed, and behaviour where the contract is silent.

use crate::{FaultProfile, SandboxError, parse_moment};
use candlewick_broker::clock::Speed;
use candlewick_sdk::{CloseType, Millis, Symbol};
use chrono::{DateTime, SecondsFormat};
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

/// Settings of the sandbox. Where the contract leaves behaviour open, the default is the stricter or the observed one.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// Where it listens; port 0 takes a free port.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// How many times faster than real time its clock runs, or `max` for lock-step with an embedded bot.
    pub speed: SandboxSpeed,
    /// Venue time at the start (ms or ISO 8601); left out, the composer leaves warm-up history before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartTime>,
    /// Candle files, as `--data` takes them.
    pub data: Vec<String>,
    /// The accepted `api-token`; documented, not secret.
    pub token: String,
    /// The accepted `api-key`; documented, not secret.
    pub api_key: String,
    /// Which wallet holds the money and takes trades; the other one is empty.
    pub wallet: TradedWallet,
    /// Seed of identifiers, faults and one-second prices.
    pub seed: u64,
    /// Which faults strike: `none`, `mixed`, `all`, or names with rates such as `errors:0.2,latency:300ms`.
    pub faults: FaultProfile,
    /// When the answer to an open is sent.
    pub replies: Replies,
    /// Whether get-by-id adds result, pnl, open and close price to the short projection (`observed: results`).
    pub rich_short: bool,
    /// What a missing `x-timestamp` does where the contract requires it.
    pub missing_timestamp: MissingTimestamp,
    /// Whether the candle that is still forming is returned.
    pub include_forming: bool,
    /// Duration code of trades opened by the body's shape B, which has none.
    #[schemars(with = "String")]
    pub short_close_type: CloseType,
    /// The duration codes on offer; empty means every code that the candles can price.
    #[schemars(with = "Vec<String>")]
    pub close_types: Vec<CloseType>,
    /// Whether expiries shorter than the candles are accepted, and priced inside a candle.
    pub allow_coarse: bool,
    /// The smallest stake; 0 turns the limit off.
    #[schemars(with = "f64")]
    pub min_amount: Decimal,
    /// The largest stake; 0 turns the limit off.
    #[schemars(with = "f64")]
    pub max_amount: Decimal,
    /// How many trades that are over it remembers: an older one is in no list and not found by its id, as one that never was. Open
    /// trades, and those whose end is not shown yet, are all there.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub keep_trades: u32,
    /// Asset types of pairs where the built-in guess is wrong: `crypto`, `forex`, `otc`.
    #[schemars(with = "BTreeMap<String, String>")]
    pub asset_types: BTreeMap<Symbol, String>,
}

/// How fast the sandbox's clock runs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
#[serde(untagged)]
pub enum SandboxSpeed {
    /// So many times real time.
    Times(f64),
    /// Lock-step.
    Named(NamedSpeed),
}

/// A speed that has a name.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum NamedSpeed {
    /// Straight from one moment at which something happens to the next.
    Max,
}

/// A moment: ms since the epoch, or ISO 8601.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(try_from = "StartText", into = "String")]
#[schemars(with = "StartText")]
pub struct StartTime(pub Millis);

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum StartText {
    Number(i64),
    Text(String),
}

/// Which wallet holds the money and takes trades. It is play money either way: `real` is for testing what a client does
/// before it trades real money.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum TradedWallet {
    /// The demo wallet.
    #[default]
    Demo,
    /// The real one.
    Real,
}

/// When the answer to an open is sent.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Replies {
    /// At once, with a `requestTime` that may lie in the future: for an embedded venue, whose clock the caller holds.
    AtOnce,
    /// When venue time reaches the order's arrival.
    #[default]
    WhenArrived,
}

/// What a missing `x-timestamp` does on the wallet and list endpoints (contract 7: not shown).
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum MissingTimestamp {
    /// 400: no client gets used to leaving it out.
    #[default]
    Refuse,
    /// Nothing.
    Tolerate,
}

impl SandboxSettings {
    pub fn check(&self) -> Result<(), SandboxError> {
        let change = |key, value: &dyn ToString, allowed| {
            Err(SandboxError::InvalidSetting { key, value: value.to_string(), allowed })
        };
        match self.speed {
            SandboxSpeed::Times(factor) if !(factor.is_finite() && factor > 0.0 && factor <= 1e6) => {
                return change("speed", &factor, "a factor above 0 and at most 1000000, or \"max\"");
            }
            SandboxSpeed::Times(_) | SandboxSpeed::Named(NamedSpeed::Max) => {}
        }
        for (key, value) in [("token", &self.token), ("api_key", &self.api_key)] {
            if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
                return change(key, value, "visible ASCII characters");
            }
        }
        for (key, amount) in [("min_amount", self.min_amount), ("max_amount", self.max_amount)] {
            if amount.is_sign_negative() {
                return change(key, &amount, "0 or more");
            }
        }
        if !(1..=1_000_000).contains(&self.keep_trades) {
            return change("keep_trades", &self.keep_trades, "1 to 1000000");
        }
        Ok(())
    }
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7701)),
            speed: SandboxSpeed::Times(120.0),
            start: None,
            data: Vec::new(),
            token: "sandbox-token".to_owned(),
            api_key: "sandbox-key".to_owned(),
            wallet: TradedWallet::default(),
            seed: 1,
            faults: FaultProfile::none(),
            replies: Replies::default(),
            rich_short: true,
            missing_timestamp: MissingTimestamp::default(),
            include_forming: true,
            short_close_type: CloseType::new(Millis::MINUTE).expect("one minute is a code"),
            close_types: Vec::new(),
            allow_coarse: false,
            min_amount: Decimal::ZERO,
            max_amount: Decimal::ZERO,
            keep_trades: 10_000,
            asset_types: BTreeMap::new(),
        }
    }
}

impl SandboxSpeed {
    pub const fn to_speed(self) -> Speed {
        match self {
            Self::Times(factor) => Speed::Times(factor),
            Self::Named(NamedSpeed::Max) => Speed::Max,
        }
    }
}

impl TryFrom<StartText> for StartTime {
    type Error = String;
    fn try_from(text: StartText) -> Result<Self, String> {
        match text {
            StartText::Number(number) => parse_moment(&number.to_string()),
            StartText::Text(text) => parse_moment(&text),
        }
        .map(Self)
        .map_err(|error| error.to_string())
    }
}

impl From<StartTime> for String {
    fn from(start: StartTime) -> Self {
        let moment = DateTime::from_timestamp_millis(start.0.get()).unwrap_or_default();
        moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(section: Value, expected: Result<(), &str>) {
        let read = serde_json::from_value::<SandboxSettings>(section).map_err(|error| error.to_string());
        let checked = read.and_then(|settings| settings.check().map_err(|error| error.to_string()));
        match (checked, expected) {
            (Err(error), Err(expected)) => assert!(error.starts_with(expected), "{error}"),
            (checked, expected) => assert_eq!(checked, expected.map_err(str::to_owned)),
        }
    }

    #[test]
    fn an_empty_section_is_the_default_and_the_default_is_sound() {
        let read: SandboxSettings = serde_json::from_value(json!({})).unwrap();
        assert_eq!(read, SandboxSettings::default());
        assert!(read.check().is_ok());
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(serde_json::from_value::<SandboxSettings>(written).unwrap(), read);
    }

    #[test]
    fn the_schema_documents_every_key() {
        let schema = schemars::schema_for!(SandboxSettings).to_value();
        let written = serde_json::to_value(SandboxSettings::default()).unwrap();
        for key in written.as_object().unwrap().keys().map(String::as_str).chain(["start"]) {
            assert!(schema["properties"][key]["description"].is_string(), "{key}");
        }
    }

    #[test]
    fn speed_and_start_are_written_as_people_write_them() {
        let section = json!({ "speed": "max", "start": "2024-03-01T00:00:00Z", "faults": "errors:0.5" });
        let settings: SandboxSettings = serde_json::from_value(section).unwrap();
        assert_eq!(settings.speed.to_speed(), Speed::Max);
        assert_eq!(settings.start, Some(StartTime(Millis::new(1_709_251_200_000))));
        check(json!({ "speed": 60, "start": 1_709_251_200_000_i64 }), Ok(()));
    }

    #[test]
    fn values_outside_their_range_and_unknown_keys_are_named() {
        check(json!({ "speed": 0.0 }), Err("[sandbox] speed = 0: use a factor above 0 and at most 1000000"));
        check(json!({ "token": "two words" }), Err("[sandbox] token = two words: use visible ASCII"));
        check(json!({ "min_amount": -1 }), Err("[sandbox] min_amount = -1: use 0 or more"));
        check(json!({ "keep_trades": 0 }), Err("[sandbox] keep_trades = 0: use 1 to 1000000"));
        check(json!({ "tokn": "x" }), Err("unknown field `tokn`"));
    }
}
