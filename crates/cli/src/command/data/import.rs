//! `data import`: imports candles of other programs and sources.

use super::{CatalogArgument, existing};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::{print, print_json};
use crate::progress::Terminal;
use candlewick_app::data::{ImportTerms, ImportedFile, OutputFile, ReadFile, read_for_catalog};
use candlewick_app::fetch::Mixing;
use candlewick_history::{
    BarTime, Catalog, ClockChange, ColumnRoles, DateOrder, DecimalMark, Delimiter, ImportFormat,
    ImportSettings, TableSettings, Zone,
};
use candlewick_sdk::{Interval, Symbol};
use clap::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};

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

pub(super) fn run(arguments: &ImportArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let documents = match &arguments.out {
        Some(out) => vec![to_file(arguments, out, context)?],
        None => to_catalog(arguments, context)?,
    };
    if context.global.json {
        print_json(&documents)?;
    }
    Ok(Ending::Done)
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
    all.into_iter().map(|file| document(&file.store(&terms, &catalog, &progress)?, context)).collect()
}

fn to_file(arguments: &ImportArguments, out: &Path, context: &Context<'_>) -> Result<Value, Failure> {
    let [file] = &arguments.files[..] else {
        let problem = "--out takes the candles of one file, and there are several";
        return Err(
            Failure::configuration(problem).hint("import them into the catalog, and export from there")
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

#[derive(Debug, Args)]
#[command(next_help_heading = "What a file may not say")]
pub(crate) struct ReadingArguments {
    /// Format of the files: csv, parquet, binance, histdata, dukascopy, mt4, mt5, yahoo, freqtrade-json, feather, or table for text in any columns; found from the content when left out
    #[arg(long)]
    format: Option<ImportFormat>,
    /// Name of the pair; found from the file's name when left out
    #[arg(long)]
    symbol: Option<Symbol>,
    /// Length of the candles; found from the content, the file's name or the distance of the rows when left out
    #[arg(long)]
    interval: Option<Interval>,
    /// Read only rows with this symbol or interval, by the file's column for it; repeat it, or put commas between
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    only: Vec<String>,
    /// Time zone of the file's times: UTC, a distance from it such as +02:00, or a place such as America/New_York
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    timezone: Option<Zone>,
    /// Times that the clock of that zone shows twice or never: strict, earlier, later, pairs or skip
    #[arg(long, value_name = "RULE", default_value = "strict")]
    clock_change: ClockChange,
    /// What bars are stamped with: the time of their open or of their close
    #[arg(long, value_name = "END", default_value = "open")]
    stamped: BarTime,
    /// What the columns of a table are, from the left: time, date, clock, open, high, low, close, volume, and - for one that is left out; found by their names when left out
    #[arg(long, allow_hyphen_values = true, value_name = "NAMES")]
    columns: Option<ColumnRoles>,
    /// What separates the columns of a table: comma, semicolon, tab, bar or space; found from the first line when left out
    #[arg(long, value_name = "NAME")]
    delimiter: Option<Delimiter>,
    /// What stands before the decimals in a table: point or comma; found from its numbers when left out
    #[arg(long, value_name = "MARK")]
    decimal: Option<DecimalMark>,
    /// How dates such as 02/01/2024 begin: day-first or month-first; found from the other dates when left out
    #[arg(long, value_name = "ORDER")]
    date_order: Option<DateOrder>,
    /// File inside a zip archive that holds several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
}

impl ReadingArguments {
    pub(super) fn settings(&self) -> ImportSettings {
        ImportSettings {
            format: self.format,
            symbol: self.symbol,
            interval: self.interval,
            only: self.only.clone(),
            zone: self.timezone,
            clock_change: self.clock_change,
            stamped: self.stamped,
            table: TableSettings {
                columns: self.columns.clone(),
                delimiter: self.delimiter,
                decimal: self.decimal,
                date_order: self.date_order,
            },
            entry: self.entry.clone(),
            ..ImportSettings::default()
        }
    }
}
