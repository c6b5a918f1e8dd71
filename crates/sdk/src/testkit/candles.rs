//! Candles for tests: hand-written, random in several regimes, and extreme.

use crate::{BotContext, Candle, ExpirationType, Expiry, Interval, Millis, Ohlcv, Symbol};

/// Open time of the first generated candle: 2025-01-01 00:00 UTC.
pub(super) const START: Millis = Millis::new(1_735_689_600_000);

/// Returns the context of a test bot with one-minute candles of `symbol` and a one-minute expiry.
/// Panics if `symbol` is invalid.
pub fn bot(symbol: &str) -> BotContext {
    BotContext {
        bot: "test".to_owned(),
        symbol: Symbol::new(symbol).expect("the symbol is valid"),
        interval: Interval::MINUTE,
        expiry: Expiry {
            close_type: "01:00".parse().expect("01:00 is a duration code"),
            expiration_type: ExpirationType::TimeFixed,
        },
        longer_share_percent: Some(crate::CoverageRule::DEFAULT_SHARE_PERCENT),
    }
}

/// Builds one-minute candles with the given close prices, without gaps, from 2025-01-01 00:00 UTC on.
/// Each candle opens at the previous close, and the first candle opens at its own close.
/// Panics if a close is not a finite number above zero.
pub fn from_closes(closes: &[f64]) -> Vec<Candle> {
    let opens = closes.iter().take(1).chain(closes);
    opens.zip(closes).enumerate().map(|(minute, (open, close))| candle(minute, *open, *close, 0.0)).collect()
}

/// Generates one-minute candles of a random walk near 100, with wicks and volume.
/// The same seed gives the same candles.
pub fn random_walk(seed: u64, count: usize) -> Vec<Candle> {
    // A signed square gives many small moves and few large ones, as in markets.
    walk(seed, count, |_, _, step| 4e-3 * step * step.abs())
}

/// Generates a random walk with alternating up and down trends of 90 candles.
pub fn trending(seed: u64, count: usize) -> Vec<Candle> {
    let lean = |minute: usize| if (minute / 90).is_multiple_of(2) { 6e-4 } else { -6e-4 };
    walk(seed, count, |minute, _, step| 4e-3 * step * step.abs() + lean(minute))
}

/// Generates a mean-reverting walk with alternating calm and volatile periods.
pub fn mean_reverting(seed: u64, count: usize) -> Vec<Candle> {
    let reach = |minute: usize| if (minute / 130).is_multiple_of(3) { 1e-2 } else { 2e-3 };
    walk(seed, count, |minute, price, step| reach(minute) * step * step.abs() + 0.05 * (100.0 / price - 1.0))
}

/// Generates one-minute candles with a constant price.
pub fn flat(count: usize) -> Vec<Candle> {
    (0..count).map(|minute| candle(minute, 1.1, 1.1, 0.0)).collect()
}

/// Generates a random walk with gaps of one candle to several days.
pub fn gappy(seed: u64, count: usize) -> Vec<Candle> {
    let mut gap = 0;
    let mut later = |(index, walked): (usize, Candle)| {
        gap += match index % 50 {
            7 => 1,
            23 => 60,
            49 => 2 * 24 * 60,
            _ => 0,
        };
        candle(index + gap, walked.open(), walked.close(), 0.0)
    };
    random_walk(seed, count).into_iter().enumerate().map(&mut later).collect()
}

/// Generates valid but extreme candles, from the smallest to the largest prices.
pub fn extreme(count: usize) -> Vec<Candle> {
    const PRICES: [f64; 7] = [1.0, f64::MAX, 1e-9, 1e15, f64::MIN_POSITIVE, 60_000.0, 1e150];
    let price = |index: usize| PRICES[index % PRICES.len()];
    (0..count).map(|index| candle(index, price(index), price(index / 3 + 1), 0.0)).collect()
}

/// Converts one-minute test candles to another interval. Prices stay the same, and gaps are scaled.
pub fn at_interval(candles: &[Candle], interval: Interval) -> Vec<Candle> {
    let start = START.floor_to(interval.length());
    let place = |candle: &Candle| (candle.time() - START).get() / Millis::MINUTE.get();
    candles.iter().map(|candle| rescale(candle, start + interval.length() * place(candle), 1.0)).collect()
}

pub(super) fn rescale(candle: &Candle, time: Millis, factor: f64) -> Candle {
    let Ohlcv { open, high, low, close, volume } = candle.ohlcv();
    let [open, high, low, close] = [open, high, low, close].map(|price| price * factor);
    with_ohlcv(candle, time, Ohlcv { open, high, low, close, volume })
}

pub(super) fn shift_times(candles: &[Candle], by: Millis) -> Vec<Candle> {
    candles.iter().map(|candle| rescale(candle, candle.time() + by, 1.0)).collect()
}

/// Returns a candle with `time` and `numbers`, or `candle` itself if the numbers are invalid.
pub(super) fn with_ohlcv(candle: &Candle, time: Millis, numbers: Ohlcv) -> Candle {
    Candle::new(time, Interval::SECOND, numbers).unwrap_or(*candle)
}

fn walk(seed: u64, count: usize, change: impl Fn(usize, f64, f64) -> f64) -> Vec<Candle> {
    let (mut chance, mut close) = (Rng::new(seed), 100.0_f64);
    let mut next = |minute| {
        let open = close * (1.0 + 1e-4 * chance.signed_unit());
        close = open * (1.0 + change(minute, open, chance.signed_unit()));
        candle(minute, open, close, 1e-3 * chance.signed_unit().abs())
    };
    (0..count).map(&mut next).collect()
}

fn candle(minute: usize, open: f64, close: f64, wick: f64) -> Candle {
    let (high, low) = (open.max(close) * (1.0 + wick), open.min(close) * (1.0 - wick));
    let numbers = Ohlcv { open, high, low, close, volume: wick * 1e4 };
    let time = START + Millis::MINUTE * minute as i64;
    Candle::new(time, Interval::MINUTE, numbers).expect("finite prices above zero make a candle")
}

/// `SplitMix64` random number generator (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn signed_unit(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64 * 2.0 - 1.0
    }

    pub(super) fn index_below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index_below(last + 1));
        }
    }
}
