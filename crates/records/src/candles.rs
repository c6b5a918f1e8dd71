//! Candles that a journal's bots received, by series.

use crate::error::RecordsError;
use crate::lines::{is_candle, visit_all};
use crate::run::RecordedRun;
use candlewick_engine::{Event, EventKind};
use candlewick_journal::{LineKind, Reader};
use candlewick_sdk::{Candle, CandleSeries, Millis, Series};
use std::collections::BTreeMap;

pub async fn recorded_candles(
    reader: &mut Reader,
    run: Option<u64>,
) -> Result<Vec<CandleSeries>, RecordsError> {
    let mut found: BTreeMap<Series, BTreeMap<Millis, Candle>> = BTreeMap::new();
    let mut series: Vec<Series> = Vec::new();
    let read = visit_all(reader, |stored| {
        if stored.line.kind == LineKind::Run {
            let runs = RecordedRun::all_of(std::slice::from_ref(stored))?;
            series = runs.iter().flat_map(RecordedRun::series).copied().collect();
        } else if is_candle(stored) && run.is_none_or(|run| run == stored.line.run) {
            let event: Event = serde_json::from_str(&stored.line.body)
                .map_err(|error| RecordsError::unreadable(stored, error))?;
            if let EventKind::Candle { series: number, candle, .. } = event.kind {
                let of = series.get(number.index());
                let of = of.ok_or_else(|| RecordsError::unreadable(stored, "the run has no such series"))?;
                found.entry(*of).or_default().entry(candle.time()).or_insert(candle);
            }
        }
        Ok(())
    });
    read.await?;
    let made = found.into_iter().map(|(series, candles)| {
        let candles: Vec<Candle> = candles.into_values().collect();
        CandleSeries::new(series, candles)
            .map_err(|error| RecordsError::UnreadableCandles { series, problem: error.to_string() })
    });
    made.collect()
}
