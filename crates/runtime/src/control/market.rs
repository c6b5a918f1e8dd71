//! How the market's data reach a run: the candle that comes the latest, and the prices that stream or should.

use candlewick_sdk::{Interval, Millis, Series, Symbol};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the market's data come at present.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarketState {
    /// Of all series the one whose candle comes the latest after its close; none before any candle was due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_candle: Option<SlowestCandle>,
    /// The prices that stream, where the venue was asked to stream them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamState>,
    /// Series whose candles are late by more than two intervals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<LateSeries>,
}

/// One of the venue's two APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VenueApi {
    /// The trading token API.
    Trading,
    /// The symbol price API.
    Prices,
}

/// How an API of the venue answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiState {
    /// Which API.
    pub api: VenueApi,
    /// Venue time of its last answer, `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Millis>,
    /// Whether requests fail and it has not answered for [`RunState::SILENT_AFTER`](super::RunState::SILENT_AFTER).
    pub is_silent: bool,
}

/// How the APIs of the venue answer that were asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VenueHealth(pub Vec<ApiState>);

/// A series whose candles are late by more than two intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateSeries {
    /// The symbol of the candles.
    pub symbol: Symbol,
    /// Their length.
    pub interval: Interval,
    /// Close time of the first missing candle.
    pub since: Millis,
    /// Whether the last request for them failed; else it was answered without the candle.
    pub is_unanswered: bool,
}

/// A series without candles whose prices stand still, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuietSeries {
    pub(crate) series: Series,
    /// Close time of the first missing candle.
    pub(crate) since: Millis,
}

impl VenueApi {
    /// Both, in the order of their discriminants.
    pub const ALL: [Self; 2] = [Self::Trading, Self::Prices];

    /// The name in messages.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Trading => "the trading API",
            Self::Prices => "the price API",
        }
    }
}

/// A candle, and how late it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowestCandle {
    /// The candle's symbol.
    pub symbol: Symbol,
    /// How long its candles are.
    pub interval: Interval,
    /// Venue time from its close until it came, or until now.
    pub delay_ms: Millis,
    /// Whether it has come; else it is waited for.
    pub has_come: bool,
}

/// How many symbols' prices stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamState {
    /// Symbols whose prices come by themselves.
    pub streaming: usize,
    /// Symbols whose prices strategies want; those that do not stream are asked for.
    pub wanted: usize,
    /// Since when, in venue time, at least one of them does not; none while all stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed_since: Option<Millis>,
}

impl SlowestCandle {
    pub(crate) const fn of(series: Series, delay_ms: Millis, has_come: bool) -> Self {
        Self { symbol: series.symbol, interval: series.interval, delay_ms, has_come }
    }
}

/// `ETHUSDT 1m, 0.4 s after its close`.
impl fmt::Display for SlowestCandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let series = Series { symbol: self.symbol, interval: self.interval };
        let seconds = self.delay_ms.get() as f64 / 1_000.0;
        let what = if self.has_come { "after its close" } else { "past its close and still waited for" };
        write!(f, "{series}, {seconds:.1} s {what}")
    }
}

/// `ETHUSDT 1m: no candle since 2026-01-05 02:31:00 UTC, requests fail`.
impl fmt::Display for LateSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let series = Series { symbol: self.symbol, interval: self.interval };
        let why = if self.is_unanswered { "requests fail" } else { "the price API answers without it" };
        write!(f, "{series}: no candle since {}, {why}", describe_time(self.since))
    }
}

/// `ETHUSDT 1m: neither candle nor price since 2026-01-05 02:31:00 UTC: ...`.
impl fmt::Display for QuietSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: neither candle nor price since {}: the market is closed, or the venue's prices stand still",
            self.series,
            describe_time(self.since)
        )
    }
}

/// Formats a time to the second, with its zone.
pub(crate) fn describe_time(at: Millis) -> String {
    let time = chrono::DateTime::from_timestamp_millis(at.get());
    time.map_or_else(|| format!("{at} ms"), |time| time.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// `3 of 5 symbols`.
impl fmt::Display for StreamState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { streaming, wanted, .. } = self;
        let symbols = if *wanted == 1 { "symbol" } else { "symbols" };
        write!(f, "{streaming} of {wanted} {symbols}")?;
        if streaming < wanted { f.write_str("; the others are asked for") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_candle_and_a_stream_are_said_in_words() {
        let series = Series { symbol: "ETHUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let slowest = |delay, has_come| SlowestCandle::of(series, Millis::new(delay), has_come).to_string();
        assert_eq!(slowest(440, true), "ETHUSDT 1m, 0.4 s after its close");
        assert_eq!(slowest(12_300, false), "ETHUSDT 1m, 12.3 s past its close and still waited for");
        let stream = |streaming, wanted| StreamState { streaming, wanted, missed_since: None }.to_string();
        assert_eq!(stream(1, 1), "1 of 1 symbol");
        assert_eq!(stream(3, 5), "3 of 5 symbols; the others are asked for");
    }
}
