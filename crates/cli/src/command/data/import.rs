//! `data import`: imports candles of other programs and sources.

use super::reading::ReadingArguments;
use super::{CatalogArgument, existing};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::progress::Terminal;
use candlewick_app::data::{ImportTerms, ImportedFile, OutputFile, ReadFile, read_for_catalog};
use candlewick_app::fetch::Mixing;
use candlewick_history::Catalog;
use clap::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Which files, and what they do not say of themselves.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick data import BTCUSDT-1m-2024-01.zip BTCUSDT-1m-2024-02.zip --source binance\n  \
                  candlewick data import DAT_ASCII_EURUSD_M1_2024.zip\n  candlewick data import EURUSD1.csv --timezone \
                  Europe/Athens\n  candlewick data import ETH_BTC-5m.feather --out ETHBTC_5m.csv"
)]
pub(crate) struct ImportArguments {
    /// Files to read; gz and zip are unpacked
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Where the candles come from, for the catalog's records; the format when left out
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Under which terms, for the catalog's records
    #[arg(long, visible_alias = "license", value_name = "TEXT")]
    licence: Option<String>,
    #[command(flatten)]
    catalog: CatalogArgument,
    /// Put candles beside those of other sources, and keep values that differ from theirs as revised
    #[arg(long)]
    mix: bool,
    /// Write this file, .csv or .parquet, and leave the catalog alone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["catalog", "source", "licence", "mix"])]
    out: Option<PathBuf>,
    /// Replace the file of --out when it is there
    #[arg(long, requires = "out")]
    force: bool,
}

pub(super) fn run(arguments: &ImportArguments, context: &Context<'_>) -> Result<(), Failure> {
    let documents = match &arguments.out {
        Some(out) => vec![to_file(arguments, out, context)?],
        None => to_catalog(arguments, context)?,
    };
    if context.global.json { print_json(&documents) } else { Ok(()) }
}

fn to_catalog(arguments: &ImportArguments, context: &Context<'_>) -> Result<Vec<Value>, Failure> {
    let loaded = arguments.catalog.load(context)?;
    let catalog = Catalog::new(loaded.config.data.catalog.clone());
    let progress = Terminal(context.global);
    let terms = ImportTerms {
        reading: arguments.reading.settings(),
        source: arguments.source.clone(),
        licence: arguments.licence.clone(),
        mixing: if arguments.mix { Mixing::Allowed } else { Mixing::Refused },
        copies: loaded.config.data.objects(),
        longer_share_percent: loaded.config.data.longer_share_percent,
    };
    let all = read_for_catalog(&arguments.files, &terms, &catalog, &progress)?;
    // Each is given back once it is stored.
    all.into_iter().map(|file| document(&file.store(&terms, &catalog, &progress)?, context)).collect()
}

fn to_file(arguments: &ImportArguments, out: &Path, context: &Context<'_>) -> Result<Value, Failure> {
    let [file] = &arguments.files[..] else {
        let problem = "--out takes the candles of one file, and there are several";
        return Err(
            Failure::configuration(problem).help("import them into the catalog, and export from there")
        );
    };
    let out = OutputFile::new(out, existing(arguments.force))?;
    let data = arguments.catalog.load(context)?.config.data;
    let (copies, reading) = (data.objects(), arguments.reading.settings());
    let reading = (&reading, data.longer_share_percent);
    let read = ReadFile::read((file, &copies), reading, &Terminal(context.global))?;
    document(&read.write(&out)?, context)
}

/// Returns the JSON document; without `--json` it prints the text at once.
fn document(imported: &ImportedFile, context: &Context<'_>) -> Result<Value, Failure> {
    if !context.global.json {
        print(&imported.to_string())?;
    }
    Ok(imported.document())
}
