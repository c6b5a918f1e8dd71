//! `data`: commands for stored candles.

mod check;
mod fetch;
mod import;

use crate::arguments::parse_moment;
use crate::context::Context;
use crate::failure::{Ending, Failure, fail_if_any};
use crate::interrupt::exit_on_stop;
use crate::output::show_as;
use crate::progress::StderrBars;
use candlewick_app::candles::candle_store;
use candlewick_app::configuration::{BaseLayer, Flag, LoadedConfig};
use candlewick_app::data::{
    CatalogContents, Defects, ExportOptions, GenerateOptions, GenerateTarget, IfExists, OutputFile, export,
    generate_candles,
};
use candlewick_history::{AssetType, Catalog, Regime};
use candlewick_sdk::{Interval, Millis, Symbol};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  candlewick data generate --symbol BTCUSDT --days 14")]
pub(crate) enum DataCommand {
    /// Download candles from the venue into the catalog, or record venue prices
    Fetch(fetch::FetchArguments),
    /// Import candles from other programs and sources into the catalog
    Import(import::ImportArguments),
    /// Find problems in candles: gaps, duplicates, invalid prices, spikes and more
    Check(check::CheckArguments),
    /// List the series in the catalog
    List(ListArguments),
    /// Export candles from the catalog or from a file as CSV or Parquet
    Export(ExportArguments),
    /// Generate synthetic candles from a seed, to test how strategies behave, not how much they earn
    Generate(GenerateArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CatalogArgument {
    /// Catalog folder [default: data.catalog]
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
}

impl CatalogArgument {
    fn load_config(&self, context: &Context<'_>) -> Result<LoadedConfig, Failure> {
        let flag = Flag::new("--catalog", "data", "catalog", self.catalog.as_ref());
        Ok(LoadedConfig::read(&context.global.config, BaseLayer::Bare, flag.into_iter().collect())?)
    }

    fn open(&self, context: &Context<'_>) -> Result<Catalog, Failure> {
        Ok(Catalog::new(self.load_config(context)?.config.data.catalog))
    }
}

const fn existing_file_rule(force: bool) -> IfExists {
    if force { IfExists::Replaced } else { IfExists::Kept }
}

pub(super) fn run(command: &DataCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    // A stopped fetch must still store the received candles. `list` writes nothing, so it needs no cleanup.
    if !matches!(command, DataCommand::Fetch(_) | DataCommand::List(_)) {
        exit_on_stop()?;
    }
    match command {
        DataCommand::Fetch(arguments) => fetch::run(arguments, context),
        DataCommand::Import(arguments) => import::run(arguments, context),
        DataCommand::Check(arguments) => check::run(arguments, context),
        DataCommand::List(arguments) => run_list(arguments, context),
        DataCommand::Export(arguments) => run_export(arguments, context),
        DataCommand::Generate(arguments) => run_generate(arguments, context),
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick data list\n  candlewick data list --catalog /srv/candles --json"
)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    catalog: CatalogArgument,
}

fn run_list(arguments: &ListArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let contents = CatalogContents::read(&arguments.catalog.open(context)?)?;
    show_as(&contents.to_json(), || contents.to_string(), context.global)?;
    fail_if_any(contents.read_errors.into_iter().map(Failure::from).collect())?;
    Ok(Ending::Done)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick data export BTCUSDT@1m --out BTCUSDT_1m.csv\n  candlewick data export BTCUSDT@1m \
                  --from 2026-01-01 --to 2026-02-01 --out january.parquet\n  candlewick data export BTCUSDT_1m.csv --out BTCUSDT_1m.parquet"
)]
pub(crate) struct ExportArguments {
    /// Catalog series SYMBOL@INTERVAL, or a candle file
    #[arg(value_name = "SERIES")]
    name: String,
    /// Output file (.csv or .parquet), local or on object storage (s3://BUCKET/...)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Version number of the series [default: the current one]
    #[arg(long, value_name = "NUMBER")]
    version: Option<u32>,
    /// Skip candles that open before this time: a date, an ISO 8601 time, or Unix seconds or milliseconds
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Millis>,
    /// Skip candles that close after this time
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    to: Option<Millis>,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    catalog: CatalogArgument,
}

fn run_export(arguments: &ExportArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let out = OutputFile::new(&arguments.out, existing_file_rule(arguments.force))?;
    let ExportArguments { version, from, to, .. } = *arguments;
    let terms = ExportOptions { name: arguments.name.parse()?, version, from, to };
    let store = candle_store(&arguments.catalog.load_config(context)?);
    let exported = export(&terms, &store, &out, &StderrBars(context.global))?;
    show_as(&exported.to_json(), || exported.to_string(), context.global)
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  candlewick data generate --symbol BTCUSDT --interval 1m --start \
                  2026-01-05 --days 14 --seed 1 --out data\n  candlewick data generate --symbol BTCUSDT --interval 5m --days \
                  90 --regime edge:0.58:5m\n  candlewick data generate --symbol EURUSD --gaps 20 --bad-rows 9 --out spoiled\n\n\
                  Regimes:\n  mixed                  changing regimes\n  random-walk            no predictability\n  \
                  trend[:LEAN]           drift per minute of LEAN standard deviations, up or down for hours\n  \
                  mean-reversion[:PULL]  return to the first price by the fraction PULL per minute\n  \
                  edge:CHANCE[:SPAN]     each span (5m by default) repeats the previous direction with this probability")]
pub(crate) struct GenerateArguments {
    /// Symbol of the candles. The prices depend on the symbol and on --seed
    #[arg(long)]
    symbol: Symbol,
    /// Asset type: crypto, forex or otc [default: derived from the symbol]
    #[arg(long, value_name = "TYPE")]
    asset_type: Option<AssetType>,
    /// Interval of the candles, a multiple of 5s
    #[arg(long, default_value = "1m")]
    interval: Interval,
    /// Open time of the first candle: a date, an ISO 8601 time, or Unix seconds or milliseconds
    #[arg(long, default_value = "2026-01-05", value_name = "TIME", value_parser = parse_moment)]
    start: Millis,
    /// Number of days to generate
    #[arg(long, default_value_t = 14)]
    days: u32,
    /// Number of days to keep, counted from the end [default: all]
    #[arg(long, value_name = "DAYS")]
    last_days: Option<u32>,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Tick size of the prices [default: built in for common symbols, otherwise required]
    #[arg(long)]
    tick: Option<f64>,
    /// First price [default: built in for common symbols, otherwise required]
    #[arg(long)]
    price: Option<f64>,
    /// Standard deviation of one-minute moves, as a fraction of the price
    #[arg(long, value_name = "FRACTION")]
    volatility: Option<f64>,
    /// Market regime: mixed, random-walk, trend, mean-reversion, or edge:CHANCE (chance that a move repeats)
    #[arg(long, default_value = "mixed")]
    regime: Regime,
    /// Number of gaps to insert, each of one to ten candles
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    gaps: u32,
    /// Number of invalid rows to insert, cycling through the kinds that `data check` detects
    #[arg(long, value_name = "COUNT", default_value_t = 0, conflicts_with = "catalog")]
    bad_rows: u32,
    /// Output folder for the CSV file
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    out: PathBuf,
    /// Store the candles in this catalog folder instead of a CSV file [default: data.catalog]
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    #[expect(clippy::option_option, reason = "the type of a flag with an optional value")]
    catalog: Option<Option<PathBuf>>,
    /// Overwrite an existing file, or create a new version in the catalog
    #[arg(long)]
    force: bool,
}

fn run_generate(arguments: &GenerateArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let defects = Defects { gaps: arguments.gaps, bad_rows: arguments.bad_rows };
    let catalog = arguments.catalog.as_ref().map(|folder| CatalogArgument { catalog: folder.clone() });
    let catalog = catalog.map(|catalog| catalog.open(context)).transpose()?;
    let target = match &catalog {
        Some(catalog) => GenerateTarget::Catalog(catalog),
        None => GenerateTarget::Folder(&arguments.out),
    };
    let place = (target, existing_file_rule(arguments.force));
    let terms = GenerateOptions {
        symbol: arguments.symbol,
        asset_type: arguments.asset_type,
        interval: arguments.interval,
        start: arguments.start,
        days: arguments.days,
        last_days: arguments.last_days,
        seed: arguments.seed,
        tick: arguments.tick,
        price: arguments.price,
        volatility: arguments.volatility,
        regime: arguments.regime,
    };
    let generated = generate_candles(&terms, defects, place, &StderrBars(context.global))?;
    show_as(&generated.to_json(), || generated.to_string(), context.global)
}
