//! `data fetch`: downloads candles from the venue into the catalog, or records venue prices.

use super::CatalogArgument;
use crate::arguments::{parse_moment, parse_short_duration};
use crate::context::Context;
use crate::failure::{Ending, Failure, fail_if_any};
use crate::interrupt::{StopListener, sleep_for};
use crate::output::show_as;
use crate::progress::StderrBars;
use candlewick_app::fetch::{
    CandleJob, DEFAULT_BATCH_CANDLES, FetchEnd, FetchStats, Fetcher, SourceMixing, Target, fetch_candles,
    record_prices, select_targets, text, to_json_document,
};
use candlewick_history::AssetType;
use candlewick_sdk::{Interval, Millis, Symbol};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick data fetch BTCUSDT@1m EURUSD@1m --from 2026-01-01\n  candlewick data fetch --config \
                  my.toml\n  candlewick data fetch BTCUSDT EURUSD --record --for 8h\n\nRequires the key of the symbol price API, but no \
                  trading token. An existing series is extended from its end; with --from, all missing candles since then are fetched. \
                  After an interruption, run the same command again to resume."
)]
pub(crate) struct FetchArguments {
    /// Series to fetch, SYMBOL@INTERVAL [default: the series of the configured bots]
    #[arg(value_name = "SERIES")]
    series: Vec<String>,
    /// Open time of the first candle: a date, an ISO 8601 time, or Unix seconds or milliseconds [default: the end of the
    /// series, or 30 days ago]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Millis>,
    /// Close time of the last candle [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    to: Option<Millis>,
    /// Fetch existing candles again, to detect revisions by the venue
    #[arg(long)]
    again: bool,
    /// Record the venue's one-second prices as a 1s series, until Ctrl-C
    #[arg(long, conflicts_with_all = ["from", "to", "again", "limit", "rate"])]
    record: bool,
    /// Stop recording after this much real time, such as 8h
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_short_duration, requires = "record")]
    run_for: Option<Millis>,
    /// Asset type: crypto, forex or otc [default: asset type of the bot on this symbol, or derived from the symbol's
    /// name]
    #[arg(long, value_name = "TYPE")]
    asset_type: Option<AssetType>,
    /// Maximum requests per second for each series, 0 for no limit; broker.requests_per_second limits the total
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_request_rate)]
    rate: f64,
    /// Maximum candles per request
    #[arg(long, value_name = "N", default_value = "1000", value_parser = RangedU64ValueParser::<u64>::new().range(1..=10_000))]
    limit: u64,
    /// Allow candles from different sources in one series
    #[arg(long)]
    mix: bool,
    #[command(flatten)]
    catalog: CatalogArgument,
}

pub(super) fn run(arguments: &FetchArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let loaded = arguments.catalog.load_config(context)?;
    let every = arguments.record.then_some(Interval::SECOND);
    let asset_type = arguments.asset_type.map(AssetType::as_str);
    let targets = select_targets(&arguments.series, every, asset_type, &loaded)?;
    let mixing = if arguments.mix { SourceMixing::Allowed } else { SourceMixing::Refused };
    let runtime = Runtime::new().map_err(Failure::unexpected)?;
    runtime.block_on(async {
        let fetching = Fetcher::new(&loaded, &targets, mixing, &StderrBars(context.global))?;
        let (all, mut failures, ending) = run_fetches(targets, arguments, &fetching).await?;
        failures.extend(check_alignment(&all, &fetching, context));
        // A recording is normally stopped by the operator, but a fetch that was stopped is incomplete.
        let ending = ending.map(|ending| if arguments.record { ending } else { Ending::Interrupted });
        let is_truncated = ending == Some(Ending::Interrupted);
        let finished = if is_truncated { FetchEnd::Interrupted } else { FetchEnd::Complete };
        fail_if_any(failures)?;
        show_as(&to_json_document(&all, finished, &fetching), || text(&all, finished), context.global)?;
        Ok(ending.unwrap_or(Ending::Done))
    })
}

fn check_alignment(all: &[FetchStats], fetching: &Fetcher, context: &Context<'_>) -> Vec<Failure> {
    let changed = all.iter().filter(|fetched| fetched.new_candles() > 0);
    let symbols: BTreeSet<Symbol> = changed.map(|fetched| fetched.target.series.symbol).collect();
    let mut failures = Vec::new();
    for symbol in symbols {
        match fetching.check_alignment(symbol) {
            Ok(notices) => context.print_notes(notices),
            Err(error) => failures.push(Failure::from(error)),
        }
    }
    failures
}

async fn run_fetches(
    targets: Vec<Target>,
    arguments: &FetchArguments,
    fetching: &Fetcher,
) -> Result<(Vec<FetchStats>, Vec<Failure>, Option<Ending>), Failure> {
    let mut interrupt = StopListener::new()?;
    let mut tasks = JoinSet::new();
    let spacing =
        if arguments.rate > 0.0 { Duration::from_secs_f64(1.0 / arguments.rate) } else { Duration::ZERO };
    for (index, target) in targets.into_iter().enumerate() {
        let fetching = fetching.clone();
        if arguments.record {
            tasks.spawn(async move { (index, record_prices(target, fetching).await) });
            continue;
        }
        let FetchArguments { from, to, again, limit, .. } = *arguments;
        let job =
            CandleJob { target, from, to, refetch: again, limit, spacing, batch: DEFAULT_BATCH_CANDLES };
        tasks.spawn(async move { (index, fetch_candles(job, fetching).await) });
    }
    let (mut done, mut ending) = (Vec::new(), None);
    let mut deadline = std::pin::pin!(sleep_for(arguments.run_for));
    while !tasks.is_empty() {
        tokio::select! {
            Some(task) = tasks.join_next() => {
                done.push(task.map_err(Failure::unexpected)?);
            }
            stopped = interrupt.wait(), if ending.is_none() => {
                ending = Some(stopped);
                fetching.stop.cancel();
            }
            () = &mut deadline, if !fetching.stop.is_cancelled() => fetching.stop.cancel(),
        }
    }
    done.sort_by_key(|(index, _)| *index);
    let (mut all, mut failures) = (Vec::new(), Vec::new());
    for (_, (fetched, outcome)) in done {
        all.push(fetched);
        failures.extend(outcome.err().map(Failure::from));
    }
    Ok((all, failures, ending))
}

fn parse_request_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| *rate == 0.0 || (0.001..=10_000.0).contains(rate));
    rate.ok_or_else(|| "use 0 for no limit, or 0.001 to 10000 requests per second".to_owned())
}
