//! Tables of recorded candles of one series.

use crate::error::RecordsError;
use crate::lines::is_candle;
use crate::moment::{clock, utc};
use crate::run::RecordedRun;
use crate::table::table;
use candlewick_engine::{Event, EventKind, Origin};
use candlewick_journal::StoredLine;
use candlewick_sdk::{Candle, Millis, Series, price_text};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub(super) struct CandleLine {
    pub seq: u64,
    pub series: Series,
    #[serde(flatten)]
    pub candle: Candle,
    pub close_time: Millis,
    pub received: Millis,
    pub origin: Origin,
}

impl CandleLine {
    pub(super) fn of(stored: &StoredLine, run: &RecordedRun) -> Result<Option<Self>, RecordsError> {
        if !is_candle(stored) || stored.line.run != run.number {
            return Ok(None);
        }
        let event: Event = serde_json::from_str(&stored.line.body)
            .map_err(|error| RecordsError::unreadable(stored, error))?;
        let EventKind::Candle { series, candle, origin } = event.kind else { return Ok(None) };
        let series = run.series().get(series.index()).copied();
        let series = series.ok_or_else(|| RecordsError::unreadable(stored, "the run has no such series"))?;
        let (seq, received) = (stored.seq, event.received);
        Ok(Some(Self {
            seq,
            series,
            candle,
            close_time: candle.close_time(series.interval),
            received,
            origin,
        }))
    }
}

pub(super) fn table_of(candles: &[CandleLine], marked: Millis) -> String {
    let mut rows = table(["candle of", "open", "high", "low", "close", ""]);
    for line in candles {
        let mark = match (line.close_time == marked, line.origin) {
            (true, _) => "decided on it",
            (false, Origin::Backfill) => "fetched later",
            (false, Origin::Live) => "",
        };
        let candle = &line.candle;
        rows.add_row([
            clock(candle.time()),
            price_text(candle.open()),
            price_text(candle.high()),
            price_text(candle.low()),
            price_text(candle.close()),
            mark.to_owned(),
        ]);
    }
    rows.trim_fmt()
}

pub(super) fn raw_table_of(candles: &[CandleLine]) -> String {
    let mut rows = table(["candle of", "open", "high", "low", "close", "received"]);
    for line in candles {
        let candle = &line.candle;
        let prices =
            [candle.open(), candle.high(), candle.low(), candle.close()].map(|price| price.to_string());
        rows.add_row([utc(candle.time())].into_iter().chain(prices).chain([utc(line.received)]));
    }
    rows.trim_fmt()
}
