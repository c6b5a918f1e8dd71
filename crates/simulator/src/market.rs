//! Candles that set the prices of a symbol's trades, and a check that they are fine enough for an expiry.

use crate::SimulatorError;
use crate::track::CandleLookup;
use candlewick_sdk::{CandleSeries, Expiry, Interval, Millis, Symbol};
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct Market {
    pub prices: CandleSeries,
    /// Finer candles of the same symbol. At any time, the finest series that has a candle sets the price.
    pub detail: Vec<CandleSeries>,
}

impl Market {
    pub fn symbol(&self) -> Symbol {
        self.prices.symbol()
    }

    pub fn finest_interval(&self) -> Interval {
        self.detail.iter().map(CandleSeries::interval).fold(self.prices.interval(), Interval::min)
    }

    pub fn check(&self) -> Result<(), SimulatorError> {
        let symbol = self.symbol();
        for detail in &self.detail {
            if detail.symbol() != symbol {
                return Err(SimulatorError::ReplaceDetail { symbol, detail: detail.symbol() });
            }
            if detail.interval() >= self.prices.interval() {
                let (interval, detail) = (self.prices.interval(), detail.interval());
                return Err(SimulatorError::RefineDetail { symbol, interval, detail });
            }
        }
        Ok(())
    }
}

/// Checks that at least part of the market has candles that are fine enough for this expiry.
/// [`coarse_periods`] returns the periods without such candles. With `--allow-coarse`, callers
/// ignore the error, and trades may then open and close inside a single candle.
pub fn check_expiry(expiry: Expiry, market: &Market) -> Result<(), SimulatorError> {
    let interval = market.finest_interval();
    if expiry.close_type.duration() < interval.length() {
        let (close_type, symbol) = (expiry.close_type, market.symbol());
        return Err(SimulatorError::AddDetail { close_type, interval, symbol });
    }
    Ok(())
}

/// Returns the periods in which all candles are too coarse for this expiry, in ascending order.
/// The list is empty if the price series is fine enough. Trades in these periods open and close inside a single candle,
/// so their outcomes are not evidence of an edge.
pub fn coarse_periods(expiry: Expiry, market: &Market) -> Vec<Range<Millis>> {
    let is_fine = |interval: Interval| interval.length() <= expiry.close_type.duration();
    if is_fine(market.prices.interval()) {
        return Vec::new();
    }
    let fine = market.detail.iter().filter(|detail| is_fine(detail.interval()));
    let covered =
        union(fine.flat_map(|detail| CandleLookup::new(detail.clone()).gapless_ranges().collect::<Vec<_>>()));
    let mut coarse = Vec::new();
    for stretch in CandleLookup::new(market.prices.clone()).gapless_ranges() {
        let mut from = stretch.start;
        let first = covered.partition_point(|one| one.end <= stretch.start);
        for one in covered[first..].iter().take_while(|one| one.start < stretch.end) {
            if from < one.start {
                coarse.push(from..one.start);
            }
            from = one.end;
        }
        if from < stretch.end {
            coarse.push(from..stretch.end);
        }
    }
    coarse
}

fn union(stretches: impl Iterator<Item = Range<Millis>>) -> Vec<Range<Millis>> {
    let mut sorted: Vec<Range<Millis>> = stretches.collect();
    sorted.sort_by_key(|stretch| stretch.start);
    let mut joined: Vec<Range<Millis>> = Vec::new();
    for stretch in sorted {
        match joined.last_mut().filter(|last| stretch.start <= last.end) {
            Some(last) => last.end = last.end.max(stretch.end),
            None => joined.push(stretch),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Candle, ExpirationType, Ohlcv, Series};
    use proptest::prelude::*;

    fn series(symbol: &str, interval: &str) -> CandleSeries {
        series_of(symbol, interval, [0])
    }

    fn check(detail: Option<(&str, &str)>, close_type: &str, expected: Result<(), &str>) {
        let detail = detail.map(|(symbol, interval)| series(symbol, interval)).into_iter().collect();
        let market = Market { prices: series("EURUSD", "1m"), detail };
        let close_type = close_type.parse().unwrap();
        let expiry = Expiry { close_type, expiration_type: ExpirationType::TimeFixed };
        let checked = market.check().and_then(|()| check_expiry(expiry, &market));
        assert_eq!(checked.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn expiry_needs_candles_of_at_most_its_length() {
        check(None, "01:00", Ok(()));
        check(None, "05:00", Ok(()));
        let short = |length: &str, interval: &str| {
            format!(
                "an expiry of {length} is shorter than the {interval} candles of EURUSD; use a longer expiry or finer candles"
            )
        };
        check(None, "00:59", Err(&short("00:59", "1m")));
        check(Some(("EURUSD", "5s")), "00:05", Ok(()));
        check(Some(("EURUSD", "5s")), "00:04", Err(&short("00:04", "5s")));
    }

    #[test]
    fn detail_must_be_of_the_same_symbol_and_finer() {
        let other = "the detail series of EURUSD has candles of GBPUSD; use finer candles of EURUSD";
        check(Some(("GBPUSD", "5s")), "01:00", Err(other));
        let same = "the detail series of EURUSD has 1m candles, not finer than 1m; use finer ones";
        check(Some(("EURUSD", "1m")), "01:00", Err(same));
    }

    fn series_of(symbol: &str, interval: &str, slots: impl IntoIterator<Item = i64>) -> CandleSeries {
        let series = Series { symbol: symbol.parse().unwrap(), interval: interval.parse().unwrap() };
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = |slot| Candle::new(series.interval.length() * slot, series.interval, numbers).unwrap();
        CandleSeries::new(series, slots.into_iter().map(candle).collect::<Vec<_>>()).unwrap()
    }

    fn coarse(prices: CandleSeries, detail: &[CandleSeries], close_type: &str) -> Vec<(i64, i64)> {
        let close_type = close_type.parse().unwrap();
        let expiry = Expiry { close_type, expiration_type: ExpirationType::TimeFixed };
        let found = coarse_periods(expiry, &Market { prices, detail: detail.to_vec() });
        found.into_iter().map(|one| (one.start.get() / 1_000, one.end.get() / 1_000)).collect()
    }

    proptest! {
        #[test]
        fn seconds_without_a_fine_candle_are_coarse_for_shorter_expiries_only(
            minutes in prop::collection::btree_set(0_i64..8, 1..8),
            seconds in prop::collection::btree_set(0_i64..480, 1..60),
            thirds in prop::collection::btree_set(0_i64..24, 1..24),
            are_thirds_fine: bool,
        ) {
            let detail = [series_of("BTCUSDT", "1s", seconds.iter().copied()), series_of("BTCUSDT", "20s", thirds.iter().copied())];
            let prices = || series_of("BTCUSDT", "1m", minutes.iter().copied());
            prop_assert!(coarse(prices(), &detail, "01:00").is_empty());
            let found = coarse(prices(), &detail, if are_thirds_fine { "00:20" } else { "00:19" });
            for second in 0..480 {
                let is_in_third = are_thirds_fine && thirds.contains(&(second / 20));
                let is_covered = is_in_third || seconds.contains(&second);
                let expected = minutes.contains(&(second / 60)) && !is_covered;
                let is_found = found.iter().any(|(start, end)| (*start..*end).contains(&second));
                prop_assert_eq!(is_found, expected, "second {}", second);
            }
        }
    }
}
