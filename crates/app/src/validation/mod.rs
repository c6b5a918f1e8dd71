//! A strategy held to every check: those of the conformance kit, and those that take a clock or a file.

mod best;
mod elsewhere;
mod file;
mod process;
mod speed;
mod text;

pub use best::verify_best;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_sdk::testkit::{
    Check, Checked, Finding, Market, Subject, Unseen, Validation, ValidationError, candles_needed,
    check_clock, synthetic_markets, validate,
};
pub use process::{Itself, answer_request};
use speed::Speed;
use std::panic;
use std::time::Duration;

/// How many checks there are, for a bar of progress.
pub const CHECKS: u64 = 15;
/// Candles of a file that are taken, the newest: every check shows them dozens of times.
const MAX_CANDLES: usize = 50_000;
/// Candles that nobody can have seen, and the time that a run over them may take: who cheats seldom, or late, shows it there.
const MAX_UNSEEN: usize = 100_000;
const PATIENCE: Duration = Duration::from_millis(50);
/// The least number of candles that nobody has seen, beyond what the warm-up asks for.
const SPARE_UNSEEN: usize = 1_500;

/// What became of a strategy's checks.
pub struct ValidationReport {
    /// What each check found.
    pub checked: Vec<Checked>,
    /// What it was checked on.
    markets: Vec<CheckedMarket>,
    /// Nothing when it was too slow to be checked at all.
    validation: Option<Validation>,
    speed: Speed,
}

/// Candles that it was checked on.
struct CheckedMarket {
    name: String,
    /// How many were taken, the newest.
    candles: usize,
    /// How many there were.
    given: usize,
}

/// What some of the checks are made with.
#[derive(Clone, Debug)]
pub struct Means {
    /// Seed of candles that nobody can have seen.
    pub seed: u64,
    /// How many of them; as many as take a moment when it is not said.
    pub unseen: Option<usize>,
    /// How the program is started for checks in other processes.
    pub itself: Itself,
}

/// Makes every check. Without a market there are three synthetic ones.
///
/// # Errors
/// [`ValidationError`] when the strategy cannot be built, or the market is too short for its warm-up.
pub fn examine(
    subject: &Subject,
    market: Option<Market>,
    means: &Means,
    progress: &mut dyn FnMut(Check),
) -> Result<ValidationReport, ValidationError> {
    // A panic of the strategy is a finding.
    let usual = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let examined = examine_quietly(subject, market, means, progress);
    panic::set_hook(usual);
    examined
}

fn examine_quietly(
    subject: &Subject,
    market: Option<Market>,
    means: &Means,
    progress: &mut dyn FnMut(Check),
) -> Result<ValidationReport, ValidationError> {
    let warmup = subject.build()?.warmup();
    let given = market.as_ref().map(|market| market.candles.len());
    let markets = market.map_or_else(|| synthetic_markets(subject, warmup), |market| vec![newest(market)]);
    let names = markets.iter().map(|market| {
        let candles = market.candles.len();
        CheckedMarket { name: market.name.clone(), candles, given: given.unwrap_or(candles) }
    });
    let names = names.collect();
    progress(Check::Speed);
    let speed = Speed::of(subject);
    let mut examined = ValidationReport { checked: Vec::new(), markets: names, validation: None, speed };
    let speed = examined.speed.checked();
    if speed.finding == Finding::Failed {
        // The rest would take hours.
        examined.checked.push(speed);
        return Ok(examined);
    }
    let usual = || unseen_candles(&examined.speed, warmup.min(MAX_CANDLES));
    let unseen = Unseen { seed: means.seed, candles: means.unseen.unwrap_or_else(usual) };
    let mut validation = validate(subject, &markets, unseen, progress)?;
    examined.checked.append(&mut validation.checked);
    examined.validation = Some(validation);
    progress(Check::Files);
    examined.checked.push(file::check(subject, &markets[0]));
    progress(Check::Clock);
    examined.checked.push(check_clock(subject, &markets[0], SystemClock::new().now()));
    progress(Check::Processes);
    examined.checked.extend(elsewhere::check(&means.itself, subject, &markets[0]));
    examined.checked.push(speed);
    Ok(examined)
}

/// As many as there is patience for.
fn unseen_candles(speed: &Speed, warmup: usize) -> usize {
    let candle = speed.candle.unwrap_or_default().as_nanos().max(1);
    let affordable = usize::try_from(PATIENCE.as_nanos() / candle).unwrap_or(MAX_UNSEEN);
    affordable.clamp(candles_needed(warmup) + SPARE_UNSEEN, MAX_UNSEEN.max(candles_needed(warmup) * 2))
}

fn newest(mut market: Market) -> Market {
    let surplus = market.candles.len().saturating_sub(MAX_CANDLES);
    market.candles.drain(..surplus);
    market
}
