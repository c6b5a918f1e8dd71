//! A strategy held to every check: those of the conformance kit, and those that take a clock or a file.

mod best;
mod elsewhere;
mod file;
mod process;
mod speed;
mod supervise;
mod text;
mod unfinished;

use crate::bots::kind_of_build;
use crate::configuration::ProblemKind;
pub use best::verify_best;
use candlewick_broker::clock::{Clock, Stopwatch, SystemClock};
use candlewick_sdk::BuildError;
use candlewick_sdk::testkit::{
    Check, Checked, Finding, FirstRun, Market, Subject, Unseen, Validation, ValidationError, candles_needed,
    check_clock, synthetic_markets, validate,
};
use process::Examination;
pub use process::{Itself, answer_request};
use serde::{Deserialize, Serialize};
use speed::Speed;
use std::time::Duration;
pub use unfinished::Unfinished;

/// How many checks there are, for a bar of progress.
pub const CHECKS: u64 = 15;
/// Candles of a file that are taken, the newest: every check shows them dozens of times.
const MAX_CANDLES: usize = 50_000;
/// Candles that nobody can have seen, and the time that a run over them may take: who cheats seldom, or late, shows it there.
const MAX_UNSEEN: usize = 100_000;
const PATIENCE: Duration = Duration::from_millis(100);
/// Time limit of the first run of a process.
const FIRST_RUN: Duration = Duration::from_secs(1);
/// Number of runs over the given candles in all checks together, rounded up.
const RUNS: u32 = 90;
/// Default time limit of all checks together.
pub const TIME_LIMIT: Duration = Duration::from_mins(1);
/// Minimum number of candles of a market, in addition to those that the warm-up needs.
const SPARE_CANDLES: usize = 300;
/// The least number of candles that nobody has seen, beyond what the warm-up asks for.
const SPARE_UNSEEN: usize = 1_500;

/// What became of a strategy's checks.
#[derive(Debug, Serialize, Deserialize)]
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
#[derive(Debug, Serialize, Deserialize)]
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
    /// Time limit of all checks together.
    pub limit: Duration,
}

/// Reasons for which a strategy was not checked.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum CheckError {
    /// The strategy was not built.
    #[error("{problem}")]
    Build {
        /// The build error.
        problem: String,
        /// Whether a file that the strategy reads caused it, rather than a setting.
        is_data: bool,
    },
    /// The strategy panics when it is built.
    #[error("the strategy panics when it is built: {message}")]
    Panic {
        /// The panic's message.
        message: String,
    },
    /// There are too few candles for the warm-up.
    #[error("{message}")]
    TooFewCandles {
        /// The number of candles given and needed.
        message: String,
    },
    /// The checks ended without a report.
    #[error(transparent)]
    #[serde(skip)]
    Unfinished(Unfinished),
}

impl From<ValidationError> for CheckError {
    fn from(error: ValidationError) -> Self {
        match error {
            ValidationError::Build(error) => error.into(),
            ValidationError::Panic(message) => Self::Panic { message },
            ValidationError::TooFewCandles { .. } => Self::TooFewCandles { message: error.to_string() },
        }
    }
}

impl From<BuildError> for CheckError {
    fn from(error: BuildError) -> Self {
        let is_data = kind_of_build(&error) == ProblemKind::Data;
        Self::Build { problem: error.to_string(), is_data }
    }
}

/// Runs every check in a new process, without a market on three synthetic ones.
///
/// `progress` is called several times a second with the number of checks that have begun.
///
/// # Errors
/// [`CheckError`] if the strategy cannot be built, the market is too short for its warm-up, or the process ends before its report.
pub fn examine(
    subject: &Subject,
    market: Option<Market>,
    means: &Means,
    progress: &mut dyn FnMut(u64),
) -> Result<ValidationReport, CheckError> {
    let given = market.as_ref().map_or(0, |market| market.candles.len());
    let (name, candles) = market
        .map(|market| newest(market, MAX_CANDLES))
        .map_or_else(|| (None, Vec::new()), |market| (Some(market.name), market.candles));
    let Means { seed, unseen, limit, .. } = *means;
    let examination = Examination { market: name, given, seed, unseen, limit };
    let examined = means.itself.examine(subject, &candles, examination, progress);
    examined.map_err(CheckError::Unfinished)?
}

/// Runs every check in this process.
fn examine_here(
    subject: &Subject,
    market: Option<Market>,
    examination: &Examination,
    itself: &Itself,
    progress: &mut dyn FnMut(Check),
) -> Result<ValidationReport, CheckError> {
    let given = market.as_ref().map(|_| examination.given);
    let choose = |warmup| market.map_or_else(|| synthetic_markets(subject, warmup), |market| vec![market]);
    let watch = Stopwatch::start();
    // Before anything else of the strategy is built.
    let (first, markets) = FirstRun::new(subject, choose, &mut || watch.elapsed() > FIRST_RUN)?;
    let warmup = first.warmup();
    progress(Check::Speed);
    let speed = Speed::of(subject);
    let affordable = affordable_candles(&speed, warmup, examination.limit);
    let markets: Vec<Market> = match given {
        Some(_) => markets.into_iter().map(|market| newest(market, affordable)).collect(),
        None => markets,
    };
    let names = markets.iter().map(|market| {
        let candles = market.candles.len();
        CheckedMarket { name: market.name.clone(), candles, given: given.unwrap_or(candles) }
    });
    let names = names.collect();
    let mut examined = ValidationReport { checked: Vec::new(), markets: names, validation: None, speed };
    let speed = examined.speed.checked();
    if speed.finding == Finding::Failed {
        // The rest would take hours.
        examined.checked.push(speed);
        return Ok(examined);
    }
    let usual = || unseen_candles(&examined.speed, warmup.min(MAX_CANDLES));
    let unseen = Unseen { seed: examination.seed, candles: examination.unseen.unwrap_or_else(usual) };
    let mut validation = validate(subject, &markets, &first, unseen, progress)?;
    examined.checked.append(&mut validation.checked);
    examined.validation = Some(validation);
    progress(Check::Files);
    examined.checked.push(file::check(subject, &markets[0]));
    progress(Check::Clock);
    examined.checked.push(check_clock(subject, &markets[0], SystemClock::new().now()));
    progress(Check::Processes);
    examined.checked.extend(elsewhere::check(itself, subject, &markets[0]));
    examined.checked.push(speed);
    Ok(examined)
}

/// Returns the number of candles for which all checks take half of the time limit.
fn affordable_candles(speed: &Speed, warmup: usize, limit: Duration) -> usize {
    let all_runs = speed.candle.unwrap_or_default().saturating_mul(RUNS).as_nanos().max(1);
    let affordable = usize::try_from(limit.as_nanos() / 2 / all_runs).unwrap_or(MAX_CANDLES);
    affordable.max(candles_needed(warmup.min(MAX_CANDLES)) + SPARE_CANDLES)
}

/// As many as there is patience for.
fn unseen_candles(speed: &Speed, warmup: usize) -> usize {
    let candle = speed.candle.unwrap_or_default().as_nanos().max(1);
    let affordable = usize::try_from(PATIENCE.as_nanos() / candle).unwrap_or(MAX_UNSEEN);
    affordable.clamp(candles_needed(warmup) + SPARE_UNSEEN, MAX_UNSEEN.max(candles_needed(warmup) * 2))
}

fn newest(mut market: Market, count: usize) -> Market {
    let surplus = market.candles.len().saturating_sub(count);
    market.candles.drain(..surplus);
    market
}
