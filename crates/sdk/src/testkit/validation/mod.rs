//! Checks of all requirements for a strategy.
//!
//! A strategy is fed the same candles repeatedly: truncated, with another future, from a later start, or in parallel
//! with another instance. The decisions must not depend on anything that the strategy cannot know in a live run.

mod declared;
mod extremes;
mod finding;
mod foresight;
mod look_ahead;
mod repeat;
mod subject;
mod surrogate;
mod warm_up;

use crate::testkit::candles::{at_interval, mean_reverting, random_walk, trending};
use crate::{BuildError, Candle, LongerCandles};
pub use declared::check_declaration;
pub(super) use extremes::check_number_count;
pub use finding::{Check, CheckReport, Finding};
pub use foresight::{UnseenWalk, check_foresight};
pub use look_ahead::{TruncatedParams, check_clock, check_files};
pub use repeat::{Decision, FirstRun};
use serde::{Deserialize, Serialize};
pub(super) use subject::RunMode;
use subject::{Answer, RunError};
pub use subject::{Progress, Subject};

const MIN_CHECKED_CANDLES: usize = 100;
/// Maximum warm-up. A longer warm-up delays the first trade too much, and venues do not provide that many candles.
const MAX_WARMUP_CANDLES: usize = 100_000;

/// Series of candles with a name, used by the checks.
#[derive(Clone, Debug)]
pub struct Market {
    /// Market name such as `random walk`, or a file name.
    pub name: String,
    /// Candles with the bot's interval, in order of time.
    pub candles: Vec<Candle>,
}

/// Result of validating a strategy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Validation {
    /// Check results in order of execution. After a failure on one market, a check skips the remaining markets.
    pub checked: Vec<CheckReport>,
    /// Number of signals on all markets.
    pub signals: usize,
    /// Warm-up in candles, as returned by `warmup()`.
    pub declared_warmup: usize,
    /// Smallest warm-up in candles that was sufficient on all markets.
    pub needed_warmup: usize,
}

/// Errors that prevent a validation.
#[derive(Debug, thiserror::Error)]
pub enum ValidationError {
    /// The strategy cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The strategy panics when it is built, or in `warmup()`.
    #[error("the strategy panics when it is built: {0}")]
    Panic(String),
    /// There are too few candles for the warm-up.
    #[error("{market}: {given} candles are too few for the warm-up; provide at least {needed}")]
    TooFewCandles {
        /// Name of the market.
        market: String,
        /// Required number of candles.
        needed: usize,
        /// Number of candles given.
        given: usize,
    },
}

impl Validation {
    /// Returns whether no check failed.
    pub fn has_passed(&self) -> bool {
        self.checked.iter().all(|checked| checked.finding != Finding::Failed)
    }

    fn is_nondeterministic(&self) -> bool {
        let is_found = |checked: &CheckReport| matches!(checked.check, Check::Determinism | Check::Isolation);
        self.checked.iter().any(|checked| checked.finding == Finding::Failed && is_found(checked))
    }
}

/// Returns the minimum number of candles required to check a strategy with this warm-up.
pub const fn candles_needed(warmup: usize) -> usize {
    2 * warmup + MIN_CHECKED_CANDLES
}

/// Runs all checks that need only candles, on each market.
///
/// `progress` is called at the start of each check. `first` must be the run of the first strategy instance in this
/// process, on the first market. [`Check`] describes the individual checks. Panics are caught and reported as findings.
/// Memory is measured only in a program that has installed the [`CountingAllocator`](super::CountingAllocator). Fails
/// with [`ValidationError`] if a market is too short for the warm-up.
pub fn validate(
    subject: &Subject,
    markets: &[Market],
    first: &FirstRun,
    unseen: UnseenWalk,
    progress: &mut dyn FnMut(Check),
) -> Result<Validation, ValidationError> {
    let declared = first.warmup();
    let mut validation =
        Validation { checked: Vec::new(), signals: 0, declared_warmup: declared, needed_warmup: 0 };
    if declared > MAX_WARMUP_CANDLES {
        let words = format!("warmup() returns {declared} candles, but the maximum is {MAX_WARMUP_CANDLES}");
        validation.checked.push(Check::Warmup.report(Finding::Failed, words));
        return Ok(validation);
    }
    let needed = candles_needed(declared);
    if let Some(Market { name, candles }) = markets.iter().find(|market| market.candles.len() < needed) {
        let (market, given) = (name.clone(), candles.len());
        return Err(ValidationError::TooFewCandles { market, needed, given });
    }
    // Checks memory first: growth may be missed once the state shared by all instances has grown.
    progress(Check::Memory);
    let memory = report_result(Check::Memory, extremes::check_memory(subject, declared));
    let walk = build_unseen_market(subject, unseen, declared);
    progress(Check::Numbers);
    let benches: Result<Vec<Bench<'_>>, (&Market, RunError)> = (markets.iter().chain([&walk]))
        .map(|market| Bench::new(subject, market, declared).map_err(|stop| (market, stop)))
        .collect();
    let all = match benches {
        Ok(benches) => benches,
        Err((market, stop)) => {
            let words = format!("{}: {stop}", market.name);
            validation.checked.push(stop.failed_check().report(Finding::Failed, words));
            return Ok(validation);
        }
    };
    let given = &all[..markets.len()];
    validation.signals = given.iter().map(|bench| bench.answers.len()).sum();
    let mut needed = 0;
    let checks: [(Check, &[Bench<'_>], &mut CheckFn<'_>); 8] = [
        (Check::Numbers, &all, &mut extremes::check_numbers),
        (Check::Determinism, given, &mut repeat::check_determinism),
        (Check::Isolation, given, &mut repeat::check_isolation),
        (Check::LookAhead, given, &mut look_ahead::check_look_ahead),
        (Check::Foresight, given, &mut |bench| foresight::check_market_recognition(bench, unseen.seed)),
        (Check::Declaration, &all, &mut declared::check_declared_signals),
        (Check::Warmup, &all, &mut |bench| warm_up::check_warm_up(bench, &mut needed)),
        (Check::Restart, given, &mut warm_up::check_restart),
    ];
    for (check, benches, make) in checks {
        if check != Check::Numbers {
            progress(check);
        }
        let mut checked = check_all_markets(check, benches, make);
        if checked.finding != Finding::Failed {
            checked = finish_check(checked, subject, first, &all[markets.len()]);
        }
        let compares_runs = matches!(check, Check::LookAhead | Check::Warmup | Check::Restart);
        // If a strategy is not deterministic, the checks that compare runs fail too.
        if validation.is_nondeterministic() && checked.finding == Finding::Failed && compares_runs {
            checked.words.push_str("; fix the determinism or isolation failure first: it may be the cause");
        }
        validation.checked.push(checked);
    }
    validation.needed_warmup = needed;
    progress(Check::Extremes);
    validation.checked.push(report_result(Check::Extremes, extremes::check_extremes(subject, declared)));
    validation.checked.push(memory);
    Ok(validation)
}

fn build_unseen_market(subject: &Subject, UnseenWalk { seed, candles }: UnseenWalk, warmup: usize) -> Market {
    let walk = random_walk(seed, candles.max(candles_needed(warmup)));
    let candles = at_interval(&walk, subject.bot.interval);
    Market { name: format!("random walk (seed {seed})"), candles }
}

fn finish_check(checked: CheckReport, subject: &Subject, first: &FirstRun, walk: &Bench<'_>) -> CheckReport {
    match checked.check {
        Check::Determinism => {
            let difference = first.find_difference(subject).unwrap_or_else(|stop| Some(stop.to_string()));
            difference.map_or(checked, |words| Check::Determinism.report(Finding::Failed, words))
        }
        Check::Foresight => {
            let new = report_result(checked.check, foresight::check_unseen_walk(walk));
            CheckReport { words: format!("{}; {}", new.words, checked.words), ..new }
        }
        _ => checked,
    }
}

struct Bench<'a> {
    subject: &'a Subject,
    market: &'a Market,
    candles: &'a [Candle],
    warmup: usize,
    longer: LongerCandles,
    answers: Vec<Answer>,
    answers_without_results: Vec<Answer>,
}

type CheckResult = Result<(Finding, String), RunError>;

impl<'a> Bench<'a> {
    fn new(subject: &'a Subject, market: &'a Market, warmup: usize) -> Result<Self, RunError> {
        let candles = &market.candles[..];
        let strategy = subject.build().map_err(RunError::Build)?;
        let longer = LongerCandles::for_bot(&subject.bot, strategy.longer_intervals()).unwrap_or_default();
        let answers = subject.run(candles, RunMode::FULL)?;
        let answers_without_results = subject.run(candles, RunMode::WITHOUT_RESULTS)?;
        Ok(Self { subject, market, candles, warmup, longer, answers, answers_without_results })
    }

    fn required_history(&self, candles: &[Candle]) -> usize {
        self.longer.required_history(self.warmup, candles).unwrap_or(candles.len())
    }
}

type CheckFn<'m> = dyn FnMut(&Bench<'_>) -> CheckResult + 'm;

fn check_all_markets(check: Check, benches: &[Bench<'_>], make: &mut CheckFn<'_>) -> CheckReport {
    let mut last = check.report(Finding::NotRun, "no candles");
    for bench in benches {
        let mut found = report_result(check, make(bench));
        if found.finding == Finding::Failed {
            found.words = format!("{}: {}", bench.market.name, found.words);
            return found;
        }
        if last.finding != Finding::Noted || found.finding == Finding::Noted {
            last = found;
        }
    }
    last
}

fn report_result(check: Check, found: CheckResult) -> CheckReport {
    match found {
        Ok((finding, words)) => check.report(finding, words),
        Err(stop) => check.report(Finding::Failed, stop.to_string()),
    }
}

fn passed(words: impl Into<String>) -> CheckResult {
    new_result(Finding::Passed, words)
}

fn noted(words: impl Into<String>) -> CheckResult {
    new_result(Finding::Noted, words)
}

fn failed(words: impl Into<String>) -> CheckResult {
    new_result(Finding::Failed, words)
}

#[expect(clippy::unnecessary_wraps, reason = "checks return this type")]
fn new_result(finding: Finding, words: impl Into<String>) -> CheckResult {
    Ok((finding, words.into()))
}

const SPARE_SYNTHETIC_CANDLES: usize = 1_500;
/// Maximum warm-up for which synthetic markets are long enough. Longer markets would make the checks too slow.
const MAX_SYNTHETIC_WARMUP: usize = 50_000;

/// Generates three markets for a strategy with this warm-up: a random walk, trends and mean-reverting prices.
/// The candles have the bot's interval.
pub fn synthetic_markets(subject: &Subject, warmup: usize) -> Vec<Market> {
    let count = candles_needed(warmup.min(MAX_SYNTHETIC_WARMUP)) + SPARE_SYNTHETIC_CANDLES;
    let market = |name: &str, candles: Vec<Candle>| Market {
        name: name.to_owned(),
        candles: at_interval(&candles, subject.bot.interval),
    };
    vec![
        market("random walk", random_walk(11, count)),
        market("trends", trending(12, count)),
        market("reversion", mean_reverting(13, count)),
    ]
}
