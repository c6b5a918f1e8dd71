//! `data import`: candles of other programs and sources.

use super::CatalogArgument;
use super::reading::ReadingArguments;
use crate::command::Context;
use crate::failure::Failure;
use crate::moment::utc;
use crate::output::{print, print_json};
use crate::progress::{Progress, with_spinner};
use candlewick_api::clock::{Clock, SystemClock};
use candlewick_history::{Appended, CandleFormat, Catalog, Imported, Origin, data_hash, import_file};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Which files, and what they do not tell of themselves.
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
    /// Write this file, .csv or .parquet, and leave the catalog alone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["catalog", "source", "licence"])]
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

fn read(arguments: &ImportArguments, file: &Path, context: &Context<'_>) -> Result<Imported, Failure> {
    let mut progress = Progress::new(format!("Reading {}", file.display()), context.global);
    let mut watch = |at: candlewick_history::Progress| progress.update(at.read_bytes, at.total_bytes);
    Ok(import_file(file, &arguments.reading.settings(), &mut watch)?)
}

/// Every file is read before the first is stored: a broken one then leaves the catalog as it was.
fn to_catalog(arguments: &ImportArguments, context: &Context<'_>) -> Result<Vec<Value>, Failure> {
    let catalog = arguments.catalog.open(context)?;
    let read = |file: &PathBuf| read(arguments, file, context);
    let all = arguments.files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    arguments
        .files
        .iter()
        .zip(&all)
        .map(|(file, imported)| store(&catalog, arguments, file, imported, context))
        .collect()
}

fn store(
    catalog: &Catalog,
    arguments: &ImportArguments,
    file: &Path,
    imported: &Imported,
    context: &Context<'_>,
) -> Result<Value, Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let origin = Origin {
        source: arguments.source.clone().unwrap_or_else(|| imported.format.to_string()),
        licence: arguments.licence.clone(),
        fetched_at: SystemClock::new().now(),
        files: vec![name],
    };
    let candles = &imported.candles;
    let storing = format!("Storing {}", candles.series());
    let Appended { new, same, revised, forming } = with_spinner(&storing, context.global, || {
        catalog.append(candles.series(), candles.candles(), &origin)
    })?;
    if !context.global.json {
        let forming =
            if forming > 0 { format!(", {forming} not closed yet and left out") } else { String::new() };
        let stored = format!("{new} new, {same} there already, {revised} revised{forming}");
        print(&format!("{}\n  {}: {stored}", told(file, imported), catalog.folder().display()))?;
    }
    let mut document = document(file, imported);
    document["catalog"] = json!(catalog.folder());
    document["new"] = json!(new);
    document["same"] = json!(same);
    document["revised"] = json!(revised);
    document["forming"] = json!(forming);
    Ok(document)
}

fn to_file(arguments: &ImportArguments, out: &Path, context: &Context<'_>) -> Result<Value, Failure> {
    let [file] = &arguments.files[..] else {
        let problem = "--out takes the candles of one file, and there are several";
        return Err(
            Failure::configuration(problem).help("import them into the catalog, and export from there")
        );
    };
    if out.exists() && !arguments.force {
        let problem = format!("{}: the file is there already", out.display());
        return Err(Failure::configuration(problem).help("--force replaces it; --out takes another name"));
    }
    let format = CandleFormat::of_path(out).ok_or_else(|| {
        let problem = format!("--out {}: the name does not tell the format", out.display());
        Failure::configuration(problem).help("let it end in .csv or .parquet")
    })?;
    let imported = read(arguments, file, context)?;
    format.write_file(&imported.candles, out)?;
    if !context.global.json {
        print(&format!("{}\n  {}", told(file, &imported), out.display()))?;
    }
    let mut document = document(file, &imported);
    document["out"] = json!(out);
    Ok(document)
}

/// What was read, and how it was told, so that a wrong guess of the name or the content is seen.
fn told(file: &Path, imported: &Imported) -> String {
    let Imported { candles, format, .. } = imported;
    let mut text = format!(
        "{}: {} candles of {}, {} to {}; format {format}, symbol {}, interval {}",
        file.display(),
        candles.candles().len(),
        candles.series(),
        utc(candles.start()),
        utc(candles.end()),
        imported.symbol_told_by.as_str(),
        imported.interval_told_by.as_str(),
    );
    if let Some(zone) = imported.zone {
        let _ = write!(text, ", times of {zone}");
    }
    if imported.turned_round {
        text += ", newest first";
    }
    for (count, what) in
        [(imported.empty_rows, "without prices"), (imported.skipped_rows, "at a change of the clock")]
    {
        if count > 0 {
            let _ = write!(text, ", {count} rows {what} left out");
        }
    }
    text
}

fn document(file: &Path, imported: &Imported) -> Value {
    let candles = &imported.candles;
    json!({
        "file": file,
        "format": imported.format.as_str(),
        "symbol": candles.symbol(),
        "interval": candles.interval(),
        "candles": candles.candles().len(),
        "start": candles.start(),
        "end": candles.end(),
        "timezone": imported.zone.map(|zone| zone.to_string()),
        "empty_rows": imported.empty_rows,
        "skipped_rows": imported.skipped_rows,
        "newest_first": imported.turned_round,
        "data_hash": data_hash(std::slice::from_ref(candles)).to_hex().as_str(),
    })
}
