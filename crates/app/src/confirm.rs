//! Confirmations: prepares sets of bots, and tests them on sealed candles.
//!
//! Nothing about sealed candles leaves this module before the answer is durable: their preparation and replay report no
//! progress, log nothing and print no panics, and their errors become the answer *not shown*.

use crate::backtest::{BacktestOptions, BacktestRun, PreparedBacktest};
use crate::bots::{BotSet, session_settings};
use crate::candles::{CandleChoice, read_sealed};
use crate::configuration::{BaseLayer, LoadedConfig};
use crate::error::{AppError, Result};
use crate::evidence::{EvidenceSettings, SealUse};
use crate::progress::{NoProgress, Progress};
use crate::search::hash_bot_files;
use candlewick_broker::clock::{Clock, Stopwatch, SystemClock};
use candlewick_engine::{BotSettings, BotVerdict, IntentRow, JudgedTrade, TradeBook};
use candlewick_sdk::{CandleSeries, Millis, Outcome, Payout, Registry};
use candlewick_search::evidence::{
    Confirmation, ConfirmationError, ConfirmationRequest, CopiedDays, DayMoves, EvidenceKind, EvidenceLedger,
    PlannedTest, SeenDays, SetForecast, TestedSet, confirm, find_copies, is_unseen, share_plan,
};
use candlewick_statistics::EdgeTestPlan;
use chrono::NaiveDate;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

const NOTHING_SEALED_HINT: &str = "explore the candles first: `candlewick backtest` seals the last 20 % of their days; \
                                   synthetic candles are never sealed";
const NO_DAYS_HINT: &str = "fetch or import candles of at least one whole day after the sealed day; \
                            `candlewick data check` finds damaged ones";

/// Bots that are tested as a whole, and the files that configure them.
#[derive(Clone, Debug)]
pub struct BotSetSource {
    pub name: String,
    pub files: Vec<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct ConfirmOptions {
    pub sets: Vec<BotSetSource>,
    /// Candles of all sets. Their range limits only the candles that may be explored.
    pub candles: CandleChoice,
}

/// A confirmation that has not begun.
pub struct PreparedConfirmation<'a> {
    options: ConfirmOptions,
    registry: &'a Registry,
    ledger: EvidenceLedger,
    request: ConfirmationRequest,
    /// Duration of the test, whatever its result: an upper estimate from the replays on explored candles.
    duration: Duration,
    /// Time of the first entry of the ledger.
    pub born: Option<Millis>,
    pub planned: PlannedTest,
    pub forecasts: Vec<SetForecast>,
    /// Backtests of the sets on the candles that may be explored.
    pub explored: Vec<PreparedBacktest>,
    /// An earlier test of the same bots that showed an edge.
    pub shown_before: Option<ShownTest>,
}

/// A test that showed an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTest {
    pub number: usize,
    pub days: Range<NaiveDate>,
}

/// Result of the preparation of a confirmation.
pub enum ConfirmationStart<'a> {
    Ready(Box<PreparedConfirmation<'a>>),
    /// These bots showed an edge already, and there are no later days to test.
    Shown(ShownTest),
}

/// Replay of one set on sealed days, after the answer revealed them.
pub struct RevealedSet {
    pub name: String,
    pub is_shown: bool,
    pub prepared: PreparedBacktest,
    pub run: BacktestRun,
    /// Verdicts of the bots, judged at the error rate of the test.
    pub verdicts: Vec<BotVerdict>,
}

type Replay = (PreparedBacktest, BacktestRun);

impl ConfirmOptions {
    pub fn prepare<'a>(
        self,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<ConfirmationStart<'a>> {
        let loaded = self.load_all()?;
        let (settings, plan) = find_shared_settings(&loaded)?;
        let ledger = settings.ledger()?;
        let evidence = ledger.read()?;
        let identity = identify(&loaded, registry)?;
        let shown_before = evidence
            .find_shown_test(&identity)
            .map(|(test, result)| ShownTest { number: test.number, days: test.from..result.until });
        let sealed = evidence.testable_days(Millis::MAX);
        let sealed = sealed.ok_or_else(|| to_app_error(ConfirmationError::NothingSealed))?;
        let explore = |one: LoadedConfig| {
            let (prepared, run) = replay(&self.candles, one, (registry, progress))?;
            if prepared.candles.evidence == EvidenceKind::Practice {
                let problem = "synthetic candles cannot show an edge";
                return Err(AppError::data(problem).with_help("fetch or import the candles of a market"));
            }
            Ok((prepared, run))
        };
        let explored = loaded.into_iter().map(explore).collect::<Result<Vec<Replay>>>()?;
        let mut request = ConfirmationRequest {
            identity,
            plan,
            sets: self.sets.len(),
            candles: Vec::new(),
            end: Millis::MAX,
            now: SystemClock::new().now(),
            reveal: false,
        };
        let seen_moves = settings.seen_moves()?.read()?;
        for (prepared, _) in &explored {
            let candles = run_silently(|| read_sealed(&prepared.loaded, &sealed)).unwrap_or_default();
            request.end = request.end.min(find_end(&prepared.loaded.config.bots, &candles));
            check_copies(&candles, &seen_moves)?;
            request.candles.extend(candles);
        }
        let planned = match (PlannedTest::new(&evidence, &request), &shown_before) {
            (Err(ConfirmationError::NoTestableDays { .. }), Some(shown)) => {
                return Ok(ConfirmationStart::Shown(shown.clone()));
            }
            (planned, _) => planned.map_err(to_app_error)?,
        };
        let (forecasts, duration) = self.forecast((&planned, plan), &explored, registry)?;
        Ok(ConfirmationStart::Ready(Box::new(PreparedConfirmation {
            explored: explored.into_iter().map(|(prepared, _)| prepared).collect(),
            duration,
            born: evidence.born,
            options: self,
            registry,
            ledger,
            request,
            planned,
            forecasts,
            shown_before,
        })))
    }

    /// Returns what to expect of each set, and the duration of the test.
    fn forecast(
        &self,
        (planned, plan): (&PlannedTest, EdgeTestPlan),
        explored: &[Replay],
        registry: &Registry,
    ) -> Result<(Vec<SetForecast>, Duration)> {
        let days = (planned.days.end - planned.days.start).num_days() as f64;
        let own = share_plan(plan, planned.number, self.sets.len());
        let mut forecasts = Vec::with_capacity(explored.len());
        let mut duration = Duration::ZERO;
        for (set, (prepared, run)) in self.sets.iter().zip(explored) {
            let span = days_in(&prepared.candles.span());
            let warm_up = longest_warm_up(&prepared.loaded, registry)?;
            if warm_up >= days {
                let problem =
                    format!("{}: the warm-up of {warm_up:.0} days leaves no sealed day to trade", set.name);
                return Err(AppError::data(problem).with_help(NO_DAYS_HINT));
            }
            let (trades, payout) = count_trades(&run.result.book);
            let expected = trades / (span - warm_up).max(1.0) * (days - warm_up);
            forecasts.push(SetForecast::new(&set.name, expected.round() as u64, (payout, own)));
            duration += run.elapsed.mul_f64(2.0 * days / span.max(1.0));
        }
        Ok((forecasts, Duration::from_secs(duration.as_secs() + 1)))
    }

    fn load_all(&self) -> Result<Vec<LoadedConfig>> {
        self.sets.iter().map(|set| self.load(set)).collect()
    }

    fn load(&self, set: &BotSetSource) -> Result<LoadedConfig> {
        LoadedConfig::read(&set.files, BaseLayer::Sandbox, self.candles.flags())
    }

    fn sealed_candles(&self, days: &Range<NaiveDate>) -> CandleChoice {
        CandleChoice { from: None, to: None, seal: SealUse::Confirm(days.clone()), ..self.candles.clone() }
    }
}

impl PreparedConfirmation<'_> {
    /// Returns the plan with the error rate that each set of test `number` has.
    pub fn plan(&self, number: usize) -> EdgeTestPlan {
        share_plan(self.request.plan, number, self.options.sets.len())
    }

    /// Runs the test. Returns the sets that show an edge, or all sets if `reveal` is set.
    ///
    /// A set is not shown if `has_gaps` returns `true` for its trades.
    pub fn run(
        &self,
        reveal: bool,
        has_gaps: fn(&TradeBook) -> bool,
    ) -> Result<(Confirmation, Vec<RevealedSet>)> {
        if identify(&self.options.load_all()?, self.registry)? != self.request.identity {
            let problem = "the configuration or a file that it names changed since this command started";
            return Err(AppError::invalid(problem).with_help("run the command again"));
        }
        let request = ConfirmationRequest { now: SystemClock::new().now(), reveal, ..self.request.clone() };
        let (mut replays, started) = (Vec::new(), Stopwatch::start());
        let confirmation = confirm(&self.ledger, &request, |days| {
            let run = run_silently(|| self.replay_all(days));
            let sets = run.map(|run| {
                replays = run;
                replays.iter().map(|(_, run)| to_tested_set(&run.result.book, has_gaps)).collect()
            });
            // Neither the duration nor the time of the answer in the ledger depends on the trades.
            let unit = self.duration.as_millis().max(1);
            let rest = unit - started.elapsed().as_millis() % unit;
            std::thread::sleep(Duration::from_millis(u64::try_from(rest).unwrap_or_default()));
            sets
        });
        let confirmation = confirmation.map_err(to_app_error)?;
        let plan = self.plan(confirmation.number);
        let reveal_set = |(index, (prepared, run)): (usize, Replay)| {
            let is_shown = confirmation.shown.get(index) == Some(&true);
            let name = self.options.sets[index].name.clone();
            let bots = prepared.settings.session.bots.len();
            let verdicts = judge_bots(&run.result.book, bots, (&confirmation.seen, plan));
            (is_shown || reveal).then_some(RevealedSet { name, is_shown, prepared, run, verdicts })
        };
        let revealed = replays.into_iter().enumerate().filter_map(reveal_set).collect();
        Ok((confirmation, revealed))
    }

    fn replay_all(&self, days: &Range<NaiveDate>) -> Result<Vec<Replay>> {
        let candles = self.options.sealed_candles(days);
        let sets = self.options.sets.iter();
        sets.map(|set| replay(&candles, self.options.load(set)?, (self.registry, &NoProgress))).collect()
    }
}

/// Fails if sealed candles were explored under other dates or in an altered form.
fn check_copies(candles: &[CandleSeries], seen: &[DayMoves]) -> Result<()> {
    let copies =
        candles.iter().flat_map(|one| find_copies(one, seen).into_iter().map(move |copy| (one, copy)));
    let Some((series, CopiedDays { sealed, seen })) = copies.into_iter().next() else { return Ok(()) };
    let problem = format!(
        "the sealed candles of {} from {} until before {} are a copy of explored candles from {} until before {}",
        series.series(),
        sealed.start,
        sealed.end,
        seen.start,
        seen.end
    );
    Err(AppError::data(problem)
        .with_help("these days prove nothing any more; use later candles of the market"))
}

fn to_tested_set(book: &TradeBook, has_gaps: fn(&TradeBook) -> bool) -> TestedSet {
    let rows: &[IntentRow] = if has_gaps(book) { &[] } else { book.rows() };
    TestedSet { trades: rows.iter().map(JudgedTrade::from_row).collect() }
}

/// Returns the time until which all bots have candles, or the earliest time if one of them has none.
fn find_end(bots: &[BotSettings], candles: &[CandleSeries]) -> Millis {
    let end = |bot: &BotSettings| {
        let usable =
            candles.iter().filter(|one| one.symbol() == bot.symbol && one.interval() <= bot.interval);
        usable.max_by_key(|one| one.interval()).map_or(Millis::new(i64::MIN), CandleSeries::end)
    };
    bots.iter().map(end).min().unwrap_or(Millis::new(i64::MIN))
}

/// Returns the longest time in days that a bot needs before its first signal.
fn longest_warm_up(loaded: &LoadedConfig, registry: &Registry) -> Result<f64> {
    let warm_ups = BotSet::build(loaded, registry)?.warmups(&loaded.config.bots);
    let longest = warm_ups.iter().map(|(bot, candles)| bot.interval.length().get() as f64 * *candles as f64);
    Ok(longest.fold(0.0, f64::max) / Millis::DAY.get() as f64)
}

fn days_in(span: &Range<Millis>) -> f64 {
    (span.end - span.start).get() as f64 / Millis::DAY.get() as f64
}

fn judge_bots(book: &TradeBook, bots: usize, (seen, plan): (&SeenDays, EdgeTestPlan)) -> Vec<BotVerdict> {
    let is_evidence = |row: &&IntentRow| is_unseen(&JudgedTrade::from_row(row), seen);
    let judge = |bot: usize| {
        let own = book.rows().iter().filter(|row| row.approved.bot().index() == bot);
        BotVerdict::from_rows(own.filter(is_evidence), plan)
    };
    (0..bots).map(judge).collect()
}

fn replay(
    candles: &CandleChoice,
    loaded: LoadedConfig,
    (registry, progress): (&Registry, &dyn Progress),
) -> Result<Replay> {
    let options = BacktestOptions { candles: candles.clone(), ..BacktestOptions::default() };
    let (prepared, strategies) = options.prepare_loaded(loaded, registry, progress)?;
    let run = prepared.replay(strategies, None, progress)?;
    candles.check_trades(&prepared.loaded, &prepared.candles.markets, &run.result.book)?;
    Ok((prepared, run))
}

/// Runs `work` without log lines and without the message of a panic. Returns `None` if it fails or panics.
fn run_silently<T>(work: impl FnOnce() -> Result<T>) -> Option<T> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let silent = || tracing::dispatcher::with_default(&tracing::Dispatch::none(), work);
    let result = catch_unwind(AssertUnwindSafe(silent));
    std::panic::set_hook(hook);
    result.ok()?.ok()
}

/// Returns the settings of the ledger and the plan of the test, which all sets must share.
fn find_shared_settings(sets: &[LoadedConfig]) -> Result<(EvidenceSettings, EdgeTestPlan)> {
    let mut shared = None;
    for loaded in sets {
        let config = &loaded.config;
        if !config.evidence.seal {
            let problem = "a confirmation needs sealed candles; use true";
            return Err(loaded.problem("evidence.seal", problem).with_value("false").into());
        }
        let own = (config.evidence.clone(), limit_alpha(config.risk.verdict.to_plan()?));
        if *shared.get_or_insert_with(|| own.clone()) != own {
            let problem = "the sets of a confirmation need the same evidence.ledger and [risk.verdict]";
            return Err(AppError::invalid(problem).with_help("test the sets one by one"));
        }
    }
    shared.ok_or_else(|| AppError::invalid("no configuration to test"))
}

/// Limits the error rate of a plan to that of the ledger, which holds for all its tests together.
fn limit_alpha(plan: EdgeTestPlan) -> EdgeTestPlan {
    let alpha = plan.alpha().min(EdgeTestPlan::default().alpha());
    let limited = EdgeTestPlan::new(alpha, plan.beta(), plan.delta());
    limited.expect("a smaller alpha is valid").with_watch_trades(plan.watch_trades())
}

/// Returns the number of trades and their mean payout.
fn count_trades(book: &TradeBook) -> (f64, Option<f64>) {
    let is_counted = |row: &&IntentRow| row.outcome.is_some_and(|outcome| outcome != Outcome::Cancelled);
    let payouts = book.rows().iter().filter(is_counted).filter_map(|row| row.payout);
    let payouts: Vec<f64> = payouts.map(Payout::to_fraction).collect();
    let count = payouts.len() as f64;
    (count, (count > 0.0).then(|| payouts.iter().sum::<f64>() / count))
}

/// Hashes everything that is tested, except the candles: settings, versions of strategies, and the contents of files.
/// The order of the sets and the names of bots and files do not affect the hash.
fn identify(sets: &[LoadedConfig], registry: &Registry) -> Result<String> {
    let parts = sets.iter().map(|loaded| describe_set(loaded, registry));
    let mut parts = parts.collect::<Result<Vec<String>>>()?;
    parts.sort_unstable();
    Ok(blake3::hash(json!(parts).to_string().as_bytes()).to_hex().to_string())
}

fn describe_set(loaded: &LoadedConfig, registry: &Registry) -> Result<String> {
    let config = &loaded.config;
    let mut session = json!(session_settings(loaded));
    let limits = session["risk"]["bots"].take();
    session["risk"]["bots"] = config.bots.iter().map(|bot| limits[bot.name.as_str()].clone()).collect();
    if let Some(file) = session["risk"]["blackouts"].get_mut("file") {
        *file = Value::Null;
    }
    for bot in session["bots"].as_array_mut().into_iter().flatten() {
        bot["name"] = Value::Null;
    }
    replace_files(&mut session["bots"], &hash_bot_files(&config.bots)?);
    let list = config.signals.list.as_ref().and_then(|path| std::fs::read(path).ok());
    let list = list.map(|text| blake3::hash(&text).to_hex().to_string());
    let versions = BotSet::build(loaded, registry)?.versions;
    Ok(json!([session, versions, config.simulation, config.runtime.price_every_ms, list]).to_string())
}

/// Replaces file names by the hashes of the files.
fn replace_files(value: &mut Value, files: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(hash) = files.get(text.as_str()) {
                text.clone_from(hash);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| replace_files(value, files)),
        Value::Object(values) => values.values_mut().for_each(|value| replace_files(value, files)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn to_app_error(error: ConfirmationError) -> AppError {
    match error {
        ConfirmationError::Ledger(error) => error.into(),
        ConfirmationError::NothingSealed => AppError::data(error.to_string()).with_help(NOTHING_SEALED_HINT),
        ConfirmationError::NoTestableDays { .. } => AppError::data(error.to_string()).with_help(NO_DAYS_HINT),
        ConfirmationError::ShorterCandles { .. } => {
            AppError::data(error.to_string()).with_help("use the candles of the earlier test, or later ones")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: &str = "[[bots]]\nname = \"a\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rules\"\n\
                       close_type = \"01:00\"\nparams = { file = \"FILE\" }\n[risk.bots.a]\nmax_trades_per_day = 3\n";

    #[test]
    fn identity_depends_on_contents_and_not_on_names() {
        let registry = Registry::default().with_entry(candlewick_rules::entry()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, rule: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, rule).unwrap();
            path.display().to_string()
        };
        let first = write("first.toml", "buy = \"close > open\"\n");
        let same = write("same.toml", "buy = \"close > open\"\n");
        let other = write("other.toml", "buy = \"close < open\"\n");
        let identity = |texts: &[String]| {
            let loaded: Vec<LoadedConfig> =
                texts.iter().map(|text| LoadedConfig::from_text(text).unwrap()).collect();
            identify(&loaded, &registry).unwrap()
        };
        let set = |file: &str| SET.replace("FILE", file);
        let one = identity(&[set(&first)]);
        let renamed = set(&same).replace("\"a\"", "\"b\"").replace("bots.a", "bots.b");
        assert_eq!(identity(&[renamed]), one);
        for changed in [
            set(&other),
            set(&first).replace("= 3", "= 4"),
            set(&first).replace("\"01:00\"", "\"02:00\""),
            set(&first) + "[simulation]\npayout_percent = 70\n",
        ] {
            assert_ne!(identity(std::slice::from_ref(&changed)), one, "{changed}");
        }
        let both = [set(&first), set(&other)];
        let swapped = [set(&other), set(&first)];
        assert_eq!(identity(&both), identity(&swapped));
        assert_ne!(identity(&both), one);
    }

    #[test]
    fn silent_work_neither_logs_nor_panics() {
        assert_eq!(run_silently(|| Ok(3)), Some(3));
        assert_eq!(run_silently::<()>(|| Err(AppError::data("no candles"))), None);
        assert_eq!(run_silently::<()>(|| panic!("not printed")), None);
    }
}
