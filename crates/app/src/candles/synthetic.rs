//! Synthetic candles equal to `backtest-data/`, so that a first run needs no files.

use candlewick_history::{GenerateSettings, HistoryError, generate, known_market, resample};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Series, Symbol};

const SYMBOLS: [&str; 3] = ["BTCUSDT", "EURUSD", "GBPUSD"];
/// 2026-01-05 00:00 UTC, a Monday.
const START: Millis = Millis::new(1_767_571_200_000);
const DAYS: u32 = 14;
const DETAIL_DAYS: i64 = 4;

pub(super) fn candles() -> Result<Vec<CandleSeries>, HistoryError> {
    let mut all = Vec::with_capacity(2 * SYMBOLS.len());
    for name in SYMBOLS {
        let symbol = Symbol::new(name).expect("a name of the table is a symbol");
        let market = known_market(symbol).expect("a name of the table is of a known market");
        let detail_interval = Interval::from_seconds(5).expect("five seconds are an interval");
        let settings = GenerateSettings::of_market(symbol, market, START, DAYS);
        let fine = generate(&GenerateSettings { interval: detail_interval, ..settings })?;
        // Joined five-second candles of a seed are its one-minute candles, so the walk is walked once.
        all.push(resample(&fine, Interval::MINUTE)?);
        all.push(last_days(&fine));
    }
    Ok(all)
}

fn last_days(fine: &CandleSeries) -> CandleSeries {
    let from = START + Millis::DAY * (i64::from(DAYS) - DETAIL_DAYS);
    let kept: Vec<Candle> = fine.candles().iter().filter(|candle| candle.time() >= from).copied().collect();
    let series = Series { symbol: fine.symbol(), interval: fine.interval() };
    CandleSeries::new(series, kept).expect("the end of a series is a series")
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_history::{CandleFile, data_hash, no_progress};
    use std::path::Path;

    #[test]
    fn the_candles_are_those_of_the_shipped_files() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../backtest-data");
        let made = candles().unwrap();
        let shipped: Vec<CandleSeries> = made
            .iter()
            .map(|one| CandleFile::in_folder(&folder, one.series()).unwrap().read(&mut no_progress).unwrap())
            .collect();
        assert_eq!(data_hash(&made), data_hash(&shipped));
    }
}
