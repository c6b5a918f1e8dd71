//! Settings in the `[sandbox]` section: data, credentials, speed, and behaviour that the contract does not define.

use crate::{FaultProfile, SandboxError, parse_any_time};
use candlewick_broker::clock::Speed;
use candlewick_sdk::{CloseType, Millis, Symbol};
use chrono::{DateTime, SecondsFormat};
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

/// Settings of the sandbox. Defaults follow the contract, then the observed venue, then the strictest option.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// Address to listen on. Port 0 selects a free port.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// Clock speed as a multiple of real time, or `max` for lock-step with an embedded bot.
    pub speed: SandboxSpeed,
    /// Venue time at the start, in ms since 1970 or ISO 8601. The default leaves time for warm-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartTime>,
    /// Candle files, in the same form as the option `--data`.
    pub data: Vec<String>,
    /// Value of `api-token` that requests must send. Not secret.
    pub token: String,
    /// Value of `api-key` that requests must send. Not secret.
    pub api_key: String,
    /// Wallet that has the balance and accepts trades. The other wallet is empty.
    pub wallet: TradedWallet,
    /// Random seed for identifiers, faults and one-second prices.
    pub seed: u64,
    /// Injected faults: `none`, `mixed`, `all`, or a list such as `errors:0.2,latency:300ms`.
    pub faults: FaultProfile,
    /// Time at which the response to an order is sent.
    pub replies: Replies,
    /// Whether the response for a single trade includes its result, profit and prices.
    pub rich_short: bool,
    /// Handling of requests that lack a required `x-timestamp` header.
    pub missing_timestamp: MissingTimestamp,
    /// Whether candle responses include the forming (incomplete) candle.
    pub include_forming: bool,
    /// Duration of trades opened with a short order body (shape B), which states no duration.
    #[schemars(with = "String")]
    pub short_close_type: CloseType,
    /// Trade durations to offer. If empty, the sandbox offers all durations that the candle intervals allow.
    #[schemars(with = "Vec<String>")]
    pub close_types: Vec<CloseType>,
    /// Whether to accept trades shorter than a candle. Their prices are interpolated within the candle.
    pub allow_coarse: bool,
    /// Minimum stake, 0 for no limit.
    #[schemars(with = "f64")]
    pub min_amount: Decimal,
    /// Maximum stake, 0 for no limit.
    #[schemars(with = "f64")]
    pub max_amount: Decimal,
    /// Number of ended trades to retain. Trades that the API still reports as open are always retained.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub keep_trades: u32,
    /// Asset type of each pair (`crypto`, `forex` or `otc`), which overrides the detected type.
    #[schemars(with = "BTreeMap<String, String>")]
    pub asset_types: BTreeMap<Symbol, String>,
}

/// Speed of the sandbox's venue clock.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
#[serde(untagged)]
pub enum SandboxSpeed {
    /// Speed as a multiple of real time.
    Times(f64),
    /// Speed given by name, for lock-step with an embedded bot.
    Named(NamedSpeed),
}

/// Speeds that have a name.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum NamedSpeed {
    /// Maximum speed: the clock jumps from one event to the next.
    Max,
}

/// Venue time at the start, in milliseconds since 1970 or in ISO 8601.
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

/// Wallet that has the balance and accepts trades. Both wallets contain play money.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum TradedWallet {
    /// Trades use the demo wallet.
    #[default]
    Demo,
    /// Trades use the real wallet.
    Real,
}

/// Time at which the response to an order is sent.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Replies {
    /// Respond immediately, even if `requestTime` is in the future. Avoids a deadlock if the caller stops the clock.
    AtOnce,
    /// Respond when the venue clock reaches the arrival time of the order.
    #[default]
    WhenArrived,
}

/// Handling of wallet and list requests that lack the `x-timestamp` header (undefined in contract 7).
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum MissingTimestamp {
    /// Reject the request with status 400.
    #[default]
    Refuse,
    /// Accept the request.
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
            short_close_type: CloseType::new(Millis::MINUTE).expect("01:00 is a duration code"),
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
            StartText::Number(number) => parse_any_time(&number.to_string()),
            StartText::Text(text) => parse_any_time(&text),
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
    fn empty_section_is_the_valid_default() {
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
    fn parses_speed_and_start() {
        let section = json!({ "speed": "max", "start": "2024-03-01T00:00:00Z", "faults": "errors:0.5" });
        let settings: SandboxSettings = serde_json::from_value(section).unwrap();
        assert_eq!(settings.speed.to_speed(), Speed::Max);
        assert_eq!(settings.start, Some(StartTime(Millis::new(1_709_251_200_000))));
        check(json!({ "speed": 60, "start": 1_709_251_200_000_i64 }), Ok(()));
    }

    #[test]
    fn rejects_invalid_values_and_unknown_keys() {
        check(json!({ "speed": 0.0 }), Err("[sandbox] speed = 0: use a factor above 0 and at most 1000000"));
        check(json!({ "token": "two words" }), Err("[sandbox] token = two words: use visible ASCII"));
        check(json!({ "min_amount": -1 }), Err("[sandbox] min_amount = -1: use 0 or more"));
        check(json!({ "keep_trades": 0 }), Err("[sandbox] keep_trades = 0: use 1 to 1000000"));
        check(json!({ "tokn": "x" }), Err("unknown field `tokn`"));
    }
}
