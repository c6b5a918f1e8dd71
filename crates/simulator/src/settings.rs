//! Settings of the simulated venue: the `[simulation]` section, and errors of settings and markets.

use crate::RecordedLatency;
use crate::path::Tick;
use candlewick_sdk::{CloseType, Interval, Millis, Money, Payout, Symbol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the simulated venue opens, prices and settles trades. The defaults do as the venue does.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationSettings {
    /// What a win pays, in percent of the stake.
    #[schemars(with = "f64")]
    pub payout_percent: Payout,
    /// The same for single symbols, in place of it: `{ EURUSD = 85.0 }`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub payout_percent_by_symbol: BTreeMap<Symbol, Payout>,
    /// From the decision to the order's arrival at the venue, in milliseconds.
    #[schemars(with = "i64", range(min = 0))]
    pub latency_ms: Millis,
    /// Latencies that a live session recorded. Each order draws one of them; without them each takes `latency_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_latency: Option<RecordedLatency>,
    /// Which moment an arriving order opens at.
    pub open_rounding: OpenRounding,
    /// From a trade's close to the moment its settlement becomes known, in milliseconds.
    #[schemars(with = "i64", range(min = 0))]
    pub settle_delay_ms: Millis,
    /// A `CANDLE_CLOSE` trade with this much or less left of its candle closes with the next one, in
    /// milliseconds. Left out: 30,000 for durations of 60 s and more, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i64>", range(min = 0))]
    pub candle_close_cutoff_ms: Option<Millis>,
    /// The price strictly inside a candle.
    pub path: PathKind,
    /// What equal open and close prices do to the stake.
    pub draw: DrawRule,
    /// For how many missing candles in a row the last close stands in.
    pub max_gap_intervals: u32,
    /// Stress factor `k`: entry and exit are shifted against the trade by
    /// `k x (high - low) x sqrt(max(latency, 1 s) / interval)` of their candle. 0 is off, 0.5 is
    /// the usual stress.
    #[schemars(range(min = 0.0))]
    pub stress: f64,
    /// The smallest price step of each symbol; interpolated prices are rounded to it.
    #[schemars(with = "BTreeMap<String, f64>")]
    pub ticks: BTreeMap<Symbol, f64>,
}

/// Which moment an arriving order opens at.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum OpenRounding {
    /// The end of the second of its arrival (`observed: expiry`); prices are those of whole seconds.
    #[default]
    SecondEnd,
    /// The millisecond of its arrival.
    None,
}

/// The price strictly inside a candle.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// On the straight line from open to close.
    #[default]
    Linear,
    /// The candle's open until its close.
    Open,
}

/// What equal open and close prices do to the stake.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum DrawRule {
    /// The trade is a draw and the stake returns (`observed: money`).
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
                return Err(change(key.to_owned(), span.to_string(), "0 to 86400000"));
            }
        }
        let percent = self.payout_percent.to_percent();
        if let Some(meant) = Payout::percent_of_share(percent) {
            return Err(SimulatorError::PayoutAsShare { percent, meant });
        }
        for (symbol, payout) in &self.payout_percent_by_symbol {
            if Payout::percent_of_share(payout.to_percent()).is_some() {
                let key = format!("payout_percent_by_symbol.{symbol}");
                return Err(change(key, payout.to_string(), "a payout in percent, such as 85"));
            }
        }
        if let Some(recorded) = &self.recorded_latency {
            recorded.check()?;
        }
        if !(self.stress.is_finite() && self.stress >= 0.0) {
            return Err(change("stress".to_owned(), self.stress.to_string(), "0 or more"));
        }
        for (symbol, size) in &self.ticks {
            if Tick::new(*size).is_none() {
                return Err(change(format!("ticks.{symbol}"), size.to_string(), "a price step above 0"));
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
    pub fn cutoff_of(&self, duration: Millis) -> Millis {
        const USUAL: Millis = Millis::from_seconds(30); // observed: expiry
        match self.candle_close_cutoff_ms {
            Some(cutoff) => cutoff,
            None if duration >= Millis::MINUTE => USUAL,
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

fn change(key: String, value: String, allowed: &'static str) -> SimulatorError {
    SimulatorError::ChangeSetting { key, value, allowed }
}

/// Invalid settings, markets or expiries. Refused orders are not errors but answers ([`crate::Refusal`]).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulatorError {
    #[error("[simulation] {key} = {value}: use {allowed}")]
    ChangeSetting { key: String, value: String, allowed: &'static str },
    /// A payout given as a fraction of the stake instead of a percentage.
    #[error("[simulation] payout_percent = {percent}: payouts are in percent; did you mean {meant}?")]
    PayoutAsShare { percent: f64, meant: f64 },
    #[error("the wallet cannot start with {} minor units: use 0 or more", balance.minor())]
    RaiseBalance { balance: Money },
    #[error("{symbol} is given twice: give one market for each symbol, with its finer candles as detail")]
    MergeMarkets { symbol: Symbol },
    #[error("the detail series of {symbol} is of {detail}: give finer candles of {symbol}")]
    ReplaceDetail { symbol: Symbol, detail: Symbol },
    #[error("the detail series of {symbol} has {detail} candles, no finer than {interval}: give finer ones")]
    RefineDetail { symbol: Symbol, interval: Interval, detail: Interval },
    #[error(
        "an expiry of {close_type} is shorter than the {interval} candles of {symbol}: use a longer expiry, \
         or add candles of {symbol} at {close_type} or finer"
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
    fn a_payout_as_a_share_of_the_stake_is_not_taken_for_a_percent() {
        let said = "[simulation] payout_percent = 0.85: payouts are in percent; did you mean 85?";
        check(json!({ "payout_percent": 0.85 }), Err(said));
        let said = "[simulation] payout_percent = 0.57: payouts are in percent; did you mean 57?";
        check(json!({ "payout_percent": 0.57 }), Err(said));
        check(json!({ "payout_percent": 2.5 }), Ok(()));
        let said = "[simulation] payout_percent_by_symbol.EURUSD = 0.85: use a payout in percent, such as 85";
        check(json!({ "payout_percent_by_symbol": { "EURUSD": 0.85 } }), Err(said));
    }

    #[test]
    fn an_empty_section_is_the_venue_as_observed() {
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
    fn an_unknown_key_is_an_error() {
        let read = serde_json::from_value::<SimulationSettings>(json!({ "latency": 1 }));
        assert!(read.unwrap_err().to_string().starts_with("unknown field `latency`"));
    }
}
