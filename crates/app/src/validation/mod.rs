//! A strategy held to every check: those of the conformance kit, and those that take a clock or a file.

mod file;
mod speed;
mod text;

use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_sdk::Candle;
use candlewick_sdk::testkit::{
    Check, Checked, Finding, Market, Subject, Validation, ValidationError, at_interval, candles_needed,
    check_clock, random_walk, reverting, trending, validate,
};
use speed::Speed;
use std::panic;

/// How many checks there are, for a bar of progress.
pub const CHECKS: u64 = 12;
/// Candles of a file that are taken, the newest: every check shows them dozens of times.
const MAX_CANDLES: usize = 50_000;
/// Candles of a synthetic market beyond what the warm-up asks for.
const SYNTHETIC_CANDLES: usize = 1_500;

/// What became of a strategy's checks.
pub struct ValidationReport {
    /// What each check found.
    pub checked: Vec<Checked>,
    /// What it was checked on, with the number of candles.
    markets: Vec<(String, usize)>,
    /// Nothing when it was too slow to be checked at all.
    validation: Option<Validation>,
    speed: Speed,
}

/// Makes every check. Without a market there are three synthetic ones.
///
/// # Errors
/// [`ValidationError`] when the strategy cannot be built, or the market is too short for its warm-up.
pub fn examine(
    subject: &Subject,
    market: Option<Market>,
    progress: &mut dyn FnMut(Check),
) -> Result<ValidationReport, ValidationError> {
    // A panic of the strategy is a finding.
    let usual = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let examined = examine_quietly(subject, market, progress);
    panic::set_hook(usual);
    examined
}

fn examine_quietly(
    subject: &Subject,
    market: Option<Market>,
    progress: &mut dyn FnMut(Check),
) -> Result<ValidationReport, ValidationError> {
    let warmup = subject.build()?.warmup();
    let markets = market.map_or_else(|| synthetic(subject, warmup), |market| vec![newest(market)]);
    let names = markets.iter().map(|market| (market.name.clone(), market.candles.len())).collect();
    progress(Check::Speed);
    let speed = Speed::of(subject);
    let mut examined = ValidationReport { checked: Vec::new(), markets: names, validation: None, speed };
    let speed = examined.speed.checked();
    if speed.finding == Finding::Failed {
        // The rest would take hours.
        examined.checked.push(speed);
        return Ok(examined);
    }
    let mut validation = validate(subject, &markets, progress)?;
    examined.checked.append(&mut validation.checked);
    examined.validation = Some(validation);
    progress(Check::Files);
    examined.checked.push(file::check(subject, &markets[0]));
    progress(Check::Clock);
    examined.checked.push(check_clock(subject, &markets[0], SystemClock::new().now()));
    examined.checked.push(speed);
    Ok(examined)
}

fn synthetic(subject: &Subject, warmup: usize) -> Vec<Market> {
    let count = candles_needed(warmup.min(MAX_CANDLES)) + SYNTHETIC_CANDLES;
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

fn newest(mut market: Market) -> Market {
    let surplus = market.candles.len().saturating_sub(MAX_CANDLES);
    market.candles.drain(..surplus);
    market
}
