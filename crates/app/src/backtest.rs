//! Prepares and runs the backtest of a configuration.

use crate::bots::{
    BotSet, build_strategies, clear_unused_longer_share, convert_backtest_error, convert_search_error,
    session_problem, session_settings,
};
use crate::candles::{CandleChoice, Candles, FineCandleCoverage};
use crate::configuration::{BaseLayer, Flag, LoadedConfig, Problems, RealMoneyRequest, signal_problems};
use crate::error::{AppError, Result};
use crate::inspection::estimate_ruin;
use crate::lints::{self, LintInput, Stage};
use crate::progress::Progress;
use crate::signals::SignalList;
use candlewick_backtest::{Backtest, BacktestResult, BacktestSettings};
use candlewick_broker::clock::Stopwatch;
use candlewick_engine::{BotSettings, Header, JournalHash, OutsideSignal, Recorder, check_stakes};
use candlewick_journal::{FileJournal, NullJournal, TeeRecorder};
use candlewick_records::Delays;
use candlewick_sdk::{CandleSeries, Millis, Registry, Strategy};
use candlewick_search::SearchError;
use candlewick_search::sensitivity::SensitivityAnalysis;
use candlewick_simulator::{RecordedLatency, SimulationSettings};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub type Strategies = Vec<Box<dyn Strategy>>;

#[derive(Default)]
pub struct BacktestOptions {
    pub candles: CandleChoice,
    pub stress: Option<f64>,
    pub latency: Option<LatencyOptions>,
    pub signals: Option<PathBuf>,
}

pub struct LatencyOptions {
    pub delays: Delays,
    pub seed: u64,
    pub journal: String,
}

pub struct PreparedBacktest {
    pub loaded: LoadedConfig,
    pub settings: BacktestSettings,
    pub header: Header,
    pub candles: Candles,
    pub coarse_notice: Option<String>,
    pub recorded_payout_percent: Option<f64>,
    pub has_simulated_latency: bool,
    pub wants_prices: Vec<bool>,
    pub signals: Vec<(Millis, OutsideSignal)>,
}

pub struct BacktestRun {
    pub result: BacktestResult,
    pub journal_hash: String,
    pub elapsed: Duration,
}

impl BacktestOptions {
    pub fn prepare(
        self,
        files: &[PathBuf],
        registry: &Registry,
        progress: &dyn Progress,
    ) -> Result<(PreparedBacktest, Strategies)> {
        let stress = Flag::new("--stress", "simulation", "stress", self.stress);
        let signals = Flag::new("--signals", "signals", "list", self.signals.as_ref());
        let flags = self.candles.flags().into_iter().chain(stress).chain(signals).collect();
        self.prepare_loaded(LoadedConfig::read(files, BaseLayer::Sandbox, flags)?, registry, progress)
    }

    pub(crate) fn prepare_loaded(
        self,
        loaded: LoadedConfig,
        registry: &Registry,
        progress: &dyn Progress,
    ) -> Result<(PreparedBacktest, Strategies)> {
        loaded.check_mode(RealMoneyRequest::NotRequested)?;
        loaded.check_simulation()?;
        let BotSet { strategies, wants_prices, versions } = BotSet::build(&loaded, registry)?;
        let simulation = loaded.config.simulation.clone();
        let has_simulated_latency = self.latency.as_ref().is_some_and(|one| one.delays.is_simulated());
        let (simulation, seen_payout_percent) = match self.latency {
            None => (simulation, None),
            Some(latency) => latency.apply_to(simulation)?,
        };
        let mut settings = BacktestSettings {
            session: session_settings(&loaded),
            simulation,
            price_every_ms: Millis::new(i64::from(loaded.config.runtime.price_every_ms)),
        };
        let refused = |error| AppError::from(session_problem(&error, &loaded));
        let ladders = check_stakes(&settings.session).map_err(refused)?;
        let ruin = estimate_ruin(&loaded).map_err(refused)?;
        let mut candles = self.candles.gather(&loaded, progress)?;
        let coarse = self.candles.check_expiries(&loaded, &candles.markets, FineCandleCoverage::Somewhere)?;
        candles.notices.extend(ladders.into_iter().map(|notice| notice.text).chain(ruin.ladder_lines));
        candles.notices.extend(ruin.stake_lines);
        let lint_input = LintInput::new(&loaded, registry).with_candles(&candles.series);
        candles.notices.extend(lints::collect_texts(&lint_input, Stage::Backtest));
        let disjoint = disjoint_best_payout_notice(&loaded, &candles.series)
            .or_else(|| disjoint_candles_notice(&loaded.config.bots, &candles.series));
        candles.notices.extend(disjoint);
        candles.notices.extend(ruin.refusal.map(|why| format!("a live run would be rejected: {why}")));
        Problems::check(signal_problems(&loaded))?;
        let list = SignalList::load(&loaded)?.unwrap_or_default();
        let (signals, contradictions) = list.signals(&loaded.config.bots, &candles.series);
        if list.len() > 0 {
            let (list, count) = (list.describe(), signals.len());
            candles.notices.push(format!("the signal list ({list}) has {count} signals for these candles"));
        }
        candles.notices.extend(contradictions);
        settings.session = clear_unused_longer_share(settings.session, &strategies, Some(&candles.series));
        let header = settings.header(versions, Some(candles.hash.clone()));
        let prepared = PreparedBacktest {
            loaded,
            settings,
            header,
            candles,
            coarse_notice: coarse,
            recorded_payout_percent: seen_payout_percent,
            has_simulated_latency,
            wants_prices,
            signals,
        };
        Ok((prepared, strategies))
    }
}

pub(crate) fn thread_count(threads: Option<NonZeroUsize>) -> NonZeroUsize {
    threads.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

fn disjoint_best_payout_notice(loaded: &LoadedConfig, series: &[CandleSeries]) -> Option<String> {
    let names = &loaded.config.risk.best_payout_of;
    let chosen = series.iter().filter(|one| names.iter().any(|name| name == one.symbol().as_str()));
    let spans: Vec<(Millis, Millis)> = chosen.map(|one| (one.start(), one.end())).collect();
    let (start, end) = (spans.iter().map(|span| span.0).max()?, spans.iter().map(|span| span.1).min()?);
    (start >= end).then(|| {
        let symbols = names.join(", ");
        format!("risk.best_payout_of: the candles of {symbols} do not overlap; choose a common period")
    })
}

fn disjoint_candles_notice(bots: &[BotSettings], series: &[CandleSeries]) -> Option<String> {
    let is_heard = |one: &CandleSeries| bots.iter().any(|bot| bot.series() == one.series());
    let held = || series.iter().filter(|one| !one.candles().is_empty() && is_heard(one));
    let first = held().min_by_key(|one| one.end())?;
    let second = held().max_by_key(|one| one.start())?;
    (second.start() >= first.end()).then(|| {
        let [first, second] = [first, second].map(|one| format!("{}@{}", one.symbol(), one.interval()));
        format!(
            "the candles of {first} and {second} do not overlap, so their bots never trade at the same time; \
             use candles of the same period, or run each bot separately"
        )
    })
}

impl LatencyOptions {
    /// Applies the recorded latency to `simulation`. Also returns the journal's median payout, in percent.
    fn apply_to(self, simulation: SimulationSettings) -> Result<(SimulationSettings, Option<f64>)> {
        let recorded = RecordedLatency { seed: self.seed, samples_ms: self.delays.arrival_delays() };
        if recorded.samples_ms.is_empty() {
            let problem = format!("--latency-from {}: the journal has no answered orders", self.journal);
            return Err(AppError::data(problem)
                .with_help("record a live or sandbox session first, or set simulation.latency_ms"));
        }
        let latency_ms = recorded.median();
        let simulation = SimulationSettings { latency_ms, recorded_latency: Some(recorded), ..simulation };
        Ok((simulation, self.delays.median_payout_percent()))
    }
}

impl PreparedBacktest {
    /// Calls `act` with a [`SensitivityAnalysis`] of this backtest. `threads` defaults to one per core.
    pub fn with_sensitivity_analysis<T>(
        &self,
        registry: &Registry,
        threads: Option<NonZeroUsize>,
        act: impl FnOnce(&SensitivityAnalysis<'_>) -> Result<T, SearchError>,
    ) -> Result<T> {
        let Self { loaded, settings, candles, wants_prices, .. } = self;
        let repeat = SensitivityAnalysis {
            settings,
            wants_prices,
            candles: &candles.series,
            markets: &candles.markets,
            balance: loaded.initial_balance()?,
            build_strategies: &|| build_strategies(&settings.session, registry),
            threads: thread_count(threads),
        };
        act(&repeat).map_err(|error| convert_search_error(error, loaded))
    }

    pub fn replay(
        &self,
        strategies: Strategies,
        journal: Option<&Path>,
        progress: &dyn Progress,
    ) -> Result<BacktestRun> {
        let (series, markets) = (&self.candles.series, self.candles.markets.clone());
        let backtest = Backtest::new(&self.settings, strategies, &self.wants_prices, series, markets);
        let backtest = backtest.map_err(|error| convert_backtest_error(error, &self.loaded))?;
        let backtest = backtest.with_signals(self.signals.clone());
        let created = journal.map(FileJournal::create).transpose();
        let mut journal = created.map_err(|error| AppError::invalid("--journal").with_source(error))?;
        let mut hash = JournalHash::new();
        let mut bar = progress.bar("Replaying candles");
        let watch = Stopwatch::start();
        let mut unrecorded = NullJournal;
        let second: &mut dyn Recorder = match &mut journal {
            Some(journal) => journal,
            None => &mut unrecorded,
        };
        let mut recorder = TeeRecorder { first: &mut hash, second };
        let mut show = |done, total| bar.update(done, total);
        let finished = backtest.run(&self.header, &mut recorder, &mut show)?;
        if let Some(mut journal) = journal {
            journal.finish()?;
        }
        Ok(BacktestRun { result: finished, journal_hash: hash.finish(), elapsed: watch.elapsed() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{bot, flat_candles};

    #[test]
    fn reports_candles_of_bots_that_do_not_overlap() {
        let series = |symbol: &str, interval: &str, from: i64| flat_candles(symbol, interval, from..from + 3);
        let bots = [bot("EURUSD", "5m"), bot("GBPUSD", "5m")];
        let euro = series("EURUSD", "5m", 0);
        // The first series covers minutes 0 to 15, the second series minutes 15 to 30.
        let after = disjoint_candles_notice(&bots, &[series("GBPUSD", "5m", 3), euro.clone()]).unwrap();
        assert!(after.contains("EURUSD@5m and GBPUSD@5m do not overlap"), "{after}");
        assert_eq!(disjoint_candles_notice(&bots, &[series("GBPUSD", "5m", 2), euro.clone()]), None);
        // These one-minute candles only price a bot's trades.
        assert_eq!(disjoint_candles_notice(&bots[..1], &[euro, series("EURUSD", "1m", 900)]), None);
    }
}
