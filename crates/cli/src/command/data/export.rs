//! `data export`: candles out of the catalog, or from one format into another.

use super::CatalogArgument;
use crate::arguments::parse_moment;
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::output::{print, print_json};
use crate::progress::with_spinner;
use candlewick_app::candles::{ALWAYS, DataName, Shelves, shelves, within};
use candlewick_history::{CandleFormat, HashedSeries};
use candlewick_sdk::Millis;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What to write, and where.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick data export BTCUSDT@1m --out BTCUSDT_1m.csv\n  candlewick data export BTCUSDT@1m \
                  --from 2026-01-01 --to 2026-02-01 --out january.parquet\n  candlewick data export BTCUSDT_1m.csv --out \
                  BTCUSDT_1m.parquet"
)]
pub(crate) struct ExportArguments {
    /// A series of the catalog, SYMBOL@INTERVAL, or a candle file
    #[arg(value_name = "SERIES")]
    name: String,
    /// File to write; its ending, .csv or .parquet, decides the format
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A version of the series other than the current one, by its number
    #[arg(long, value_name = "NUMBER")]
    version: Option<u32>,
    /// Leave out candles that open before: a date, a time, or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Millis>,
    /// Leave out candles that close after
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    to: Option<Millis>,
    /// Replace the file when it is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    catalog: CatalogArgument,
}

pub(super) fn run(arguments: &ExportArguments, context: &Context<'_>) -> Result<(), Failure> {
    let ExportArguments { out, .. } = arguments;
    let format = format_of(out)?;
    if out.exists() && !arguments.force {
        let problem = format!("{}: the file is there already", out.display());
        return Err(Failure::configuration(problem).help("--force replaces it; --out takes another name"));
    }
    let name: DataName = arguments.name.parse()?;
    let loaded = arguments.catalog.load(context)?;
    let shelves = shelves(&loaded);
    let joined_from = name.joined_from(&shelves.catalog)?;
    let series = with_spinner(&format!("Writing {}", out.display()), context.global, || {
        let series = read(&name, arguments, &shelves)?;
        format.write_file(series.candles(), out).map(|()| series).map_err(Failure::from)
    })?;
    let (candles, hash) = (series.candles(), series.hash().to_hex().to_string());
    let count = candles.candles().len();
    if context.global.json {
        return print_json(&json!({
            "file": out,
            "symbol": candles.symbol(),
            "interval": candles.interval(),
            "candles": count,
            "start": candles.start(),
            "end": candles.end(),
            "data_hash": hash,
        }));
    }
    let joined = joined_from.map(|shorter| format!(", resampled from {shorter}")).unwrap_or_default();
    print(&format!("{}: {count} candles of {}{joined}", out.display(), candles.series()))
}

fn format_of(out: &Path) -> Result<CandleFormat, Failure> {
    CandleFormat::of_path(out).ok_or_else(|| {
        let problem = format!("--out {}: the name does not say the format", out.display());
        Failure::configuration(problem).help("let it end in .csv or .parquet")
    })
}

fn read(name: &DataName, arguments: &ExportArguments, shelves: &Shelves) -> Result<HashedSeries, Failure> {
    let whole = match (name, arguments.version) {
        (DataName::Stored(series), Some(number)) => shelves.catalog.read_version(*series, number)?,
        (DataName::File(_), Some(_)) => {
            return Err(Failure::configuration("--version: a file has no versions"));
        }
        (_, None) => name.read(shelves, &mut |_| {})?,
    };
    let range = arguments.from.unwrap_or(ALWAYS.start)..arguments.to.unwrap_or(ALWAYS.end);
    if range.is_empty() {
        let problem = "--from does not lie before --to".to_owned();
        return Err(Failure::new(FailureKind::Configuration, anyhow::Error::msg(problem)));
    }
    Ok(within(whole, &range, &name.to_string())?)
}
