//! Explanations of trades and of moments without a trade.

mod audit;
mod before;
mod conditions;
mod doubt;
mod indicators;
mod last;
mod moment;
mod step;
mod trade;

pub use conditions::shorten_condition;
pub use indicators::MAX_REPLAYED_ENTRIES;
pub use last::{LastDecisions, read_last_decisions};
pub use moment::{MomentQuery, MomentRequest, read_moment};
pub use trade::{TradeRequest, read_trade};

use crate::RecordsError;
use crate::lines::{is_candle, parse};
use crate::run::RecordedRun;
use candlewick_engine::{BotSettings, Event, EventKind, Lateness, Origin, RiskSettings, Rule};
use candlewick_journal::StoredLine;
use candlewick_sdk::{Candle, Millis, Series};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
struct CandleLine {
    pub seq: u64,
    pub series: Series,
    #[serde(flatten)]
    pub candle: Candle,
    pub close_time: Millis,
    pub received: Millis,
    pub origin: Origin,
}

impl CandleLine {
    fn new(stored: &StoredLine, run: &RecordedRun) -> Result<Option<Self>, RecordsError> {
        if !is_candle(stored) || stored.line.run != run.number {
            return Ok(None);
        }
        let event: Event = parse(stored)?;
        let EventKind::Candle { series, candle, origin } = event.kind else { return Ok(None) };
        let series = run.series.get(series.index()).copied();
        let series = series.ok_or_else(|| RecordsError::unreadable_entry(stored, "unknown series index"))?;
        let (seq, received, close_time) = (stored.seq, event.received, candle.close_time(series.interval));
        Ok(Some(Self { seq, series, candle, close_time, received, origin }))
    }
}

fn describe_refusal(
    rule: Rule,
    bot: &BotSettings,
    times: (Millis, Millis),
    risk: Option<&RiskSettings>,
) -> String {
    let words = risk.map_or_else(|| rule.describe(), |risk| rule.describe_with_setting(risk, &bot.name));
    rule.add_lateness(words, Lateness::new(times, bot.interval.length(), risk))
}
