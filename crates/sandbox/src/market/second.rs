//! One-second prices of a pair. They come from stored one-second candles, or otherwise from a random walk.

use super::PriceBoard;
use crate::chance::{RandomPurpose, RandomSource};
use candlewick_sdk::{Candle, CandleSeries, Millis};
use candlewick_simulator::{PathPrice, PriceMoment};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OneSecondCandle {
    pub(crate) time: Millis,
    pub(crate) open: f64,
    pub(crate) high: f64,
    pub(crate) low: f64,
    pub(crate) close: f64,
    pub(crate) volume: f64,
}

impl PriceBoard {
    pub(crate) fn newest_second(&self, latest: Millis) -> Option<OneSecondCandle> {
        let latest = latest.floor_to(Millis::SECOND);
        // The finest series comes first, so it takes precedence.
        let last_of = |series: &CandleSeries| {
            let candle = last_candle(series, latest)?;
            Some(latest.min(candle.close_time(series.interval()) - Millis::SECOND))
        };
        let newest = self.stored.iter().filter_map(last_of).max()?;
        self.second_at(newest)
    }

    pub(crate) fn second_at(&self, time: Millis) -> Option<OneSecondCandle> {
        self.stored.iter().find_map(|series| {
            let candle = last_candle(series, time)?;
            (time < candle.close_time(series.interval())).then(|| self.prices_in_candle(candle, series, time))
        })
    }

    fn prices_in_candle(&self, candle: &Candle, series: &CandleSeries, time: Millis) -> OneSecondCandle {
        let seconds = (series.interval().length().get() / 1_000).cast_unsigned();
        let volume = candle.volume() / seconds as f64;
        if seconds == 1 {
            let (open, high, low, close) = (candle.open(), candle.high(), candle.low(), candle.close());
            return self.include_trade_prices(OneSecondCandle { time, open, high, low, close, volume });
        }
        let (tick, chance, symbol_key) = (self.tick, self.random, self.symbol_key);
        let bridge = PriceBridge { candle, seconds, tick, chance, symbol_key };
        let elapsed = ((time - candle.time()).get() / 1_000).cast_unsigned();
        let (open, close) = (bridge.price_after(elapsed), bridge.price_after(elapsed + 1));
        let (high, low) = (open.max(close), open.min(close));
        self.include_trade_prices(OneSecondCandle { time, open, high, low, close, volume })
    }

    fn include_trade_prices(&self, second: OneSecondCandle) -> OneSecondCandle {
        let moments = [PriceMoment::Entry(second.time), PriceMoment::Exit(second.time + Millis::SECOND)];
        let priced = self.path.iter().flat_map(|path| moments.map(|moment| path.price(moment)));
        priced.fold(second, |second, price| match price {
            PathPrice::Price(price) => {
                OneSecondCandle { high: second.high.max(price), low: second.low.min(price), ..second }
            }
            PathPrice::Gap | PathPrice::Beyond => second,
        })
    }
}

fn last_candle(series: &CandleSeries, time: Millis) -> Option<&Candle> {
    let candles = series.candles();
    let after = candles.partition_point(|candle| candle.time() <= time);
    candles.get(after.checked_sub(1)?)
}

/// Random price path within one candle. It goes from open to close, stays between low and high, and uses whole ticks.
struct PriceBridge<'a> {
    candle: &'a Candle,
    seconds: u64,
    tick: Option<f64>,
    chance: RandomSource,
    symbol_key: u64,
}

impl PriceBridge<'_> {
    fn price_after(&self, elapsed: u64) -> f64 {
        let (mut from, mut to) = ((0, self.candle.open()), (self.seconds, self.candle.close()));
        if elapsed == 0 {
            return from.1;
        }
        if elapsed >= self.seconds {
            return to.1;
        }
        loop {
            let middle = u64::midpoint(from.0, to.0);
            let price = self.price_between(from, to, middle);
            match elapsed.cmp(&middle) {
                std::cmp::Ordering::Equal => return price,
                std::cmp::Ordering::Less => to = (middle, price),
                std::cmp::Ordering::Greater => from = (middle, price),
            }
        }
    }

    /// Draws the price at `middle` on a Brownian bridge between the points `from` and `to`, rounded to a tick.
    fn price_between(&self, from: (u64, f64), to: (u64, f64), middle: u64) -> f64 {
        let (left, right) = ((middle - from.0) as f64, (to.0 - middle) as f64);
        let both = left + right;
        let mean = (from.1 * right + to.1 * left) / both;
        let (low, high) = (self.candle.low(), self.candle.high());
        // The range of a random walk with n steps of size sigma is about 1.6 sigma sqrt(n).
        let step = (high - low) / (1.6 * (self.seconds as f64).sqrt());
        let keys = [self.symbol_key, self.candle.time().get().cast_unsigned()];
        let noise = self.chance.random_normal(RandomPurpose::Bridge, keys, middle);
        self.round_to_tick(mean + noise * step * (left * right / both).sqrt()).clamp(low, high)
    }

    /// Rounds a price to the nearest tick. For a tick of 0.01, divides by 100, because multiplying by 0.01 is inexact.
    fn round_to_tick(&self, price: f64) -> f64 {
        match self.tick {
            None => price,
            Some(tick) => {
                let per_one = (1.0 / tick).round();
                if per_one >= 1.0 {
                    (price * per_one).round() / per_one
                } else {
                    (price / tick).round() * tick
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Millis, Ohlcv};

    fn prices(seed: u64, numbers: [f64; 4], seconds: i64, tick: Option<f64>) -> Vec<f64> {
        let [open, high, low, close] = numbers;
        let interval = Interval::from_seconds(seconds).unwrap();
        let numbers = Ohlcv { open, high, low, close, volume: 0.0 };
        let candle = Candle::new(Millis::ZERO, interval, numbers).unwrap();
        let seconds = seconds.cast_unsigned();
        let bridge =
            PriceBridge { candle: &candle, seconds, tick, chance: RandomSource::new(seed), symbol_key: 7 };
        (0..=seconds).map(|elapsed| bridge.price_after(elapsed)).collect()
    }

    #[test]
    fn a_bridge_joins_open_and_close_within_low_and_high_on_the_tick() {
        for seed in 0..50 {
            for seconds in [1, 2, 5, 60, 300] {
                let path = prices(seed, [1.1005, 1.1020, 1.1000, 1.1011], seconds, Some(0.0001));
                assert_eq!((path[0], path[path.len() - 1]), (1.1005, 1.1011));
                for price in &path {
                    assert!((1.1000..=1.1020).contains(price), "{price}");
                    let text = format!("{price:.4}");
                    assert_eq!(text.parse::<f64>().unwrap(), *price, "on the tick, bit for bit");
                }
            }
        }
    }

    #[test]
    fn a_bridge_moves_repeats_with_its_seed_and_uses_the_candles_range() {
        let numbers = [100.0, 101.0, 99.0, 100.0];
        let path = prices(3, numbers, 60, None);
        assert_eq!(path, prices(3, numbers, 60, None));
        assert_ne!(path, prices(4, numbers, 60, None));
        let moves = path.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(moves > 50, "{moves} of 60 seconds move");
        let spread = |path: &[f64]| {
            path.iter().copied().fold(f64::MIN, f64::max) - path.iter().copied().fold(f64::MAX, f64::min)
        };
        let mean = (0..200).map(|seed| spread(&prices(seed, numbers, 60, None))).sum::<f64>() / 200.0;
        assert!((1.0..=2.0).contains(&mean), "a range of 2 is used by {mean} on average");
    }
}
