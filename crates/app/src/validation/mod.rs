//! Validation of a strategy: conformance checks, and checks that need a clock, files or processes.

mod elsewhere;
mod file;
mod process;
mod supervise;

pub use elsewhere::verify_best_set;
pub use process::{ChildProgram, answer_request};
pub use supervise::UnfinishedCheck;

use crate::bots::build_error_kind;
use crate::configuration::ProblemKind;
use candlewick_broker::clock::{Clock, Stopwatch, SystemClock};
use candlewick_records::{count_text, format_number, table};
use candlewick_sdk::testkit::{
    Check, CheckReport, Finding, FirstRun, Market, Progress, Subject, UnseenWalk, Validation,
    ValidationError, at_interval, candles_needed, check_clock, random_walk, synthetic_markets, validate,
};
use candlewick_sdk::{BuildError, Candle, LongerCandles, Signal, Strategy};
use process::Examination;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

pub const CHECK_COUNT: u64 = 15;
/// Maximum number of candles; only the newest are used. The checks process every candle dozens of times.
const MAX_CANDLES: usize = 50_000;
/// Maximum number of candles in the unseen random walk. More candles reveal rarer cheating but take more time.
const MAX_UNSEEN_CANDLES: usize = 100_000;
const ROUND_TIME_LIMIT: Duration = Duration::from_millis(100);
const FIRST_RUN_TIME_LIMIT: Duration = Duration::from_secs(1);
/// Approximate number of runs over the given candles that all checks together need.
const TOTAL_RUNS: u32 = 90;
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_mins(1);
/// Minimum number of market candles in addition to the candles that the warm-up needs.
const MIN_EXTRA_CANDLES: usize = 300;
const MIN_EXTRA_UNSEEN_CANDLES: usize = 1_500;

#[derive(Debug, Serialize, Deserialize)]
pub struct ValidationReport {
    pub checked: Vec<CheckReport>,
    markets: Vec<CheckedMarket>,
    /// Results of the checks; `None` if the strategy was too slow to be checked.
    validation: Option<Validation>,
    speed: Speed,
}

#[derive(Debug, Serialize, Deserialize)]
struct CheckedMarket {
    name: String,
    candles: usize,
    given: usize,
}

#[derive(Clone, Debug)]
pub struct ValidationOptions {
    pub seed: u64,
    /// Number of candles in the unseen random walk. `None` means as many as one run processes in about 0.1 s.
    pub unseen_candles: Option<usize>,
    pub program: ChildProgram,
    pub limit: Duration,
}

#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum CheckError {
    #[error("{problem}")]
    Build {
        problem: String,
        /// Whether the cause is a file that the strategy reads, rather than a setting.
        is_data: bool,
    },
    #[error("the strategy panics when it is built: {message}")]
    Panic { message: String },
    #[error("{message}")]
    TooFewCandles { message: String },
    #[error(transparent)]
    #[serde(skip)]
    Unfinished(UnfinishedCheck),
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
        let is_data = build_error_kind(&error) == ProblemKind::Data;
        Self::Build { problem: error.to_string(), is_data }
    }
}

/// Runs every check in a new process. Uses three synthetic markets if `market` is `None`.
/// Calls `progress` several times a second with the number of checks begun.
pub fn examine(
    subject: &Subject,
    market: Option<Market>,
    options: &ValidationOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<ValidationReport, CheckError> {
    let given = market.as_ref().map_or(0, |market| market.candles.len());
    let market = market.map(|market| keep_newest(market, MAX_CANDLES));
    let (name, candles) = market.map(|market| (market.name, market.candles)).unzip();
    let candles = candles.unwrap_or_default();
    let ValidationOptions { seed, unseen_candles: unseen, limit, .. } = *options;
    let examination = Examination { market: name, given, seed, unseen, limit };
    let examined = options.program.examine(subject, &candles, examination, progress);
    examined.map_err(CheckError::Unfinished)?
}

fn examine_in_process(
    subject: &Subject,
    market: Option<Market>,
    examination: &Examination,
    itself: &ChildProgram,
    progress: &mut dyn FnMut(Check),
) -> Result<ValidationReport, CheckError> {
    let given = market.as_ref().map(|_| examination.given);
    let choose = |warmup| market.map_or_else(|| synthetic_markets(subject, warmup), |market| vec![market]);
    let watch = Stopwatch::start();
    // Builds the first instance of the strategy before any other.
    let (first, markets) = FirstRun::new(subject, choose, &mut || watch.elapsed() > FIRST_RUN_TIME_LIMIT)?;
    let warmup = first.warmup();
    progress(Check::Speed);
    let speed = Speed::measure(subject);
    let affordable = affordable_candle_count(&speed, warmup, examination.limit);
    let markets: Vec<Market> = match given {
        Some(_) => markets.into_iter().map(|market| keep_newest(market, affordable)).collect(),
        None => markets,
    };
    let names = markets.iter().map(|market| {
        let candles = market.candles.len();
        CheckedMarket { name: market.name.clone(), candles, given: given.unwrap_or(candles) }
    });
    let names = names.collect();
    let mut examined = ValidationReport { checked: Vec::new(), markets: names, validation: None, speed };
    let speed = examined.speed.check();
    if speed.finding == Finding::Failed {
        // With such a slow strategy, the other checks would take hours.
        examined.checked.push(speed);
        return Ok(examined);
    }
    let usual = || unseen_candle_count(&examined.speed, warmup.min(MAX_CANDLES));
    let unseen = UnseenWalk { seed: examination.seed, candles: examination.unseen.unwrap_or_else(usual) };
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

fn affordable_candle_count(speed: &Speed, warmup: usize, limit: Duration) -> usize {
    let all_runs = speed.candle.unwrap_or_default().saturating_mul(TOTAL_RUNS).as_nanos().max(1);
    let affordable = usize::try_from(limit.as_nanos() / 2 / all_runs).unwrap_or(MAX_CANDLES);
    affordable.max(candles_needed(warmup.min(MAX_CANDLES)) + MIN_EXTRA_CANDLES)
}

fn unseen_candle_count(speed: &Speed, warmup: usize) -> usize {
    let candle = speed.candle.unwrap_or_default().as_nanos().max(1);
    let affordable = usize::try_from(ROUND_TIME_LIMIT.as_nanos() / candle).unwrap_or(MAX_UNSEEN_CANDLES);
    let needed = candles_needed(warmup);
    affordable.clamp(needed + MIN_EXTRA_UNSEEN_CANDLES, MAX_UNSEEN_CANDLES.max(needed * 2))
}

fn keep_newest(mut market: Market, count: usize) -> Market {
    let surplus = market.candles.len().saturating_sub(count);
    market.candles.drain(..surplus);
    market
}

impl ValidationReport {
    pub fn render(&self, subject: &Subject) -> String {
        let entry = &subject.entry;
        let markets = self.markets.iter().map(|CheckedMarket { name, candles, given }| match candles {
            candles if candles < given => {
                format!("{name} (the newest {} of {} candles)", format_number(candles), format_number(given))
            }
            candles => format!("{name} ({})", count_text(*candles, "candle", "candles")),
        });
        let is_usual = subject.params.as_object().is_none_or(serde_json::Map::is_empty);
        let params = if is_usual { "default parameters".to_owned() } else { subject.params.to_string() };
        let mut text = format!(
            "{} {} with {params} on {} {}: {}",
            entry.name,
            entry.version,
            subject.bot.symbol,
            subject.bot.interval,
            markets.collect::<Vec<_>>().join(", ")
        );
        let mut lines = table(["check", "result", "found"]);
        for checked in &self.checked {
            lines.add_row([checked.check.name(), label(checked.finding), &checked.words]);
        }
        let _ = write!(text, "\n\n{}\n\n{}", lines.render(), self.render_summary());
        text
    }

    pub fn to_json(&self, subject: &Subject) -> Value {
        let check = |checked: &candlewick_sdk::testkit::CheckReport| json!({ "check": checked.check.name(), "result": checked.finding.name(), "found": checked.words });
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        json!({
            "strategy": subject.entry.name,
            "version": subject.entry.version,
            "params": subject.params,
            "symbol": subject.bot.symbol.as_str(),
            "interval": subject.bot.interval.to_string(),
            "markets": self.markets,
            "signals": self.validation.as_ref().map(|validation| validation.signals),
            "warmup": self.validation.as_ref().map(|validation| json!({
                "declared": validation.declared_warmup, "needed": validation.needed_warmup,
            })),
            "candle_ns": self.speed.candle.map(nanoseconds),
            "floor_ns": nanoseconds(self.speed.floor),
            "checks": self.checked.iter().map(check).collect::<Vec<_>>(),
            "passed": self.has_passed(),
        })
    }

    fn has_passed(&self) -> bool {
        self.checked.iter().all(|checked| checked.finding != Finding::Failed)
    }

    fn render_summary(&self) -> String {
        let older: usize = self.markets.iter().map(|market| market.given - market.candles).sum();
        let signals = match self.validation.as_ref().map(|validation| validation.signals) {
            Some(0) => "The strategy gave no signals on these candles, so the checks cover little: use --data or other parameters.".to_owned(),
            Some(all) => format!("The strategy gave {} on these candles.", count_text(all, "signal", "signals")),
            None => "The strategy was not run on these candles.".to_owned(),
        };
        if older == 0 {
            return signals;
        }
        let not_checked = count_text(older, "candle before these was", "candles before these were");
        format!("{signals} {not_checked} not checked. To check older candles, use a file that ends earlier.")
    }
}

const fn label(finding: Finding) -> &'static str {
    match finding {
        Finding::Passed => "passed",
        Finding::Noted => "note",
        Finding::Failed => "FAILED",
        Finding::NotRun => "not run",
    }
}

/// Number of timing rounds. The fastest round counts, since other load can only slow a round down.
const SPEED_ROUNDS: usize = 5;
const SPEED_CANDLES: usize = 2_000;
const CHUNK_CANDLES: usize = 16;
/// Maximum time per candle. At this rate, a year of one-minute candles takes nine minutes.
const MAX_TIME_PER_CANDLE: Duration = Duration::from_millis(1);
/// Time per candle that counts as slow. A sweep of 1,000 sets over a year of one-minute candles then takes 3 hours.
const SLOW_TIME_PER_CANDLE: Duration = Duration::from_micros(20);

#[derive(Debug, Serialize, Deserialize)]
struct Speed {
    /// Strategy time per candle; `None` if the strategy did not run to the end.
    candle: Option<Duration>,
    floor: Duration,
}

struct IdleStrategy;

impl Strategy for IdleStrategy {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        None
    }
}

impl Speed {
    /// Measures an idle strategy and the checked strategy in turn, on candles that no other check uses.
    fn measure(subject: &Subject) -> Self {
        let candles = &at_interval(&random_walk(31, SPEED_CANDLES), subject.bot.interval);
        let (mut best, mut floor) = (None, Duration::MAX);
        for _ in 0..SPEED_ROUNDS {
            floor = floor.min(measure_round(Box::new(IdleStrategy), LongerCandles::default(), candles));
            let Ok(strategy) = subject.build() else { continue };
            let longer = LongerCandles::for_bot(&subject.bot, strategy.longer_intervals());
            // Panics are ignored here, because other checks report a strategy that panics.
            let measure = || measure_round(strategy, longer.unwrap_or_default(), candles);
            let Ok(taken) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(measure)) else { break };
            best = Some(best.unwrap_or(taken).min(taken));
        }
        Self { candle: best, floor }
    }

    fn check(&self) -> CheckReport {
        let Some(candle) = self.candle else {
            return Check::Speed.report(Finding::NotRun, "the strategy did not process all candles");
        };
        let floor = self.floor.as_nanos();
        let words = format!("{} ns per candle ({floor} ns for an empty strategy)", candle.as_nanos());
        if candle > MAX_TIME_PER_CANDLE {
            let words =
                format!("{words}: over {} ms, so no other check ran", MAX_TIME_PER_CANDLE.as_millis());
            return Check::Speed.report(Finding::Failed, words);
        }
        let finding = if candle > SLOW_TIME_PER_CANDLE { Finding::Noted } else { Finding::Passed };
        Check::Speed.report(finding, words)
    }
}

fn measure_round(mut strategy: Box<dyn Strategy>, mut longer: LongerCandles, candles: &[Candle]) -> Duration {
    let watch = Stopwatch::start();
    let mut shown = 0_u32;
    for few in candles.chunks(CHUNK_CANDLES) {
        for candle in few {
            Progress::record(shown as usize);
            std::hint::black_box(longer.feed_candle(candle, &mut *strategy));
        }
        shown += few.len() as u32;
        if watch.elapsed() > ROUND_TIME_LIMIT {
            break;
        }
    }
    watch.elapsed() / shown.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_slow_strategies_and_fails_too_slow_ones() {
        for (ns, expected) in [
            (Some(90), Finding::Passed),
            (Some(20_001), Finding::Noted),
            (Some(1_000_001), Finding::Failed),
            (None, Finding::NotRun),
        ] {
            let speed = Speed { candle: ns.map(Duration::from_nanos), floor: Duration::from_nanos(2) };
            assert_eq!(speed.check().finding, expected, "{ns:?}");
        }
    }
}
