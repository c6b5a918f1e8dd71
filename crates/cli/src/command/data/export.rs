//! `data export`: exports candles from the catalog, or converts between formats.

use super::{CatalogArgument, existing};
use crate::arguments::parse_moment;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::show_as;
use crate::progress::Terminal;
use candlewick_app::candles::candle_store;
use candlewick_app::data::{ExportTerms, OutputFile, export};
use candlewick_sdk::Millis;
use clap::Args;
use std::path::PathBuf;

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
    /// File to write, here or on object storage (s3://BUCKET/...); its ending, .csv or .parquet, decides the format
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A version of the series other than the current one, by its number
    #[arg(long, value_name = "NUMBER")]
    version: Option<u32>,
    /// Leave out candles that open before: a date, a time, or seconds or milliseconds since 1970
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
    let out = OutputFile::new(&arguments.out, existing(arguments.force))?;
    let ExportArguments { version, from, to, .. } = *arguments;
    let terms = ExportTerms { name: arguments.name.parse()?, version, from, to };
    let store = candle_store(&arguments.catalog.load(context)?);
    let exported = export(&terms, &store, &out, &Terminal(context.global))?;
    show_as(&exported.document(), || exported.to_string(), context.global)
}
