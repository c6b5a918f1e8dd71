//! `backtest`: stored candles through the configured bots.

use super::Context;
use crate::arguments::parse_journal;
use crate::chronicle::{Delays, block_on};
use crate::configuration::{Base, Flag, Loaded, Problems, RealMoney};
use crate::crew::{Crew, failure_of_backtest, problem_of_session, session_settings, strategies_of};
use crate::data::{CandleArguments, Candles, Fineness};
use crate::failure::{Ending, Failure, FailureKind};
use crate::inspection::ruin_of;
use crate::output::{print, print_json};
use crate::progress::{Progress, with_spinner};
use crate::report::{Caveats, Census, PageParts, Report, Run, write_page, write_trades};
use crate::result_cache::{CachedRun, NamedFiles, RunCache};
use candlewick_api::clock::Stopwatch;
use candlewick_backtest::analysis::{Background, Prices, Repeat, Sensitivity};
use candlewick_backtest::{Backtest, BacktestSettings};
use candlewick_engine::{Header, JournalHash, Recorder, check_ladders};
use candlewick_journal::{FileJournal, JournalUrl, NoJournal, Reader, Tee};
use candlewick_sdk::Millis;
use candlewick_simulator::{RecordedLatency, SimulationSettings};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What to replay.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --config, three bots that come along; without --data and [sandbox].data, what the catalog has \
                  of the bots' series, else two weeks of synthetic candles.\n\nExamples:\n  candlewick backtest\n  \
                  candlewick backtest --config my.toml --data BTCUSDT_1m.csv --sensitivity --html report.html\n  candlewick \
                  backtest --data BTCUSDT@1m --from 2026-01-06 --to 2026-01-10\n  candlewick backtest --json --quiet"
)]
pub(crate) struct BacktestArguments {
    #[command(flatten)]
    candles: CandleArguments,
    /// Write the trades as CSV
    #[arg(long, value_name = "FILE")]
    trades: Option<PathBuf>,
    /// Write the report as one HTML file that loads nothing, with the candles and trades to look at
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the journal, one line of JSON an entry; the file must not exist
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Make the run and its sensitivity, also where they are known from before, and keep nothing of them
    #[arg(long)]
    no_cache: bool,
    /// Shift entry and exit against each trade: the factor k of the price path's stress
    #[arg(long, value_name = "K", num_args = 0..=1, default_missing_value = "0.5")]
    stress: Option<f64>,
    /// Repeat the run with other latencies, payouts, price paths and under stress, to see what of it they decide
    #[arg(long)]
    sensitivity: bool,
    /// Take each order's latency from those that a live session's journal recorded, instead of latency_ms
    #[arg(long, value_name = "JOURNAL", value_parser = parse_journal)]
    latency_from: Option<String>,
    /// Which of the recorded latencies each order draws
    #[arg(long, value_name = "N", default_value_t = 1, requires = "latency_from")]
    latency_seed: u64,
}

/// What stands where the curves would.
const WITHOUT_SENSITIVITY: &str = "The run was not repeated on other settings: `candlewick backtest --sensitivity` with the \
                                   same arguments shows what latency, payout, price path and stress decide of it.";

pub(super) fn run(arguments: &BacktestArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let loaded = Loaded::read(&context.global.config, Base::Sandbox, flags_of(arguments))?;
    loaded.check_mode(RealMoney::NotAsked).map_err(Problems::from)?;
    loaded.config.simulation.check()?;
    let files = NamedFiles::of(&loaded.config.bots);
    let crew = Crew::build(&loaded, context.registry)?;
    let (simulation, seen_payout_percent) = simulation_of(arguments, &loaded)?;
    let settings = BacktestSettings {
        session: session_settings(&loaded),
        simulation,
        price_every_ms: Millis::new(i64::from(loaded.config.runtime.price_every_ms)),
    };
    let refused = |error| Failure::from(Problems::from(problem_of_session(&error, &loaded)));
    let ladders = check_ladders(&settings.session).map_err(refused)?;
    let ruin = ruin_of(&loaded).map_err(refused)?;
    let mut candles = arguments.candles.gather(&loaded, context.global)?;
    let coarse = arguments.candles.check_expiries(&loaded, &candles.markets, Fineness::Somewhere)?;
    candles.notices.extend(ladders.into_iter().map(|notice| notice.text).chain(ruin.notices));
    candles.notices.extend(ruin.refusal.map(|why| format!("live, this would not start: {why}")));
    let caveats = Caveats::of_replay(&arguments.candles, candles.prices, &settings.simulation);
    let header = settings.header(crew.versions, Some(candles.hash.clone()));
    let cache = if arguments.no_cache || arguments.journal.is_some() {
        RunCache::none(&settings)
    } else {
        let times = if arguments.sensitivity { 1 + Sensitivity::RUNS } else { 1 };
        RunCache::of((&loaded, &settings), (&candles, &header), files, times)
    };
    let make = || {
        let (series, markets) = (&candles.series, candles.markets.clone());
        let backtest = Backtest::new(&settings, crew.strategies, &crew.wants_prices, series, markets);
        let backtest = backtest.map_err(|error| failure_of_backtest(error, &loaded))?;
        replay(backtest, &header, arguments.journal.as_deref(), context)
    };
    let (CachedRun { finished, journal_hash, elapsed }, known) = cache.run(make)?;
    let coarse_trades = arguments.candles.check_trades(&loaded, &candles.markets, &finished.book)?;
    candles.notices.splice(0..0, coarse.or(coarse_trades));
    candles.notices.extend(notice_of_incomplete(finished.incomplete_candles));
    if let Some(path) = &arguments.trades {
        let written = write_trades(path, &finished.book, &loaded.config.bots, finished.money_scale);
        written.map_err(|error| unwritable("--trades", path, error))?;
    }
    let span = candles.span();
    let background = Background {
        assumed_payout_percent: Some(settings.simulation.payout_percent.to_fraction() * 100.0),
        seen_payout_percent,
        missing_candles: candles.missing(&loaded.config.bots),
        revised_candles: candles.revised,
    };
    let sensitivity = if arguments.sensitivity {
        Some(cache.sensitivity(|| repeated(&settings, &crew.wants_prices, &candles, (&loaded, context)))?)
    } else {
        None
    };
    let prices = if settings.simulation.stress > 0.0 { Prices::Stressed } else { Prices::Fair };
    let balance = loaded.initial_balance()?;
    let report = Report::of(Run {
        book: &finished.book,
        bots: &loaded.config.bots,
        scale: finished.money_scale,
        balance,
        final_balance: finished.final_balance,
        unsettled_stakes: finished.unsettled_stakes,
        candles: finished.candles,
        span: span.clone(),
        prices,
        data_hash: Some(candles.hash),
        journal_hash,
        elapsed,
        known: Some(known),
        notices: candles.notices,
        delays: Vec::new(),
        audit_findings: BTreeMap::new(),
        caveats,
        verdicts: finished.verdicts,
        background,
        sensitivity,
        census: Census::of(&loaded, &settings.session, context.registry, span.clone()),
    });
    if let Some(path) = &arguments.html {
        let parts = PageParts {
            kind: "Backtest",
            book: &finished.book,
            session: &settings.session,
            simulation: &settings.simulation,
            strategies: &header.strategies,
            balance,
            span: &span,
            prices,
            candles: candles.series,
            without_sensitivity: WITHOUT_SENSITIVITY,
        };
        write_page(path, &report, parts)?;
    }
    if context.global.json {
        print_json(&report)?;
    } else {
        print(&report.to_string())?;
    }
    Ok(Ending::Done)
}

/// What is said of longer candles that could not be made.
fn notice_of_incomplete(count: u64) -> Option<String> {
    (count > 0).then(|| format!("{count} longer candles were not made: shorter ones inside them are missing"))
}

/// Repeats the run on other settings of the venue, with strategies that are built anew for each.
fn repeated(
    settings: &BacktestSettings,
    wants_prices: &[bool],
    candles: &Candles,
    (loaded, context): (&Loaded, &Context<'_>),
) -> Result<Sensitivity, Failure> {
    let repeat = Repeat {
        settings,
        wants_prices,
        candles: &candles.series,
        markets: &candles.markets,
        balance: loaded.initial_balance()?,
        strategies: &|| strategies_of(&settings.session.bots, context.registry),
    };
    let watched =
        with_spinner("Repeating the run on other settings", context.global, || Sensitivity::of(&repeat));
    watched.map_err(|error| failure_of_backtest(error, loaded))
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

fn flags_of(arguments: &BacktestArguments) -> Vec<Flag> {
    let stress = Flag::new("--stress", "simulation", "stress", arguments.stress);
    arguments.candles.flags().into_iter().chain(stress).collect()
}

/// Runs to the end.
fn replay(
    backtest: Backtest,
    header: &Header,
    journal: Option<&Path>,
    context: &Context<'_>,
) -> Result<CachedRun, Failure> {
    let created = journal.map(FileJournal::create).transpose();
    let mut journal =
        created.map_err(|error| Failure::new(FailureKind::Configuration, error).context("--journal"))?;
    let mut hash = JournalHash::new();
    let mut progress = Progress::new("Replaying candles", context.global);
    let watch = Stopwatch::start();
    let mut nowhere = NoJournal;
    let second: &mut dyn Recorder = match &mut journal {
        Some(journal) => journal,
        None => &mut nowhere,
    };
    let mut recorder = Tee { first: &mut hash, second };
    let finished = backtest.run(header, &mut recorder, &mut |done, total| progress.update(done, total));
    let finished = finished.map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
    if let Some(mut journal) = journal {
        journal.sync()?;
    }
    Ok(CachedRun { finished, journal_hash: hash.finish(), elapsed: watch.elapsed() })
}

fn unwritable(flag: &str, path: &Path, error: std::io::Error) -> Failure {
    let problem = format!("{flag}: cannot write {}", path.display());
    Failure::new(FailureKind::Configuration, anyhow::Error::new(error)).context(problem)
}
