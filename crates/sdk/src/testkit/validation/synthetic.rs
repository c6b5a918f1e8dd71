//! The candles that a strategy is checked on where there are no others.

use super::{Market, Subject, candles_needed};
use crate::Candle;
use crate::testkit::candles::{at_interval, random_walk, reverting, trending};

/// Candles of a market beyond what the warm-up asks for.
const SPARE: usize = 1_500;
/// Every check shows the candles dozens of times.
const MAX_WARMUP: usize = 50_000;

/// A random walk, trends, and mean-reverting prices, of the bot's interval and long enough for a warm-up.
pub fn synthetic_markets(subject: &Subject, warmup: usize) -> Vec<Market> {
    let count = candles_needed(warmup.min(MAX_WARMUP)) + SPARE;
    let market = |name: &str, candles: Vec<Candle>| Market {
        name: name.to_owned(),
        candles: at_interval(&candles, subject.bot.interval),
    };
    vec![
        market("random walk", random_walk(11, count)),
        market("trends", trending(12, count)),
        market("reversion", reverting(13, count)),
    ]
}
