//! `data import`: imports candles from other programs and sources.

use super::{CatalogArgument, existing_file_rule};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::{print, print_json};
use crate::progress::StderrBars;
use candlewick_app::data::{ImportOptions, ImportedFile, OutputFile, ParsedFile, read_for_catalog};
use candlewick_app::fetch::SourceMixing;
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
    /// Files to import; gz and zip files are unpacked
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Source of the candles, recorded in the catalog [default: name of the format]
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Licence of the candles, recorded in the catalog
    #[arg(long, visible_alias = "license", value_name = "TEXT")]
    licence: Option<String>,
    #[command(flatten)]
    catalog: CatalogArgument,
    /// Allow candles from different sources in one series, and store differing values as revisions
    #[arg(long)]
    mix: bool,
    /// Output file to write instead of the catalog, .csv or .parquet
    #[arg(long, value_name = "FILE", conflicts_with_all = ["catalog", "source", "licence", "mix"])]
    out: Option<PathBuf>,
    /// Overwrite the --out file if it exists
    #[arg(long, requires = "out")]
    force: bool,
}

pub(super) fn run(arguments: &ImportArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let documents = match &arguments.out {
        Some(out) => vec![import_to_file(arguments, out, context)?],
        None => import_to_catalog(arguments, context)?,
    };
    if context.global.json {
        print_json(&documents)?;
    }
    Ok(Ending::Done)
}

fn import_to_catalog(arguments: &ImportArguments, context: &Context<'_>) -> Result<Vec<Value>, Failure> {
    let loaded = arguments.catalog.load_config(context)?;
    let catalog = Catalog::new(loaded.config.data.catalog.clone());
    let progress = StderrBars(context.global);
    let terms = ImportOptions {
        settings: arguments.reading.to_import_settings(),
        source: arguments.source.clone(),
        licence: arguments.licence.clone(),
        mixing: if arguments.mix { SourceMixing::Allowed } else { SourceMixing::Refused },
        copies_folder: loaded.config.data.copies_folder(),
        longer_share_percent: loaded.config.data.longer_share_percent,
    };
    let all = read_for_catalog(&arguments.files, &terms, &catalog, &progress)?;
    all.into_iter().map(|file| report_file(&file.store(&terms, &catalog, &progress)?, context)).collect()
}

fn import_to_file(arguments: &ImportArguments, out: &Path, context: &Context<'_>) -> Result<Value, Failure> {
    let [file] = &arguments.files[..] else {
        return Err(Failure::configuration("--out supports a single input file")
            .hint("import the files into the catalog and run `candlewick data export`"));
    };
    let out = OutputFile::new(out, existing_file_rule(arguments.force))?;
    let data = arguments.catalog.load_config(context)?.config.data;
    let (copies, reading) = (data.copies_folder(), arguments.reading.to_import_settings());
    let reading = (&reading, data.longer_share_percent);
    let read = ParsedFile::read((file, &copies), reading, &StderrBars(context.global))?;
    report_file(&read.write(&out)?, context)
}

fn report_file(imported: &ImportedFile, context: &Context<'_>) -> Result<Value, Failure> {
    if !context.global.json {
        print(&imported.to_string())?;
    }
    Ok(imported.to_json())
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Input format")]
pub(crate) struct ReadingArguments {
    /// File format: csv, parquet, binance, histdata, dukascopy, mt4, mt5, yahoo, freqtrade-json, feather, or table
    /// (text with any columns) [default: detected]
    #[arg(long)]
    format: Option<ImportFormat>,
    /// Symbol of the candles [default: from the file name]
    #[arg(long)]
    symbol: Option<Symbol>,
    /// Interval of the candles [default: detected from the content, file name or row spacing]
    #[arg(long)]
    interval: Option<Interval>,
    /// Import only rows whose symbol or interval column has this value; repeatable or comma-separated
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    only: Vec<String>,
    /// Time zone of the file: UTC, an offset such as +02:00, or an IANA name such as America/New_York
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    timezone: Option<Zone>,
    /// Handling of ambiguous or skipped local times at clock changes: strict (fail), earlier or later (assume the first
    /// or second hour), pairs (of two rows with equal times, the first is earlier) or skip (omit the rows)
    #[arg(long, value_name = "RULE", default_value = "strict")]
    clock_change: ClockChange,
    /// Meaning of the timestamps: open or close of the candle
    #[arg(long, value_name = "END", default_value = "open")]
    stamped: BarTime,
    /// Columns of a table, in order: time, date, clock, open, high, low, close, volume, and - for an ignored column
    /// [default: by column names]
    #[arg(long, allow_hyphen_values = true, value_name = "NAMES")]
    columns: Option<ColumnRoles>,
    /// Column separator of a table: comma, semicolon, tab, bar (|) or space [default: detected]
    #[arg(long, value_name = "NAME")]
    delimiter: Option<Delimiter>,
    /// Decimal separator of a table: point or comma [default: detected]
    #[arg(long, value_name = "MARK")]
    decimal: Option<DecimalMark>,
    /// Order of day and month in dates such as 02/01/2024: day-first or month-first [default: detected]
    #[arg(long, value_name = "ORDER")]
    date_order: Option<DateOrder>,
    /// Name of the file to read in a zip archive with several files
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
}

impl ReadingArguments {
    pub(super) fn to_import_settings(&self) -> ImportSettings {
        ImportSettings {
            format: self.format,
            symbol: self.symbol,
            interval: self.interval,
            only: self.only.clone(),
            zone: self.timezone,
            clock_change: self.clock_change,
            bar_time: self.stamped,
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
