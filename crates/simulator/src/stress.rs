//! Stress: the shift of a price against the trade.

use candlewick_sdk::{Candle, Interval, Millis};

/// Price shift of one series: `k x (high - low) x sqrt(max(L, 1 s) / interval)`.
///
/// `high` and `low` are those of the candle that gives the price, `L` is the order latency. A price
/// moves roughly with the square root of the elapsed time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stress {
    k: f64,
    root: f64,
}

impl Stress {
    pub(crate) fn new(k: f64, latency: Millis, interval: Interval) -> Self {
        let exposed = latency.max(Millis::SECOND).get() as f64;
        Self { k, root: (exposed / interval.length().get() as f64).sqrt() }
    }

    #[inline]
    pub(crate) fn shift(self, candle: &Candle) -> f64 {
        self.k * (candle.high() - candle.low()) * self.root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Ohlcv;

    fn check(k: f64, latency_ms: i64, expected: f64) {
        let numbers = Ohlcv { open: 10.0, high: 12.0, low: 8.0, close: 9.0, volume: 0.0 };
        let candle = Candle::new(Millis::ZERO, Interval::MINUTE, numbers).unwrap();
        let stress = Stress::new(k, Millis::new(latency_ms), Interval::MINUTE);
        assert_eq!(stress.shift(&candle), expected);
    }

    #[test]
    fn the_shift_follows_range_and_latency() {
        // The range is 4; 15 s of 60 s is a quarter, whose root is one half: 0.5 x 4 x 0.5 = 1.
        check(0.5, 15_000, 1.0);
        check(1.0, 15_000, 2.0);
        check(0.5, 60_000, 2.0);
        check(0.0, 15_000, 0.0);
    }

    #[test]
    fn a_latency_below_one_second_counts_as_one() {
        check(0.5, 0, 2.0 * (1_000.0_f64 / 60_000.0).sqrt());
        check(0.5, 999, 2.0 * (1_000.0_f64 / 60_000.0).sqrt());
    }
}
