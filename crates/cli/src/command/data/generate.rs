//! `data generate`: candles out of a seed.

use super::CatalogArgument;
use crate::arguments::parse_moment;
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::output::{print, print_json};
use crate::progress::with_spinner;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_history::{
    AssetType, BadRows, Catalog, DataSource, GenerateSettings, HistoryError, Origin, Regime, asset_type_of,
    data_hash, generate, known_market, with_gaps, write_csv_file,
};
use candlewick_sdk::{CandleSeries, Interval, Millis, Series, Symbol};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What to make.
#[derive(Debug, Args)]
#[command(
    after_help = "Regimes: mixed (moods that change), random-walk, trend[:LEAN] (each minute leans by so many of its standard \
                  deviations, up or down for hours),\nmean-reversion[:PULL] (each minute goes such a part of the way back to \
                  the first price),\nedge:CHANCE[:SPAN] (each span, 5m when left out, goes the way of the one before it with \
                  that probability).\n\nExamples:\n  candlewick data generate --symbol BTCUSDT --interval 1m --start \
                  2026-01-05 --days 14 --seed 1 --out data\n  candlewick data generate --symbol BTCUSDT --interval 5m --days \
                  90 --regime edge:0.58:5m\n  candlewick data generate --symbol EURUSD --gaps 20 --bad-rows 9 --out spoiled"
)]
pub(crate) struct GenerateArguments {
    /// Name of the pair; it takes part in the randomness
    #[arg(long)]
    symbol: Symbol,
    /// crypto, forex or otc; told from the name when left out
    #[arg(long, value_name = "TYPE")]
    asset_type: Option<AssetType>,
    /// Length of the candles, a multiple of 5s
    #[arg(long, default_value = "1m")]
    interval: Interval,
    /// Open time of the first candle: a date, a time, or milliseconds since 1970
    #[arg(long, default_value = "2026-01-05", value_name = "TIME", value_parser = parse_moment)]
    start: Millis,
    /// How many days to make
    #[arg(long, default_value_t = 14)]
    days: u32,
    /// Keep only that many days at the end
    #[arg(long, value_name = "DAYS")]
    last_days: Option<u32>,
    /// The same seed makes the same candles
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Step of the prices; known for well-known pairs
    #[arg(long)]
    tick: Option<f64>,
    /// First price; known for well-known pairs
    #[arg(long)]
    price: Option<f64>,
    /// Standard deviation of one-minute moves, as a fraction of the price
    #[arg(long, value_name = "FRACTION")]
    volatility: Option<f64>,
    /// How the market behaves: mixed, random-walk, trend, mean-reversion, or edge:CHANCE with a planted edge
    #[arg(long, default_value = "mixed")]
    regime: Regime,
    /// Take out so many stretches of one to ten candles
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    gaps: u32,
    /// Write so many bad rows, one of each kind that `data check` knows, and from the beginning
    #[arg(long, value_name = "COUNT", default_value_t = 0, conflicts_with = "catalog")]
    bad_rows: u32,
    /// Folder to write a CSV file to
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    out: PathBuf,
    /// Put the candles into the catalog instead: the one in this folder, or the configured one
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    #[expect(clippy::option_option, reason = "the form of a flag whose value may be left out")]
    catalog: Option<Option<PathBuf>>,
    /// Replace the file when it is there; in the catalog, begin a new version of the series
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &GenerateArguments, context: &Context<'_>) -> Result<(), Failure> {
    let settings = settings_of(arguments)?;
    let series = Series { symbol: settings.symbol, interval: settings.interval };
    let make = |keep: &dyn Fn(&CandleSeries) -> Result<(), HistoryError>| {
        with_spinner(&format!("Making {series}"), context.global, || {
            let candles = with_gaps(&generate(&settings)?, arguments.gaps, settings.seed)?;
            keep(&candles).map(|()| candles)
        })
    };
    let (place, candles) = if let Some(folder) = &arguments.catalog {
        let catalog = CatalogArgument { catalog: folder.clone() }.open(context)?;
        let place = catalog.folder().to_owned();
        if catalog.manifest(series)?.is_some() {
            refuse_present(format!("{}: {series} is there already", place.display()), arguments)?;
        }
        (place, make(&|candles| put(&catalog, candles, &settings))?)
    } else {
        let path = DataSource::in_folder(&arguments.out, series)?.path;
        if path.exists() {
            refuse_present(format!("{}: the file is there already", path.display()), arguments)?;
        }
        make_folder(&arguments.out)?;
        let candles = make(&|candles| write(candles, arguments.bad_rows, settings.seed, &path))?;
        (path, candles)
    };
    let count = candles.candles().len();
    if context.global.json {
        return print_json(&json!({
            "file": place,
            "symbol": series.symbol,
            "interval": series.interval,
            "candles": count,
            "start": candles.start(),
            "end": candles.end(),
            "regime": settings.regime.to_string(),
            "gaps": arguments.gaps,
            "bad_rows": arguments.bad_rows,
            "data_hash": data_hash(&[candles]).to_hex().as_str(),
        }));
    }
    let spoiled = match (arguments.gaps, arguments.bad_rows) {
        (0, 0) => String::new(),
        (gaps, bad_rows) => format!(", {gaps} gaps, {bad_rows} bad rows"),
    };
    let origin = origin_of(&settings);
    print(&format!("{}: {count} candles of {series}, {origin}{spoiled}", place.display()))
}

/// What the candles are, in a few words.
fn origin_of(settings: &GenerateSettings) -> String {
    match settings.regime {
        Regime::Mixed => format!("synthetic, seed {}", settings.seed),
        regime => format!("synthetic, {regime}, seed {}", settings.seed),
    }
}

fn write(candles: &CandleSeries, bad_rows: u32, seed: u64, path: &Path) -> Result<(), HistoryError> {
    if bad_rows == 0 {
        return write_csv_file(candles, path);
    }
    BadRows::new(candles.clone(), bad_rows, seed)?.write_csv_file(path)
}

fn refuse_present(problem: String, arguments: &GenerateArguments) -> Result<(), Failure> {
    if arguments.force {
        return Ok(());
    }
    let help = "--force replaces it, in a catalog as a new version; --out and --catalog take another folder";
    Err(Failure::configuration(problem).help(help))
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let problem = format!("--out: cannot make the folder {}", folder.display());
        Failure::new(FailureKind::Data, anyhow::Error::new(error)).context(problem)
    })
}

/// As a version of its own: candles of another seed are no revisions of these.
fn put(catalog: &Catalog, candles: &CandleSeries, settings: &GenerateSettings) -> Result<(), HistoryError> {
    let source = origin_of(settings);
    let fetched_at = SystemClock::new().now();
    let origin = Origin { source: source.clone(), licence: None, fetched_at, files: Vec::new() };
    catalog.add_version(candles, &source, &origin).map(|_| ())
}

fn settings_of(arguments: &GenerateArguments) -> Result<GenerateSettings, Failure> {
    let symbol = arguments.symbol;
    let known = known_market(symbol);
    let needed = |flag: &str, given: Option<f64>, usual: Option<f64>| {
        given.or(usual).ok_or_else(|| {
            let problem = format!("--{flag} is missing: {symbol} is not a well-known pair");
            Failure::configuration(problem).help("for example: --tick 0.01 --price 100")
        })
    };
    let usual_volatility = known.map_or(USUAL_VOLATILITY, |market| market.volatility);
    Ok(GenerateSettings {
        symbol,
        asset_type: arguments.asset_type.unwrap_or_else(|| asset_type_of(symbol)),
        interval: arguments.interval,
        start: arguments.start,
        days: arguments.days,
        last_days: arguments.last_days,
        seed: arguments.seed,
        tick: needed("tick", arguments.tick, known.map(|market| market.tick))?,
        start_price: needed("price", arguments.price, known.map(|market| market.usual_price))?,
        volatility: arguments.volatility.unwrap_or(usual_volatility),
        regime: arguments.regime,
    })
}

/// Of one-minute moves of a pair that nobody knows.
const USUAL_VOLATILITY: f64 = 0.000_5;
