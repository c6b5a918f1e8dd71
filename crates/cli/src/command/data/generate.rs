//! `data generate`: generates candles from a seed.

use super::{CatalogArgument, existing};
use crate::arguments::parse_moment;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::show_as;
use crate::progress::Terminal;
use candlewick_app::data::{Defects, GenerateTarget, GenerateTerms, generate_candles};
use candlewick_history::{AssetType, Regime};
use candlewick_sdk::{Interval, Millis, Symbol};
use clap::Args;
use std::path::PathBuf;

/// What to make.
#[derive(Debug, Args)]
#[command(
    after_help = "Regimes: mixed (regimes that change), random-walk, trend[:LEAN] (each minute leans by so many of its standard \
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
    /// crypto, forex or otc; known by the name when left out
    #[arg(long, value_name = "TYPE")]
    asset_type: Option<AssetType>,
    /// Length of the candles, a multiple of 5s
    #[arg(long, default_value = "1m")]
    interval: Interval,
    /// Open time of the first candle: a date, a time, or seconds or milliseconds since 1970
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
    let defects = Defects { gaps: arguments.gaps, bad_rows: arguments.bad_rows };
    let catalog = arguments.catalog.as_ref().map(|folder| CatalogArgument { catalog: folder.clone() });
    let catalog = catalog.map(|catalog| catalog.open(context)).transpose()?;
    let target = match &catalog {
        Some(catalog) => GenerateTarget::Catalog(catalog),
        None => GenerateTarget::Folder(&arguments.out),
    };
    let place = (target, existing(arguments.force));
    let generated = generate_candles(&arguments.terms(), defects, place, &Terminal(context.global))?;
    show_as(&generated.document(), || generated.to_string(), context.global)
}

impl GenerateArguments {
    fn terms(&self) -> GenerateTerms {
        let Self { symbol, asset_type, interval, start, days, last_days, seed, .. } = *self;
        let Self { tick, price, volatility, regime, .. } = *self;
        GenerateTerms {
            symbol,
            asset_type,
            interval,
            start,
            days,
            last_days,
            seed,
            tick,
            price,
            volatility,
            regime,
        }
    }
}
