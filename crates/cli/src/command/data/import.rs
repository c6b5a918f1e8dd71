//! `data import`: candles of other programs and sources.

use super::CatalogArgument;
use super::reading::ReadingArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::progress::{Progress, with_spinner};
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_history::{
    Appended, CandleFormat, Catalog, Imported, Origin, Revision, data_hash, import_file,
};
use candlewick_records::utc;
use candlewick_sdk::{Candle, CandleSeries};
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
    if !arguments.mix {
        for imported in &all {
            check_source(&catalog, arguments, imported)?;
        }
    }
    // Each is given back once it is stored.
    let both = arguments.files.iter().zip(all);
    both.map(|(file, imported)| store(&catalog, arguments, file, &imported, context)).collect()
}

fn source_of(arguments: &ImportArguments, imported: &Imported) -> String {
    arguments.source.clone().unwrap_or_else(|| imported.format.to_string())
}

/// So many differences are more than what venues revise.
const MANY_DIFFERENCES: usize = 10;

/// Refuses what is probably a mistake, before anything is stored: candles for a series that came from elsewhere, and
/// candles most of which contradict those that are there, as those of another time zone do.
fn check_source(catalog: &Catalog, arguments: &ImportArguments, imported: &Imported) -> Result<(), Failure> {
    let series = imported.candles.series();
    let Some(manifest) = catalog.manifest(series)? else { return Ok(()) };
    let (source, folder) = (source_of(arguments, imported), catalog.folder().display());
    let others: Vec<&str> = manifest.origins.iter().map(|origin| origin.source.as_str()).collect();
    if !others.contains(&source.as_str()) {
        let problem =
            format!("{series} in the catalog {folder} came from {}, these from {source}", others.join(", "));
        let help = "--source NAME tells that they are of one source; --catalog takes another folder; --mix puts these \
                    candles beside those that are there";
        return Err(Failure::configuration(problem).help(help));
    }
    let stored = catalog.read(series)?;
    let revisions = catalog.revisions(series)?;
    let (there, revised) = compare(stored.candles(), &revisions, &imported.candles);
    if revised >= MANY_DIFFERENCES && revised * 2 > there {
        let problem = format!(
            "{revised} of the {there} candles of {series} that are in the catalog {folder} already have other values here"
        );
        let help = "is --timezone or --stamped another than before, or the pair? --catalog takes another folder; --mix \
                    keeps the other values as revised";
        return Err(Failure::configuration(problem).help(help));
    }
    Ok(())
}

/// How many of the candles have one of the same moment in the catalog, and how many of those bring a value that is not
/// known.
fn compare(stored: &CandleSeries, revisions: &[Revision], candles: &CandleSeries) -> (usize, usize) {
    let (mut there, mut revised) = (0, 0);
    for candle in candles.candles() {
        let Ok(place) = stored.candles().binary_search_by_key(&candle.time(), Candle::time) else { continue };
        there += 1;
        let from = revisions.partition_point(|revision| revision.candle.time() < candle.time());
        let of_time = revisions[from..].iter().take_while(|revision| revision.candle.time() == candle.time());
        let is_known = stored.candles()[place] == *candle
            || of_time.map(|revision| revision.candle).any(|known| known == *candle);
        revised += usize::from(!is_known);
    }
    (there, revised)
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
        source: source_of(arguments, imported),
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
        let problem = format!("--out {}: the name does not say the format", out.display());
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
        imported.symbol_from.as_str(),
        imported.interval_from.as_str(),
    );
    if let Some(zone) = imported.zone {
        let _ = write!(text, ", times of {zone}");
    }
    if imported.in_seconds {
        text += ", times in seconds";
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
        "in_seconds": imported.in_seconds,
        "data_hash": data_hash(std::slice::from_ref(candles)).to_hex().as_str(),
    })
}
