//! What a backtest comes to before its first candle is replayed, and the runs that are made of it.

use super::BacktestArguments;
use crate::arguments::GlobalArguments;
use crate::candles::basis_of;
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::journal::block_on;
use crate::progress::{Progress, Terminal, with_spinner};
use candlewick_app::bots::{BotSet, error_of_backtest, problem_of_session, session_settings, strategies_of};
use candlewick_app::candles::{CandleChoice, Candles, Fineness};
use candlewick_app::configuration::{Base, Flag, Loaded, Problems, RealMoney};
use candlewick_app::inspection::ruin_of;
use candlewick_backtest::{Backtest, BacktestSettings, Finished};
use candlewick_broker::clock::Stopwatch;
use candlewick_engine::{Header, JournalHash, Recorder, check_ladders};
use candlewick_journal::{FileJournal, JournalUrl, NullJournal, Reader, Tee};
use candlewick_records::Delays;
use candlewick_report::analysis::{Repeat, Sensitivity};
use candlewick_report::run::Caveats;
use candlewick_sdk::{Millis, Strategy};
use candlewick_simulator::{RecordedLatency, SimulationSettings};
use std::path::Path;
use std::time::Duration;

/// The strategy of each bot, in the bots' order.
type Strategies = Vec<Box<dyn Strategy>>;

/// A configuration, its candles and what is said of both.
pub(super) struct Plan {
    pub(super) loaded: Loaded,
    pub(super) settings: BacktestSettings,
    pub(super) header: Header,
    pub(super) candles: Candles,
    /// What is said of expiries that are shorter than the candles.
    pub(super) coarse: Option<String>,
    pub(super) caveats: Caveats,
    /// The payout of the journal that latencies are taken from.
    pub(super) seen_payout_percent: Option<f64>,
    wants_prices: Vec<bool>,
}

/// A run that came to its end.
pub(super) struct Replayed {
    pub(super) finished: Finished,
    /// Over everything that happened in it.
    pub(super) journal_hash: String,
    /// Real time that it took.
    pub(super) elapsed: Duration,
}

impl Plan {
    /// Reads the configuration and the candles, and builds the strategies of the one run that is made in any case.
    ///
    /// # Errors
    /// What is wrong with either.
    pub(super) fn of(
        arguments: &BacktestArguments,
        context: &Context<'_>,
    ) -> Result<(Self, Strategies), Failure> {
        let choice = arguments.candles.choice();
        let loaded = Loaded::read(&context.global.config, Base::Sandbox, flags_of(arguments, &choice))?;
        loaded.check_mode(RealMoney::NotAsked).map_err(Problems::from)?;
        loaded.config.simulation.check()?;
        let BotSet { strategies, wants_prices, versions } = BotSet::build(&loaded, context.registry)?;
        let (simulation, seen_payout_percent) = simulation_of(arguments, &loaded)?;
        let settings = BacktestSettings {
            session: session_settings(&loaded),
            simulation,
            price_every_ms: Millis::new(i64::from(loaded.config.runtime.price_every_ms)),
        };
        let refused = |error| Failure::from(Problems::from(problem_of_session(&error, &loaded)));
        let ladders = check_ladders(&settings.session).map_err(refused)?;
        let ruin = ruin_of(&loaded).map_err(refused)?;
        let mut candles = choice.gather(&loaded, &Terminal(context.global))?;
        let coarse = choice.check_expiries(&loaded, &candles.markets, Fineness::Somewhere)?;
        candles.notices.extend(ladders.into_iter().map(|notice| notice.text).chain(ruin.notices));
        candles.notices.extend(ruin.refusal.map(|why| format!("live, this would not start: {why}")));
        let caveats = Caveats::of_replay(basis_of(&choice, candles.prices), &settings.simulation);
        let header = settings.header(versions, Some(candles.hash.clone()));
        let plan =
            Self { loaded, settings, header, candles, coarse, caveats, seen_payout_percent, wants_prices };
        Ok((plan, strategies))
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// What the candles or the journal do not allow.
    pub(super) fn replay(
        &self,
        strategies: Strategies,
        journal: Option<&Path>,
        global: &GlobalArguments,
    ) -> Result<Replayed, Failure> {
        let (series, markets) = (&self.candles.series, self.candles.markets.clone());
        let backtest = Backtest::new(&self.settings, strategies, &self.wants_prices, series, markets);
        let backtest = backtest.map_err(|error| error_of_backtest(error, &self.loaded))?;
        let created = journal.map(FileJournal::create).transpose();
        let mut journal =
            created.map_err(|error| Failure::new(FailureKind::Configuration, error).context("--journal"))?;
        let mut hash = JournalHash::new();
        let mut progress = Progress::new("Replaying candles", global);
        let watch = Stopwatch::start();
        let mut nowhere = NullJournal;
        let second: &mut dyn Recorder = match &mut journal {
            Some(journal) => journal,
            None => &mut nowhere,
        };
        let mut recorder = Tee { first: &mut hash, second };
        let mut show = |done, total| progress.update(done, total);
        let finished = backtest.run(&self.header, &mut recorder, &mut show);
        let finished = finished.map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
        if let Some(mut journal) = journal {
            journal.sync()?;
        }
        Ok(Replayed { finished, journal_hash: hash.finish(), elapsed: watch.elapsed() })
    }

    /// Repeats the run on other settings of the venue, with strategies that are built anew for each.
    ///
    /// # Errors
    /// Those of a run.
    pub(super) fn sensitivity(&self, context: &Context<'_>) -> Result<Sensitivity, Failure> {
        let Self { loaded, settings, candles, .. } = self;
        let repeat = Repeat {
            settings,
            wants_prices: &self.wants_prices,
            candles: &candles.series,
            markets: &candles.markets,
            balance: loaded.initial_balance()?,
            strategies: &|| strategies_of(&settings.session.bots, context.registry),
        };
        let watched =
            with_spinner("Repeating the run on other settings", context.global, || Sensitivity::of(&repeat));
        watched.map_err(|error| error_of_backtest(error, loaded).into())
    }
}

/// The venue's settings, with the latencies of a journal if one is named, and the payout that its trades had. What
/// follows one latency alone, as stress does, takes the middle one.
fn simulation_of(
    arguments: &BacktestArguments,
    loaded: &Loaded,
) -> Result<(SimulationSettings, Option<f64>), Failure> {
    let simulation = loaded.config.simulation.clone();
    let Some(named) = &arguments.latency_from else { return Ok((simulation, None)) };
    let url: JournalUrl = named.parse()?;
    let delays = block_on(async { Delays::read(&mut Reader::open(&url).await?, None).await })?;
    let recorded = RecordedLatency { seed: arguments.latency_seed, samples_ms: delays.arrivals() };
    if recorded.samples_ms.is_empty() {
        return Err(Failure::data(format!("--latency-from {url}: no order of this journal was answered"))
            .help("record a live or sandbox session first, or set [simulation] latency_ms"));
    }
    let latency_ms = recorded.median();
    let simulation = SimulationSettings { latency_ms, recorded_latency: Some(recorded), ..simulation };
    Ok((simulation, delays.payout_percent()))
}

fn flags_of(arguments: &BacktestArguments, choice: &CandleChoice) -> Vec<Flag> {
    let stress = Flag::new("--stress", "simulation", "stress", arguments.stress);
    choice.flags().into_iter().chain(stress).collect()
}
