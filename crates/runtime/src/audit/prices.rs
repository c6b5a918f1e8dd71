//! Audit of polled prices against the candles of the same time.

use super::{Audit, Finding};
use candlewick_sdk::{Candle, Interval, Millis, Series, Symbol};
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of prices per symbol that await their candle.
const KEPT: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct PriceAudit {
    polled: BTreeMap<Symbol, VecDeque<(Millis, f64)>>,
}

impl PriceAudit {
    pub(crate) fn polled(&mut self, symbol: Symbol, time: Millis, price: f64) {
        let polled = self.polled.entry(symbol).or_default();
        if polled.back().is_some_and(|(last, _)| *last >= time) {
            return;
        }
        if polled.len() == KEPT {
            polled.pop_front();
        }
        polled.push_back((time, price));
    }

    /// Checks the polled prices within a closed candle; returns their number and the findings.
    ///
    /// Allows a relative deviation of 1e-6, because prices may be rounded differently.
    pub(crate) fn check(&self, series: Series, candle: &Candle) -> (usize, Vec<Finding>) {
        let Some(polled) = self.polled.get(&series.symbol) else { return (0, Vec::new()) };
        let (low, high) = (candle.low() * (1.0 - 1e-6), candle.high() * (1.0 + 1e-6));
        let end = candle.close_time(series.interval);
        // A record is a bar of one second: one that crosses the candle's end is the next one's as well.
        let within = |time: Millis| time >= candle.time() && time + Interval::SECOND.length() <= end;
        let own: Vec<_> = polled.iter().filter(|(time, _)| within(*time)).collect();
        let outside = own.iter().filter(|(_, price)| *price < low || *price > high);
        let finding = |(time, price): &&&(Millis, f64)| {
            let text = format!(
                "the price {price} of {} at {time} lies outside the {} candle of {}: {} to {}",
                series.symbol,
                series.interval,
                candle.time(),
                candle.low(),
                candle.high()
            );
            Finding::note(Audit::Price, text)
        };
        (own.len(), outside.map(|row| finding(&row)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Ohlcv;

    #[test]
    fn a_price_lies_within_the_candle_of_its_moment() {
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let numbers = Ohlcv { open: 100.0, high: 102.0, low: 99.0, close: 101.0, volume: 0.0 };
        let candle = Candle::new(Millis::MINUTE, Interval::MINUTE, numbers).unwrap();
        let mut audit = PriceAudit::default();
        // Before it; at its low; above its high; below its low; in a second that ends after it.
        for (time, price) in
            [(59_000, 500.0), (60_000, 99.0), (61_000, 102.1), (90_000, 98.9), (119_500, 7.0)]
        {
            audit.polled(series.symbol, Millis::new(time), price);
        }
        let (checked, findings) = audit.check(series, &candle);
        assert_eq!((checked, findings.len()), (3, 2), "{findings:?}");
        assert!(findings[0].text.contains("102.1") && findings[1].text.contains("98.9"));
    }
}
