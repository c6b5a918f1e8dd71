//! Import of candle files from other programs and sources.

use super::{OutputFile, ResampledCounts, build_origin};
use crate::candles::{
    check_series_match, differs_only_in_interval, format_price_step, has_float_noise, price_step,
    read_other_intervals,
};
use crate::configuration::toml_key;
use crate::error::{AppError, Result};
use crate::fetch::SourceMixing;
use crate::progress::Progress;
use crate::shell::quote_for_shell;
use crate::storage;
use candlewick_history::{
    AppendCounts, Catalog, ImportSettings, ImportedSeries, Origin, Revision, count_candles_in_closed_hours,
    count_missing_candles, data_hash, import_file,
};
use candlewick_records::{count_text, format_number, format_utc};
use candlewick_sdk::{Candle, CandleSeries, Millis, Series, Symbol};
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// Minimum number of changed candles that suggest a different source instead of ordinary revisions.
const MIN_SUSPICIOUS_DIFFERENCES: usize = 10;

#[derive(Clone, Debug)]
pub struct ImportOptions {
    pub settings: ImportSettings,
    pub source: Option<String>,
    pub licence: Option<String>,
    pub mixing: SourceMixing,
    pub copies_folder: PathBuf,
    pub longer_share_percent: f64,
}

pub struct ParsedFile {
    file: PathBuf,
    imported: ImportedSeries,
    notices: Vec<String>,
    longer: ResampledCounts,
}

pub struct ImportedFile {
    read: ParsedFile,
    place: Destination,
}

enum Destination {
    Catalog { folder: PathBuf, appended: AppendCounts, revised_end: Option<Millis> },
    File(PathBuf),
}

/// Reads and checks all files without storing any, so that a broken file leaves the catalog unchanged.
pub fn read_for_catalog(
    files: &[PathBuf],
    terms: &ImportOptions,
    catalog: &Catalog,
    progress: &dyn Progress,
) -> Result<Vec<ParsedFile>> {
    let read = |file: &PathBuf| {
        ParsedFile::read(
            (file, &terms.copies_folder),
            (&terms.settings, terms.longer_share_percent),
            progress,
        )
    };
    let mut all = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut names: Vec<Symbol> = catalog.series()?.into_iter().map(|series| series.symbol).collect();
    for file in &all {
        file.check_symbol(&names, catalog)?;
        names.push(file.imported.candles.symbol());
    }
    if terms.mixing == SourceMixing::Refused {
        all.iter().try_for_each(|file| file.check_source(terms, catalog))?;
    }
    let series: Vec<Series> = all.iter().map(|file| file.imported.candles.series()).collect();
    let stored = read_other_intervals(catalog, &series)?;
    for index in 0..all.len() {
        let (earlier, rest) = all.split_at_mut(index);
        if let Some(file) = rest.first_mut() {
            file.notices = file.check_alignment(earlier, &stored)?;
        }
    }
    Ok(all)
}

impl ParsedFile {
    pub fn read(
        (file, copies): (&Path, &Path),
        (reading, longer_share_percent): (&ImportSettings, f64),
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut bar = progress.bar(&format!("Reading {}", file.display()));
        let here = storage::local_path(file, copies)?;
        let imported = import_file(&here, reading, &mut |at| bar.update(at.read_bytes, at.total_bytes))?;
        let longer = ResampledCounts::from_series(&imported.candles, longer_share_percent);
        Ok(Self { file: file.to_owned(), imported, notices: Vec::new(), longer })
    }

    fn source(&self, terms: &ImportOptions) -> String {
        terms.source.clone().unwrap_or_else(|| self.imported.format.to_string())
    }

    /// Rejects a different spelling of a stored symbol, because bots find candles only by the exact name.
    fn check_symbol(&self, names: &[Symbol], catalog: &Catalog) -> Result<()> {
        let own = self.imported.candles.symbol();
        let is_same = |name: &&Symbol| plain_name(name) == plain_name(&own);
        let Some(known) = names.iter().find(is_same).filter(|_| !names.contains(&own)) else { return Ok(()) };
        let folder = catalog.folder().display();
        let problem = format!(
            "{}: {own} would become a second series next to {known} in the catalog {folder}; bots find candles by the exact name",
            self.file.display()
        );
        let help = format!(
            "--symbol {} adds these candles to the existing series; --catalog chooses another folder",
            quote_for_shell(known.as_str())
        );
        Err(AppError::invalid(problem).with_help(help))
    }

    fn check_source(&self, terms: &ImportOptions, catalog: &Catalog) -> Result<()> {
        let series = self.imported.candles.series();
        let Some(manifest) = catalog.manifest(series)? else { return Ok(()) };
        let (source, folder) = (self.source(terms), catalog.folder().display());
        let others: Vec<&str> = manifest.origins.iter().map(|origin| origin.source.as_str()).collect();
        if !others.contains(&source.as_str()) {
            let others = others.join(", ");
            let problem =
                format!("{series} in the catalog {folder} is from {others}, but this file is from {source}");
            let help = "if the source is the same, name it with --source NAME; --catalog chooses another folder; --mix adds \
                        these candles anyway";
            return Err(AppError::invalid(problem).with_help(help));
        }
        let stored = catalog.read(series)?;
        let revisions = catalog.revisions(series)?;
        let (there, revised) = count_changes(stored.candles(), &revisions, &self.imported.candles);
        if revised >= MIN_SUSPICIOUS_DIFFERENCES && revised * 2 > there {
            let problem = format!(
                "{revised} of {there} candles of {series} in the catalog {folder} have different values in this file"
            );
            let help = "check --timezone, --stamped and the symbol; --catalog chooses another folder; --mix stores the \
                        new values as revisions";
            return Err(AppError::invalid(problem).with_help(help));
        }
        Ok(())
    }

    fn check_alignment(&self, earlier: &[Self], stored: &[CandleSeries]) -> Result<Vec<String>> {
        let (own, place) = (&self.imported.candles, self.file.display().to_string());
        let earlier = earlier.iter().map(|file| &file.imported.candles);
        let mut notices = Vec::new();
        for other in stored.iter().chain(earlier) {
            if differs_only_in_interval(own.series(), other.series()) {
                notices.extend(check_series_match(&[own, other], &place)?);
            }
        }
        Ok(notices)
    }

    pub fn store(
        self,
        terms: &ImportOptions,
        catalog: &Catalog,
        progress: &dyn Progress,
    ) -> Result<ImportedFile> {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let licence = terms.licence.clone();
        let origin = Origin { licence, files: vec![name], ..build_origin(self.source(terms)) };
        let candles = &self.imported.candles;
        let series = candles.series();
        let _spinner = progress.spinner(&format!("Storing {series}"));
        let end = catalog.manifest(series)?.and_then(|manifest| Some(manifest.current_version()?.end()));
        let appended = catalog.append(series, candles.candles(), &origin)?;
        let last = end.filter(|_| appended.revised > 0).map(|end| end - series.interval.length());
        let revisions = if last.is_some() { catalog.revisions(series)? } else { Vec::new() };
        let is_now = |at: &Millis| {
            revisions.iter().any(|one| one.candle.time() == *at && one.seen_at == origin.fetched_at)
        };
        let revised_end = last.filter(is_now);
        let folder = catalog.folder().to_owned();
        Ok(ImportedFile { read: self, place: Destination::Catalog { folder, appended, revised_end } })
    }

    pub fn write(self, out: &OutputFile) -> Result<ImportedFile> {
        out.write(&self.imported.candles)?;
        Ok(ImportedFile { read: self, place: Destination::File(out.path().to_owned()) })
    }
}

/// Minimum number of candles before trailing zeros in all prices are considered to be padding.
const MIN_PADDING_SAMPLE_CANDLES: usize = 100;

fn count_changes(stored: &CandleSeries, revisions: &[Revision], candles: &CandleSeries) -> (usize, usize) {
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

impl ImportedFile {
    fn price_step(&self) -> Option<String> {
        let ImportedSeries { candles, decimals, .. } = &self.read.imported;
        let are_few = candles.candles().len() < MIN_PADDING_SAMPLE_CANDLES;
        decimals.filter(|_| are_few).map(format_price_step).or_else(|| price_step(candles.candles()))
    }

    pub fn to_json(&self) -> Value {
        let ParsedFile { file, imported, longer, .. } = &self.read;
        let candles = &imported.candles;
        let mut document = json!({
            "file": file,
            "format": imported.format.as_str(),
            "symbol": candles.symbol(),
            "interval": candles.interval(),
            "candles": candles.candles().len(),
            "missing": count_missing_candles(candles),
            "start": candles.start(),
            "end": candles.end(),
            "timezone": imported.zone.map(|zone| zone.to_string()),
            "empty_rows": imported.empty_rows,
            "skipped_rows": imported.skipped_rows,
            "unfinished_rows": imported.unfinished_rows,
            "excluded_rows": imported.excluded_rows,
            "closed_candles": count_candles_in_closed_hours(candles),
            "newest_first": imported.was_newest_first,
            "in_seconds": imported.was_in_seconds,
            "price_step": self.price_step().and_then(|step| step.parse::<f64>().ok()),
            "reading": imported.table_layout,
            "longer": longer.to_json(),
            "data_hash": data_hash(std::slice::from_ref(candles)).to_hex().as_str(),
        });
        match &self.place {
            Destination::File(out) => document["out"] = json!(out),
            Destination::Catalog {
                folder,
                appended: AppendCounts { new_candles: new, skipped: same, revised, forming },
                revised_end,
            } => {
                document["catalog"] = json!(folder);
                document["new"] = json!(new);
                document["same"] = json!(same);
                document["revised"] = json!(revised);
                document["forming"] = json!(forming);
                document["revised_end"] = json!(revised_end);
            }
        }
        document
    }

    fn write_summary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParsedFile { file, imported, .. } = &self.read;
        let candles = &imported.candles;
        let missing = match count_missing_candles(candles) {
            0 => String::new(),
            missing => format!(", {missing} missing"),
        };
        let zone = imported.zone.map(|zone| format!(", time zone {zone}")).unwrap_or_default();
        let seconds = if imported.was_in_seconds { ", times in seconds" } else { "" };
        let order = if imported.was_newest_first { ", newest first" } else { "" };
        write!(
            f,
            "{}: {} of {}, {} to {}{missing}; format {}, symbol {}, interval {}{zone}{seconds}{order}",
            file.display(),
            count_text(candles.candles().len(), "candle", "candles"),
            candles.series(),
            format_utc(candles.start()),
            format_utc(candles.end()),
            imported.format,
            imported.symbol_source.as_str(),
            imported.interval_source.as_str(),
        )?;
        for (count, what) in [
            (imported.empty_rows, "without prices"),
            (imported.skipped_rows, "at a clock change"),
            (imported.unfinished_rows, "of unfinished candles"),
            (imported.excluded_rows, "of other series"),
        ] {
            if count > 0 {
                write!(f, ", {count} rows {what} omitted")?;
            }
        }
        if let Some(reading) = &imported.table_layout {
            write!(f, "\n  {reading}")?;
        }
        Ok(())
    }

    fn write_notices(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let candles = &self.read.imported.candles;
        if let Some(step) = self.price_step() {
            let symbol = toml_key(candles.symbol().as_str());
            write!(
                f,
                "\n  simulated prices inside candles are rounded only if a tick size is set; suggested: [simulation.ticks] {symbol} = {step}, \
                 from the number of decimals in this file"
            )?;
            if has_float_noise(candles.candles()) {
                f.write_str(", ignoring floating-point noise after the 15th digit")?;
            }
        }
        let closed = count_candles_in_closed_hours(candles);
        if closed > 0 {
            write!(
                f,
                "\n  warning: {closed} candles ({:.0} %) are outside market hours; `candlewick data check` lists them, and --fix --also \
                 closed removes them",
                closed as f64 * 100.0 / candles.candles().len() as f64
            )?;
        }
        for notice in self.read.notices.iter().cloned().chain(self.read.longer.text()) {
            write!(f, "\n  {notice}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ImportedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_summary(f)?;
        self.write_notices(f)?;
        match &self.place {
            Destination::File(out) => write!(f, "\n  {}", out.display()),
            Destination::Catalog {
                folder,
                appended: AppendCounts { new_candles: new, skipped: same, revised, forming },
                revised_end,
            } => {
                let [new, same, changed] = [new, same, revised].map(format_number);
                write!(f, "\n  {}: {new} new, {same} unchanged, {changed} revised", folder.display())?;
                if *forming > 0 {
                    write!(f, ", {forming} unfinished and omitted")?;
                }
                if let Some(time) = revised_end {
                    write!(
                        f,
                        "\n  warning: the last stored candle ({}) has different values in this file; it may have been unfinished",
                        format_utc(*time)
                    )?;
                }
                if *revised > 0 {
                    let Series { symbol, interval } = self.read.imported.candles.series();
                    write!(
                        f,
                        "\n  the stored values are kept; `candlewick data check {} --fix --also revised` replaces them with the later values",
                        quote_for_shell(&format!("{symbol}@{interval}"))
                    )?;
                }
                Ok(())
            }
        }
    }
}

/// Returns the symbol without separators. The dot of `EURUSD.` is kept, because it may mark another instrument.
fn plain_name(symbol: &Symbol) -> String {
    symbol.as_str().replace(['/', '-', '_', ' '], "").to_uppercase()
}
