//! `live`: runs the bots against a venue, embedded or over the network.

use crate::arguments::{parse_journal, parse_short_duration, parse_speed};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::interrupt::StopListener;
use crate::live::{self, Header, OutputDetail, ReadyRun, RunDescription, Screen, run_until_stopped};
use crate::progress::StderrBars;
use candlewick_app::bots::BotSet;
use candlewick_app::candles;
use candlewick_app::configuration::{
    BaseLayer, Flag, LoadedConfig, Mode, Problems, RealMoneyRequest, journal_url,
};
use candlewick_app::evidence::SealUse;
use candlewick_app::live::{
    Connection, ControlChannel, EmbeddedVenue, JournalSession, Outcome, ReplaySpan, check_venue,
    connect_remote, wait_for_venue,
};
use candlewick_broker::clock::{Clock, Speed, Stopwatch};
use candlewick_sandbox::{FaultProfile, RunningSandbox, SandboxSpeed, StartTime};
use candlewick_sdk::Millis;
use clap::Args;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  candlewick live --sandbox
  candlewick live --sandbox --speed max --until-end --trades trades.csv
  candlewick live --config config/demo.toml --for 1h
  candlewick live --sandbox --tui

Exit codes: 0 after all trades settled; 4 if the venue is unreachable, or if results are still pending (the next run \
with the journal tracks them); 6 if a limit or the kill switch stopped the run; 130 after Ctrl-C.")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct LiveArguments {
    /// Trade on the embedded sandbox venue
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Name of a broker that is built into this program
    #[arg(long, value_name = "NAME", conflicts_with = "sandbox")]
    pub(crate) broker: Option<String>,
    /// Speed of the embedded venue as a factor of real time. With max, venue and bots run in lock-step, and the run
    /// ends with the last candle
    #[arg(long, requires = "sandbox", value_name = "N|max", value_parser = parse_speed)]
    pub(crate) speed: Option<SandboxSpeed>,
    /// Stop opening trades after this much real time, such as 1h, and end once all trades are settled
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_short_duration)]
    pub(crate) run_for: Option<Millis>,
    /// Wait for an unreachable venue instead of ending with exit code 4; Ctrl-C ends the wait
    #[arg(long, conflicts_with = "sandbox")]
    pub(crate) wait: bool,
    /// Run the embedded venue from the first to the last candle, as a backtest does
    #[arg(long, requires = "sandbox")]
    pub(crate) until_end: bool,
    /// Trade with real money; also requires CANDLEWICK_ALLOW_REAL=yes
    #[arg(long, conflicts_with = "sandbox")]
    pub(crate) real: bool,
    /// Candles of the embedded venue; repeatable. A file SYMBOL_INTERVAL.csv or .parquet, SYMBOL@INTERVAL=PATH, or a
    /// catalog series SYMBOL@INTERVAL
    #[arg(long, requires = "sandbox", value_name = "FILE")]
    pub(crate) data: Vec<String>,
    /// Rule file that replaces the configured bots. Each symbol of --data gets one bot, which trades on the
    /// symbol's longest interval
    #[arg(long, requires = "sandbox", value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// External signals: a CSV list of timed signals (reloaded when the file changes), or `-` to read JSON Lines from
    /// standard input
    #[arg(long, value_name = "FILE|-")]
    pub(crate) signals: Option<String>,
    /// Show a full-screen view of money, trades, bots, limits and log, with keys to halt, resume and quit
    #[arg(long)]
    pub(crate) tui: bool,
    /// CSV file for the trades
    #[arg(long, value_name = "FILE")]
    pub(crate) trades: Option<PathBuf>,
    /// Journal: a file, sqlite://FILE or postgres://... [default: journal.url; none with --sandbox]
    #[arg(long, value_name = "FILE|URL", value_parser = parse_journal)]
    pub(crate) journal: Option<String>,
    /// Faults of the embedded venue: none, mixed, all, or a list such as errors:0.2,latency:300ms
    #[arg(long, requires = "sandbox", value_name = "PROFILE")]
    pub(crate) faults: Option<FaultProfile>,
    /// Listen address of the embedded venue; port 0 picks a free port
    #[arg(long, requires = "sandbox", value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
}

pub(super) fn run(arguments: &LiveArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    if arguments.tui {
        if context.global.json || context.global.quiet {
            return Err(Failure::configuration("--tui cannot be combined with --json or --quiet"));
        }
        if arguments.signals.as_deref() == Some("-") {
            let problem = "--tui reads keys from standard input and cannot be combined with --signals -";
            return Err(Failure::configuration(problem));
        }
        live::check_full_screen()?;
    }
    let (base, flags) = config_layers(arguments);
    let loaded = LoadedConfig::read(&context.global.config, base, flags)?;
    if arguments.tui {
        context.log.format.set_json(false);
    } else {
        context.set_log_format(&loaded.config.log);
    }
    let real = if arguments.real { RealMoneyRequest::Requested } else { RealMoneyRequest::NotRequested };
    loaded.check_mode(real).map_err(Problems::from)?;
    if arguments.real && loaded.config.account.mode == Mode::Demo {
        let problem = "--real requires the mode \"real\": change the mode, or omit --real";
        return Err(Problems::from(loaded.problem("account.mode", problem).with_value("\"demo\"")).into());
    }
    let bots = BotSet::build(&loaded, context.registry)?;
    let stopwatch = Stopwatch::start();
    let outcome = match live::run_to_completion(run_bots(arguments, &loaded, bots, context))? {
        ControlFlow::Continue(outcome) => outcome,
        ControlFlow::Break(ending) => return Ok(ending),
    };
    let shown = (arguments.trades.as_deref(), context.global.json);
    let ending = live::show_report(outcome, &loaded, shown, stopwatch.elapsed());
    context.print_notice(&describe_next_commands(arguments, &loaded, context)?);
    ending
}

fn describe_next_commands(
    arguments: &LiveArguments,
    loaded: &LoadedConfig,
    context: &Context<'_>,
) -> Result<String, Failure> {
    if arguments.sandbox && arguments.journal.is_none() {
        return Ok("this run was not recorded; to inspect the next run, add --journal run.db".to_owned());
    }
    let url = journal_url(loaded).map_err(Problems::from)?;
    let named = live::journal_arguments(arguments.journal.as_ref().map(|_| &url), &context.global.config);
    let commands = ["status", "trades", "dashboard"].map(|command| format!("candlewick {command}{named}"));
    Ok(format!("inspect this run with {}", commands.join(", ")))
}

struct Venue {
    description: String,
    connection: Connection,
    journal: JournalSession,
    control: ControlChannel,
    /// Time span and server of the embedded venue, `None` for other venues.
    embedded: Option<(Range<Millis>, RunningSandbox)>,
}

async fn run_bots(
    arguments: &LiveArguments,
    loaded: &LoadedConfig,
    bots: BotSet,
    context: &Context<'_>,
) -> Result<ControlFlow<Ending, Outcome>, Failure> {
    // The listener is created first, so that no stop request is lost.
    let mut interrupt = StopListener::new()?;
    let real = if arguments.real { RealMoneyRequest::Requested } else { RealMoneyRequest::NotRequested };
    let read_again = live::build_reloader(context, config_layers(arguments), real);
    let venue = if arguments.sandbox {
        start_embedded_venue(arguments, loaded, &bots, context).await?
    } else {
        match connect(arguments, loaded, &mut interrupt, context).await? {
            ControlFlow::Continue(venue) => venue,
            ControlFlow::Break(ending) => return Ok(ControlFlow::Break(ending)),
        }
    };
    let Venue { description, connection, journal, control, embedded } = venue;
    let candles = embedded.as_ref().map(|(candles, _)| candles.clone());
    let end = candles.as_ref().filter(|_| connection.end.is_none()).map(|candles| candles.end);
    let header = build_header(arguments, loaded, context, (description, candles))?;
    let over = end.map(|end| tokio::spawn(warn_after_last_candle(Arc::clone(&connection.clock), end)));
    let outcome = run_until_stopped(ReadyRun {
        loaded,
        context,
        bots,
        connection,
        journal,
        control,
        screen: build_screen(arguments, loaded, context).with_header(header),
        is_full_screen: arguments.tui,
        stop_listener: interrupt,
        run_for: arguments.run_for,
        read_configuration: read_again,
    })
    .await;
    if let Some(over) = over {
        over.abort();
    }
    if let Some((_, running)) = embedded {
        running.stop().await;
    }
    outcome.map(ControlFlow::Continue)
}

async fn connect(
    arguments: &LiveArguments,
    loaded: &LoadedConfig,
    interrupt: &mut StopListener,
    context: &Context<'_>,
) -> Result<ControlFlow<Ending, Venue>, Failure> {
    let connection = if let Some(name) = &arguments.broker {
        context.brokers.connect(name, loaded)?
    } else {
        check_venue(loaded)?;
        connect_remote(loaded)?
    };
    if arguments.wait {
        // Waits for the venue before locking the journal, so that other processes can use the journal in the meantime.
        let announce = |text: &str| context.log.print(text);
        tokio::select! {
            () = wait_for_venue(&connection, &loaded.config.bots, &announce) => {}
            ending = interrupt.wait() => return Ok(ControlFlow::Break(ending)),
        }
    }
    let (journal, control) = JournalSession::open_with_control(loaded).await?;
    let description = match &arguments.broker {
        Some(name) => format!("built-in broker {name}"),
        None => live::describe_address(&loaded.config.broker.client.base_url),
    };
    Ok(ControlFlow::Continue(Venue { description, connection, journal, control, embedded: None }))
}

async fn start_embedded_venue(
    arguments: &LiveArguments,
    loaded: &LoadedConfig,
    bots: &BotSet,
    context: &Context<'_>,
) -> Result<Venue, Failure> {
    let (journal, control) = if arguments.journal.is_some() {
        let (mut journal, control) = JournalSession::open_with_control(loaded).await?;
        if let Err(error) = journal.check_is_empty().await {
            journal.release().await;
            return Err(error.into());
        }
        (journal, control)
    } else {
        (JournalSession::None, ControlChannel::closed())
    };
    let EmbeddedVenue { sandbox: running, connection, start, end } =
        start_sandbox(arguments, loaded, bots, context).await?;
    tracing::info!(url = running.base_url, start = String::from(StartTime(start)), "embedded venue ready");
    let sandbox = &loaded.config.sandbox;
    let description = live::describe_sandbox(&running.base_url, sandbox.speed, &sandbox.faults);
    Ok(Venue { description, connection, journal, control, embedded: Some((start..end, running)) })
}

async fn warn_after_last_candle(clock: Arc<dyn Clock>, end: Millis) {
    // Waits one more minute, because the last candle is received and traded shortly after its close.
    drop(clock.sleep_until(end + Millis::MINUTE).await);
    tracing::warn!("the venue has no more candles, so no trades will open; press Ctrl-C to end the run");
}

async fn start_sandbox(
    arguments: &LiveArguments,
    loaded: &LoadedConfig,
    bots: &BotSet,
    context: &Context<'_>,
) -> Result<EmbeddedVenue, Failure> {
    let stock = candles::load(loaded, (&candles::ALL_TIME, &SealUse::Explore), &StderrBars(context.global))?;
    for notice in &stock.notices {
        tracing::warn!("{notice}");
    }
    let series = candles::select_series(
        &loaded.config.bots,
        stock.series,
        (&stock.location, loaded.config.data.longer_share_percent),
    )?;
    let series = candles::collect_candles(&series);
    let markets = candles::markets_for(&loaded.config.bots, &series);
    let fine = candles::check_expiries(
        loaded,
        &markets,
        candles::FineCandleCoverage::Throughout,
        candles::ALLOW_COARSE_HINT,
    );
    match fine {
        Err(_) if loaded.config.sandbox.allow_coarse => tracing::warn!("{}", candles::COARSE_NOTICE),
        fine => fine?,
    }
    let span = if arguments.until_end { ReplaySpan::Whole } else { ReplaySpan::Open };
    let warmups = bots.warmups(&loaded.config.bots);
    Ok(EmbeddedVenue::start(loaded, (series, markets), (span, &warmups)).await?)
}

/// Builds the console output. At maximum speed, decisions are hidden, because there are too many to read.
fn build_screen(arguments: &LiveArguments, loaded: &LoadedConfig, context: &Context<'_>) -> Screen {
    let is_full_speed = arguments.sandbox && loaded.config.sandbox.speed.to_speed() == Speed::Max;
    let detail = if is_full_speed || context.global.json { OutputDetail::Trades } else { OutputDetail::All };
    Screen::new(detail, loaded, context)
}

fn build_header(
    arguments: &LiveArguments,
    loaded: &LoadedConfig,
    context: &Context<'_>,
    (venue, candles): (String, Option<Range<Millis>>),
) -> Result<Header, Failure> {
    let url = journal_url(loaded).map_err(Problems::from)?;
    let is_kept = !arguments.sandbox || arguments.journal.is_some();
    let named = arguments.journal.as_ref().map(|_| &url);
    Ok(Header::new(
        loaded,
        context.registry,
        RunDescription {
            venue,
            wallet: if loaded.config.account.mode == Mode::Real { "REAL MONEY" } else { "demo" },
            starts_at: candles.as_ref().map(|candles| candles.start),
            candles: candles.map(|candles| {
                live::describe_candles(loaded.config.sandbox.speed, candles, arguments.until_end)
            }),
            journal: is_kept.then(|| url.to_string()),
            arguments: live::journal_arguments(named, &context.global.config),
        },
    ))
}

fn config_layers(arguments: &LiveArguments) -> (BaseLayer, Vec<Flag>) {
    let base = if arguments.sandbox { BaseLayer::Sandbox } else { BaseLayer::Bare };
    let data = (!arguments.data.is_empty()).then_some(&arguments.data);
    let signals = arguments.signals.as_deref();
    let rules = arguments.rules.as_ref().map(|file| candles::build_rule_bots(file, &arguments.data));
    let flags = [
        Flag::new("--speed", "sandbox", "speed", arguments.speed.as_ref()),
        Flag::new("--data", "sandbox", "data", data),
        Flag::new("--rules", "", "bots", rules),
        Flag::new("--faults", "sandbox", "faults", arguments.faults.as_ref()),
        Flag::new("--listen", "sandbox", "listen", arguments.listen.as_ref()),
        Flag::new("--journal", "journal", "url", arguments.journal.as_ref()),
        Flag::new("--signals", "signals", "stdin", (signals == Some("-")).then_some(true)),
        Flag::new("--signals", "signals", "list", signals.filter(|list| *list != "-")),
    ];
    (base, flags.into_iter().flatten().collect())
}
