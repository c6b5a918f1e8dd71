//! The recorded candles as a market that prices trades.

use crate::lines::is_candle;
use crate::run::RecordedRun;
use candlewick_engine::{Event, EventKind};
use candlewick_journal::{LineKind, StoredLine};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Series, Symbol};
use candlewick_simulator::Market;
use std::collections::BTreeMap;

/// Venues report prices by the whole second, so a price may belong to a neighboring second.
const AROUND: Millis = Millis::SECOND;

#[derive(Default)]
pub(super) struct RecordedCandles {
    series: BTreeMap<Series, BTreeMap<Millis, Candle>>,
}

impl RecordedCandles {
    pub(super) fn of(lines: &[StoredLine], runs: &[RecordedRun]) -> Self {
        let mut recorded = Self::default();
        let mut series = Vec::new();
        for stored in lines {
            if stored.line.kind == LineKind::Run {
                let run = runs.iter().find(|run| run.seq == stored.seq);
                series = run.map(RecordedRun::series).unwrap_or_default().to_vec();
            } else if is_candle(stored)
                && let Ok(Event { kind: EventKind::Candle { series: id, candle, .. }, .. }) =
                    serde_json::from_str(&stored.line.body)
                && let Some(series) = series.get(id.index())
            {
                recorded.series.entry(*series).or_default().entry(candle.time()).or_insert(candle);
            }
        }
        recorded
    }

    pub(super) fn markets(&self) -> Vec<Market> {
        let mut finest: BTreeMap<Symbol, Series> = BTreeMap::new();
        for series in self.series.keys() {
            let known = finest.entry(series.symbol).or_insert(*series);
            *known = if series.interval < known.interval { *series } else { *known };
        }
        let market = |series: &Series| {
            let candles: Vec<Candle> = self.series.get(series)?.values().copied().collect();
            let prices = CandleSeries::new(*series, candles).ok()?;
            Some(Market { prices, detail: Vec::new() })
        };
        finest.values().filter_map(market).collect()
    }

    pub(super) fn has_gap_at(&self, symbol: Symbol, at: Millis) -> bool {
        let finest = self.series.iter().filter(|(series, _)| series.symbol == symbol);
        let Some((series, candles)) = finest.min_by_key(|(series, _)| series.interval) else { return true };
        let length = Interval::length(series.interval);
        let is_missing = |moment: Millis| {
            let open = moment.floor_to(length);
            !candles.contains_key(&open) && candles.range(open..).next().is_some()
        };
        is_missing(at - AROUND) || is_missing(at + AROUND)
    }

    pub(super) fn range_at(&self, symbol: Symbol, at: Millis) -> Option<(f64, f64)> {
        let series =
            self.series.keys().filter(|series| series.symbol == symbol).min_by_key(|one| one.interval)?;
        let candles = self.series.get(series)?;
        let length = Interval::length(series.interval);
        let first = (at - AROUND).floor_to(length);
        // A candle that ends at the first moment shows its price too.
        let around = candles.range(first - length..=at + AROUND);
        let near = around.map(|(_, candle)| candle).filter(|candle| candle.time() + length >= at - AROUND);
        near.map(|candle| (candle.low(), candle.high()))
            .reduce(|(low, high), (other_low, other_high)| (low.min(other_low), high.max(other_high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Ohlcv;

    #[test]
    fn a_price_belongs_to_the_candles_around_its_moment() {
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let candle = |minute: i64, low: f64, high: f64| {
            let numbers = Ohlcv { open: low, high, low, close: high, volume: 0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        };
        let mut recorded = RecordedCandles::default();
        let candles = recorded.series.entry(series).or_default();
        for candle in [candle(1, 10.0, 20.0), candle(2, 30.0, 40.0), candle(5, 1.0, 2.0)] {
            candles.insert(candle.time(), candle);
        }
        for (at, expected) in [
            (90_000, Some((10.0, 20.0))),
            (119_999, Some((10.0, 40.0))),
            (121_000, Some((10.0, 40.0))),
            (121_001, Some((30.0, 40.0))),
            (240_000, None),
            (360_000, Some((1.0, 2.0))),
        ] {
            assert_eq!(recorded.range_at(series.symbol, Millis::new(at)), expected, "{at}");
        }
        for (at, expected) in [
            (120_000, false),
            (178_999, false),
            (179_000, true),
            (240_000, true),
            (360_000, false),
            (361_000, false),
        ] {
            assert_eq!(recorded.has_gap_at(series.symbol, Millis::new(at)), expected, "{at}");
        }
    }
}
