//! `paper`: simulates trades on the venue's live candles and prices.

use crate::arguments::{parse_journal, parse_short_duration};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::interrupt::StopListener;
use crate::live::{self, Header, OutputDetail, ReadyRun, RunDescription, Screen, run_until_stopped};
use candlewick_app::bots::BotSet;
use candlewick_app::configuration::{BaseLayer, Flag, LoadedConfig, Problems, RealMoneyRequest, journal_url};
use candlewick_app::live::{ConfigurationReader, JournalSession, Outcome, connect_paper};
use candlewick_broker::clock::Stopwatch;
use candlewick_sdk::Millis;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick paper --config config/demo.toml\n  candlewick paper --config my.toml --for 1h --trades trades.csv\n\n\
                  Requires the key of the symbol price API, but no trading token. Trades open, close and pay as set in \
                  [simulation].\n\nExit codes: 0 after all trades settled; 4 if prices are unreachable or trades are still \
                  open; 6 if a limit or the kill switch stopped the run; 130 after Ctrl-C."
)]
pub(crate) struct PaperArguments {
    /// Stop opening trades after this much real time, such as 1h, and end once all trades are settled
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_short_duration)]
    run_for: Option<Millis>,
    /// CSV file for the trades
    #[arg(long, value_name = "FILE")]
    trades: Option<PathBuf>,
    /// Journal: a file, sqlite://FILE or postgres://... [default: candlewick-paper.db]
    #[arg(long, value_name = "FILE|URL", value_parser = parse_journal)]
    journal: Option<String>,
}

const DEFAULT_JOURNAL_URL: &str = "sqlite://candlewick-paper.db";

pub(super) fn run(arguments: &PaperArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let flags = |journal: Option<&str>| -> Vec<Flag> {
        Flag::new("--journal", "journal", "url", journal).into_iter().collect()
    };
    let mut journal = flags(arguments.journal.as_deref());
    let mut loaded = LoadedConfig::read(&context.global.config, BaseLayer::Bare, journal.clone())?;
    if !loaded.is_set("journal.url") {
        journal = flags(Some(DEFAULT_JOURNAL_URL));
        loaded = LoadedConfig::read(&context.global.config, BaseLayer::Bare, journal.clone())?;
    }
    context.set_log_format(&loaded.config.log);
    let read_again =
        live::build_reloader(context, (BaseLayer::Bare, journal), RealMoneyRequest::NotRequested);
    loaded.check_mode(RealMoneyRequest::NotRequested).map_err(Problems::from)?;
    let bots = BotSet::build(&loaded, context.registry)?;
    let stopwatch = Stopwatch::start();
    let outcome = live::run_to_completion(run_bots(arguments, &loaded, (bots, read_again), context))?;
    let shown = (arguments.trades.as_deref(), context.global.json);
    live::show_report(outcome, &loaded, shown, stopwatch.elapsed())
}

async fn run_bots(
    arguments: &PaperArguments,
    loaded: &LoadedConfig,
    (bots, read_again): (BotSet, ConfigurationReader),
    context: &Context<'_>,
) -> Result<Outcome, Failure> {
    let interrupt = StopListener::new()?;
    let url = journal_url(loaded).map_err(Problems::from)?;
    let screen = Screen::new(OutputDetail::All, loaded, context).with_header(Header::new(
        loaded,
        context.registry,
        RunDescription {
            venue: format!("prices {}", live::describe_address(&loaded.config.broker.client.price_url)),
            wallet: "paper (simulated trades)",
            starts_at: None,
            candles: None,
            journal: Some(url.to_string()),
            arguments: live::journal_arguments(Some(&url), &[]),
        },
    ));
    let connection = connect_paper(loaded)?;
    let (journal, control) = JournalSession::open_with_control(loaded).await?;
    run_until_stopped(ReadyRun {
        loaded,
        context,
        bots,
        connection,
        journal,
        control,
        screen,
        is_full_screen: false,
        stop_listener: interrupt,
        run_for: arguments.run_for,
        read_configuration: read_again,
    })
    .await
}
