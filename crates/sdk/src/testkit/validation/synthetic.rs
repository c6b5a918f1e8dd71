//! Default candles of the checks, if no others are given.

use super::{Market, Subject, candles_needed};
use crate::Candle;
use crate::testkit::candles::{at_interval, random_walk, reverting, trending};

const SPARE: usize = 1_500;
/// Limit of the warm-up: every check feeds the candles dozens of times.
const MAX_WARMUP: usize = 50_000;

/// Generates a random walk, trends and mean-reverting prices for a warm-up.
///
/// The candles have the bot's interval.
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
