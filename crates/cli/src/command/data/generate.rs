//! `data generate`: candles out of a seed.

use crate::arguments::parse_moment;
use crate::command::Context;
use crate::failure::{Failure, FailureKind};
use crate::output::{print, print_json};
use crate::progress::with_spinner;
use candlewick_history::{
    AssetType, DataSource, GenerateSettings, asset_type_of, data_hash, generate, known_market, write_csv_file,
};
use candlewick_sdk::{Interval, Millis, Series, Symbol};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// What to make.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  candlewick data generate --symbol BTCUSDT --interval 1m --start 2026-01-05 --days 14 --seed 1 --out data"
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
    /// Folder to write to
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    out: PathBuf,
    /// Replace the file when it is there
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &GenerateArguments, context: &Context<'_>) -> Result<(), Failure> {
    let settings = settings_of(arguments)?;
    let series = Series { symbol: settings.symbol, interval: settings.interval };
    let path = DataSource::in_folder(&arguments.out, series)?.path;
    if path.exists() && !arguments.force {
        let problem = format!("{}: the file is there already", path.display());
        return Err(Failure::configuration(problem).help("--force replaces it; --out takes another folder"));
    }
    let unwritable = |error| {
        let problem = format!("--out: cannot make the folder {}", arguments.out.display());
        Failure::new(FailureKind::Data, anyhow::Error::new(error)).context(problem)
    };
    std::fs::create_dir_all(&arguments.out).map_err(unwritable)?;
    let candles = with_spinner(&format!("Making {series}"), context.global, || {
        let candles = generate(&settings)?;
        write_csv_file(&candles, &path).map(|()| candles)
    })?;
    let count = candles.candles().len();
    if context.global.json {
        return print_json(&json!({
            "file": path,
            "symbol": series.symbol,
            "interval": series.interval,
            "candles": count,
            "start": candles.start(),
            "end": candles.end(),
            "data_hash": data_hash(&[candles]).to_hex().as_str(),
        }));
    }
    print(&format!("{}: {count} candles of {series}, synthetic, seed {}", path.display(), settings.seed))
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
    })
}

/// Of one-minute moves of a pair that nobody knows.
const USUAL_VOLATILITY: f64 = 0.000_5;
