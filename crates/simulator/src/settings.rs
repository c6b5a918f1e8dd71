//! The `[simulation]` section: settings of the simulated venue, and errors for invalid settings and markets.

use crate::RecordedLatency;
use crate::path::Tick;
use candlewick_sdk::{CloseType, Interval, Millis, Money, Payout, Symbol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of the simulated venue. The defaults match the real venue.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationSettings {
    /// Payout of a win, in percent of the stake.
    #[schemars(with = "f64")]
    pub payout_percent: Payout,
    /// Per-symbol overrides of `payout_percent`, such as `{ EURUSD = 85.0 }`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub payout_percent_by_symbol: BTreeMap<Symbol, Payout>,
    /// Latency from the decision to the order's arrival at the venue, in milliseconds.
    #[schemars(with = "i64", range(min = 0))]
    pub latency_ms: Millis,
    /// Latencies recorded by a live session. Each order's latency is drawn from them. If omitted, `latency_ms` applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_latency: Option<RecordedLatency>,
    /// Rounding of a trade's open time.
    pub open_rounding: OpenRounding,
    /// Delay from the close of a trade until its settlement is known, in milliseconds.
    #[schemars(with = "i64", range(min = 0))]
    pub settle_delay_ms: Millis,
    /// Cutoff of `CANDLE_CLOSE` trades, in milliseconds. If the candle ends within this time after the trade opens,
    /// the trade closes with the next candle. The default is 30,000 for durations of at least 60 s, otherwise 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i64>", range(min = 0))]
    pub candle_close_cutoff_ms: Option<Millis>,
    /// Interpolation of prices inside a candle.
    pub path: PathKind,
    /// Result of a trade with equal open and close prices.
    pub draw: DrawRule,
    /// Maximum number of consecutive missing candles that are filled with the last close.
    pub max_gap_intervals: u32,
    /// Stress factor `k`. 0 disables stress, 0.5 is typical.
    /// Stress shifts prices against the trade by `k x (high - low) x sqrt(max(latency, 1 s) / interval)`, with `high`
    /// and `low` of the candle that sets the price.
    #[schemars(range(min = 0.0))]
    pub stress: f64,
    /// Tick size of each symbol. Interpolated prices are rounded to a multiple of the tick size.
    #[schemars(with = "BTreeMap<String, f64>")]
    pub ticks: BTreeMap<Symbol, f64>,
}

/// Rounding of a trade's open time.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum OpenRounding {
    /// The trade opens at the end of the second in which the order arrives. Prices exist only for whole seconds.
    #[default]
    SecondEnd,
    /// The trade opens at the millisecond of arrival.
    None,
}

/// Interpolation of prices inside a candle.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// Linear interpolation between open and close.
    #[default]
    Linear,
    /// The price is the candle's open until the candle closes.
    Open,
}

/// Result of a trade with equal open and close prices.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum DrawRule {
    /// The trade is a draw and the stake is refunded, as at the real venue.
    #[default]
    Refund,
    /// The trade is lost.
    Loss,
}

impl SimulationSettings {
    pub fn check(&self) -> Result<(), SimulatorError> {
        let spans = [
            ("latency_ms", Some(self.latency_ms)),
            ("settle_delay_ms", Some(self.settle_delay_ms)),
            ("candle_close_cutoff_ms", self.candle_close_cutoff_ms),
        ];
        for (key, span) in spans {
            if let Some(span) = span
                && !(Millis::ZERO..=Millis::DAY).contains(&span)
            {
                return Err(bad_setting(key.to_owned(), span.to_string(), "0 to 86400000"));
            }
        }
        let percent = self.payout_percent.to_percent();
        if let Some(meant) = Payout::percent_from_fraction(percent) {
            return Err(SimulatorError::PayoutAsShare { percent, meant });
        }
        for (symbol, payout) in &self.payout_percent_by_symbol {
            if Payout::percent_from_fraction(payout.to_percent()).is_some() {
                let key = format!("payout_percent_by_symbol.{symbol}");
                return Err(bad_setting(key, payout.to_string(), "a payout in percent, such as 85"));
            }
        }
        if let Some(recorded) = &self.recorded_latency {
            recorded.check()?;
        }
        if !(self.stress.is_finite() && self.stress >= 0.0) {
            return Err(bad_setting("stress".to_owned(), self.stress.to_string(), "0 or more"));
        }
        for (symbol, size) in &self.ticks {
            if Tick::new(*size).is_none() {
                return Err(bad_setting(format!("ticks.{symbol}"), size.to_string(), "a price step above 0"));
            }
        }
        Ok(())
    }

    #[inline]
    pub fn payout_of(&self, symbol: Symbol) -> Payout {
        self.payout_percent_by_symbol.get(&symbol).copied().unwrap_or(self.payout_percent)
    }

    #[inline]
    pub fn latency_of(&self, symbol: Symbol, number: u64) -> Millis {
        self.recorded_latency.as_ref().map_or(self.latency_ms, |recorded| recorded.draw(symbol, number))
    }

    #[inline]
    pub fn candle_close_cutoff(&self, duration: Millis) -> Millis {
        const DEFAULT_CUTOFF: Millis = Millis::from_seconds(30); // observed: expiry
        match self.candle_close_cutoff_ms {
            Some(cutoff) => cutoff,
            None if duration >= Millis::MINUTE => DEFAULT_CUTOFF,
            None => Millis::ZERO,
        }
    }
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self {
            payout_percent: Payout::from_parts(800_000).expect("80 % is a payout"),
            payout_percent_by_symbol: BTreeMap::new(),
            latency_ms: Millis::from_seconds(2),
            recorded_latency: None,
            open_rounding: OpenRounding::default(),
            settle_delay_ms: Millis::from_seconds(4),
            candle_close_cutoff_ms: None,
            path: PathKind::default(),
            draw: DrawRule::default(),
            max_gap_intervals: 0,
            stress: 0.0,
            ticks: BTreeMap::new(),
        }
    }
}

fn bad_setting(key: String, value: String, allowed: &'static str) -> SimulatorError {
    SimulatorError::ChangeSetting { key, value, allowed }
}

/// Invalid settings, markets or expiries. Declined orders are answers, not errors ([`crate::Refusal`]).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulatorError {
    #[error("[simulation] {key} = {value}: use {allowed}")]
    ChangeSetting { key: String, value: String, allowed: &'static str },
    /// The payout looks like a fraction of the stake instead of a percentage.
    #[error("[simulation] payout_percent = {percent}: payouts are in percent; did you mean {meant}?")]
    PayoutAsShare { percent: f64, meant: f64 },
    #[error("the initial balance of {} minor units is negative; use 0 or more", balance.minor())]
    RaiseBalance { balance: Money },
    #[error("{symbol} has two markets; use one per symbol, with its finer candles as detail")]
    MergeMarkets { symbol: Symbol },
    #[error("the detail series of {symbol} has candles of {detail}; use finer candles of {symbol}")]
    ReplaceDetail { symbol: Symbol, detail: Symbol },
    #[error("the detail series of {symbol} has {detail} candles, not finer than {interval}; use finer ones")]
    RefineDetail { symbol: Symbol, interval: Interval, detail: Interval },
    #[error(
        "an expiry of {close_type} is shorter than the {interval} candles of {symbol}; use a longer expiry or finer candles"
    )]
    AddDetail { close_type: CloseType, interval: Interval, symbol: Symbol },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(section: Value, expected: Result<(), &str>) {
        let read = serde_json::from_value::<SimulationSettings>(section).map_err(|error| error.to_string());
        let checked = read.and_then(|settings| settings.check().map_err(|error| error.to_string()));
        assert_eq!(checked, expected.map_err(str::to_owned));
    }

    #[test]
    fn payout_as_fraction_of_the_stake_is_rejected_with_a_hint() {
        let said = "[simulation] payout_percent = 0.85: payouts are in percent; did you mean 85?";
        check(json!({ "payout_percent": 0.85 }), Err(said));
        let said = "[simulation] payout_percent = 0.57: payouts are in percent; did you mean 57?";
        check(json!({ "payout_percent": 0.57 }), Err(said));
        check(json!({ "payout_percent": 2.5 }), Ok(()));
        let said = "[simulation] payout_percent_by_symbol.EURUSD = 0.85: use a payout in percent, such as 85";
        check(json!({ "payout_percent_by_symbol": { "EURUSD": 0.85 } }), Err(said));
    }

    #[test]
    fn empty_section_has_defaults_of_the_observed_venue() {
        let written = serde_json::to_value(SimulationSettings::default()).unwrap();
        let expected = json!({
            "payout_percent": 80.0, "latency_ms": 2000, "open_rounding": "second_end", "settle_delay_ms": 4000,
            "path": "linear", "draw": "refund", "max_gap_intervals": 0, "stress": 0.0, "ticks": {},
        });
        assert_eq!(written, expected);
        let empty: SimulationSettings = serde_json::from_value(json!({})).unwrap();
        assert_eq!(empty, SimulationSettings::default());
    }

    #[test]
    fn every_key_can_be_set() {
        let section = json!({
            "payout_percent": 87.5, "latency_ms": 0, "open_rounding": "none", "settle_delay_ms": 0,
            "candle_close_cutoff_ms": 5000, "path": "open", "draw": "loss", "max_gap_intervals": 2,
            "stress": 0.5, "ticks": { "EURUSD": 0.00001 }, "payout_percent_by_symbol": { "EURUSD": 91.0 },
        });
        let settings: SimulationSettings = serde_json::from_value(section.clone()).unwrap();
        assert_eq!(serde_json::to_value(settings).unwrap(), section);
        check(section, Ok(()));
    }

    #[test]
    fn values_outside_their_range_are_named() {
        check(json!({ "latency_ms": -1 }), Err("[simulation] latency_ms = -1: use 0 to 86400000"));
        check(json!({ "settle_delay_ms": -4 }), Err("[simulation] settle_delay_ms = -4: use 0 to 86400000"));
        let words = "[simulation] candle_close_cutoff_ms = 86400001: use 0 to 86400000";
        check(json!({ "candle_close_cutoff_ms": 86_400_001 }), Err(words));
        check(json!({ "stress": -0.5 }), Err("[simulation] stress = -0.5: use 0 or more"));
        let words = "[simulation] ticks.EURUSD = 0: use a price step above 0";
        check(json!({ "ticks": { "EURUSD": 0.0 } }), Err(words));
    }

    #[test]
    fn rejects_unknown_key() {
        let read = serde_json::from_value::<SimulationSettings>(json!({ "latency": 1 }));
        assert!(read.unwrap_err().to_string().starts_with("unknown field `latency`"));
    }
}
