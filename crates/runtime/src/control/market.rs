//! State of a run's market data and venue APIs, and the risk rules that block bots.

use candlewick_engine::{BotId, Obstacle, Rule, Session};
use candlewick_sdk::{Interval, Millis, Series, Symbol, escape_hidden};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarketState {
    /// Series whose candles arrive with the longest delay. `None` before the first candle is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_candle: Option<SlowestCandle>,
    /// State of the price stream. `None` if no price stream was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamState>,
    /// Series whose candles are more than two intervals late.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<LateSeries>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VenueApi {
    Trading,
    Prices,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiState {
    pub api: VenueApi,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Millis>,
    /// Whether requests to the API fail and its last response is older than
    /// [`RunState::SILENT_AFTER`](super::RunState::SILENT_AFTER).
    pub is_silent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VenueHealth(pub Vec<ApiState>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateSeries {
    pub symbol: Symbol,
    pub interval: Interval,
    pub since: Millis,
    pub is_unanswered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuietSeries {
    pub(crate) series: Series,
    pub(crate) since: Millis,
}

impl VenueApi {
    pub const ALL: [Self; 2] = [Self::Trading, Self::Prices];

    pub const fn label(self) -> &'static str {
        match self {
            Self::Trading => "the trading API",
            Self::Prices => "the price API",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowestCandle {
    pub symbol: Symbol,
    pub interval: Interval,
    pub delay_ms: Millis,
    pub has_come: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamState {
    pub streaming: usize,
    pub wanted: usize,
    /// Venue time since which at least one price is missing from the stream. `None` while all prices are streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed_since: Option<Millis>,
}

impl SlowestCandle {
    pub(crate) const fn new(series: Series, delay_ms: Millis, has_come: bool) -> Self {
        Self { symbol: series.symbol, interval: series.interval, delay_ms, has_come }
    }
}

impl fmt::Display for SlowestCandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let series = Series { symbol: self.symbol, interval: self.interval };
        let seconds = self.delay_ms.get() as f64 / 1_000.0;
        let what = if self.has_come { "after its close" } else { "after its close, still missing" };
        write!(f, "{series}, {seconds:.1} s {what}")
    }
}

impl fmt::Display for LateSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let series = Series { symbol: self.symbol, interval: self.interval };
        let why = if self.is_unanswered { "requests fail" } else { "although the price API responds" };
        write!(f, "{series}: no candle since {}, {why}", describe_time(self.since))
    }
}

impl fmt::Display for QuietSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: no candle and no new price since {}. The market is closed, or the venue's prices are frozen",
            self.series,
            describe_time(self.since)
        )
    }
}

pub(crate) fn describe_time(at: Millis) -> String {
    let time = chrono::DateTime::from_timestamp_millis(at.get());
    time.map_or_else(|| format!("{at} ms"), |time| time.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

impl fmt::Display for StreamState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { streaming, wanted, .. } = self;
        let symbols = if *wanted == 1 { "symbol" } else { "symbols" };
        write!(f, "{streaming} of {wanted} {symbols}")?;
        if streaming < wanted { f.write_str("; the other prices are polled") } else { Ok(()) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blockage {
    pub rule: String,
    pub text: String,
    pub bots: Vec<String>,
    pub all: bool,
    /// Venue time at which the block ends, `None` if only an event or the operator can end the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
    pub brief: bool,
}

impl Blockage {
    pub fn list(session: &Session, now: Millis) -> Vec<Self> {
        let obstacles = session.obstacles(now).into_iter();
        let of = |obstacle: Obstacle| {
            let name = |bot: &BotId| session.bot_names().get(bot.index()).cloned();
            Self {
                all: obstacle.bots.len() == session.bot_names().len(),
                bots: obstacle.bots.iter().filter_map(name).collect(),
                rule: obstacle.rule.to_string(),
                text: obstacle.text,
                until: obstacle.until,
                brief: obstacle.is_brief,
            }
        };
        obstacles.filter(|obstacle| obstacle.rule != Rule::Halted).map(of).collect()
    }

    /// Like [`Self::list`], for a session restored from a journal. Omits the rules about stale data and clock skew.
    pub fn list_from_journal(session: &Session, now: Millis) -> Vec<Self> {
        let mut all = Self::list(session, now);
        all.retain(|one| [Rule::StaleData, Rule::ClockSkew].iter().all(|rule| rule.as_str() != one.rule));
        all
    }

    pub fn are_all_bots_blocked(blockages: &[Self], bots: usize) -> bool {
        let lasting = blockages.iter().filter(|blockage| !blockage.brief);
        let stopped: BTreeSet<&String> = lasting.flat_map(|blockage| &blockage.bots).collect();
        bots > 0 && stopped.len() == bots
    }

    pub fn describe(&self) -> String {
        if self.all {
            return self.text.clone();
        }
        format!("{}: {}", escape_hidden(&self.bots.join(", ")), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_slow_candles_and_streams() {
        let series = Series { symbol: "ETHUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let slowest = |delay, has_come| SlowestCandle::new(series, Millis::new(delay), has_come).to_string();
        assert_eq!(slowest(440, true), "ETHUSDT 1m, 0.4 s after its close");
        assert_eq!(slowest(12_300, false), "ETHUSDT 1m, 12.3 s after its close, still missing");
        let stream = |streaming, wanted| StreamState { streaming, wanted, missed_since: None }.to_string();
        assert_eq!(stream(1, 1), "1 of 1 symbol");
        assert_eq!(stream(3, 5), "3 of 5 symbols; the other prices are polled");
    }
}
