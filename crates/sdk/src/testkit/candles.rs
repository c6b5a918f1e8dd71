//! Candles for tests: by hand, at random, and as no market should make them.

use crate::{BotContext, Candle, ExpirationType, Expiry, Interval, Millis, Ohlcv, Symbol};

/// Open time of the first candle: 2025-01-01 00:00 UTC.
const START: Millis = Millis::new(1_735_689_600_000);

/// A bot on one-minute candles of `symbol`, whose trades last a minute.
///
/// # Panics
/// When `symbol` is not one.
pub fn bot(symbol: &str) -> BotContext {
    BotContext {
        bot: "test".to_owned(),
        symbol: Symbol::new(symbol).expect("a test names a sound symbol"),
        interval: Interval::MINUTE,
        expiry: Expiry {
            close_type: "01:00".parse().expect("a minute is a closeType code"),
            expiration_type: ExpirationType::TimeFixed,
        },
    }
}

/// One-minute candles with these closes, without gaps: each opens at the close before it. The first opens at its
/// own close, at 2025-01-01 00:00 UTC.
///
/// # Panics
/// When a close is not a finite number above zero.
pub fn from_closes(closes: &[f64]) -> Vec<Candle> {
    let opens = closes.iter().take(1).chain(closes);
    opens.zip(closes).enumerate().map(|(minute, (open, close))| candle(minute, *open, *close, 0.0)).collect()
}

/// `count` one-minute candles of a random walk near 100, the same for the same seed, with wicks and volume.
pub fn random_walk(seed: u64, count: usize) -> Vec<Candle> {
    let (mut state, mut close) = (seed, 100.0_f64);
    let mut step = || {
        // SplitMix64 (Steele, Lea and Flood 2014), as a number from -1 to 1.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
    };
    let mut next = |minute| {
        let open = close * (1.0 + 1e-4 * step());
        let change = step();
        // Squared with its sign: many small moves, few large ones, as in markets.
        close = open * (1.0 + 4e-3 * change * change.abs());
        candle(minute, open, close, 1e-3 * step().abs())
    };
    (0..count).map(&mut next).collect()
}

/// `count` one-minute candles that never move.
pub fn flat(count: usize) -> Vec<Candle> {
    (0..count).map(|minute| candle(minute, 1.1, 1.1, 0.0)).collect()
}

/// A random walk with holes of one candle to several days.
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

/// Candles that are sound and nothing more: between the smallest and the largest prices that a number can hold.
pub fn wild(count: usize) -> Vec<Candle> {
    const PRICES: [f64; 7] = [1.0, f64::MAX, 1e-9, 1e15, f64::MIN_POSITIVE, 60_000.0, 1e150];
    let price = |index: usize| PRICES[index % PRICES.len()];
    (0..count).map(|index| candle(index, price(index), price(index / 3 + 1), 0.0)).collect()
}

fn candle(minute: usize, open: f64, close: f64, wick: f64) -> Candle {
    let (high, low) = (open.max(close) * (1.0 + wick), open.min(close) * (1.0 - wick));
    let numbers = Ohlcv { open, high, low, close, volume: wick * 1e4 };
    let time = START + Millis::MINUTE * minute as i64;
    Candle::new(time, Interval::MINUTE, numbers).expect("finite prices above zero make a candle")
}
