//! Contents of the catalog, and the longer candles that a series can be resampled to.

use crate::error::{AppError, Result};
use candlewick_history::{Catalog, Manifest, Version, count_longer};
use candlewick_records::{table, utc};
use candlewick_sdk::{CandleSeries, Interval, ResampleCounts};
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;

pub struct CatalogContents {
    folder: PathBuf,
    /// Series with their number of missing candles, `None` if unreadable.
    found: Vec<(Manifest, Option<u64>)>,
    pub unreadable: Vec<AppError>,
}

impl CatalogContents {
    pub fn read(catalog: &Catalog) -> Result<Self> {
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        for series in catalog.series()? {
            match catalog.manifest(series) {
                Ok(None) => {}
                Ok(Some(manifest)) => {
                    let missing = catalog.missing_candles(series);
                    let missing = missing.map_err(|error| unreadable.push(error.into())).ok();
                    found.push((manifest, missing));
                }
                Err(error) => unreadable.push(error.into()),
            }
        }
        Ok(Self { folder: catalog.folder().to_owned(), found, unreadable })
    }

    fn current(&self) -> impl Iterator<Item = (&Manifest, &Version, Option<u64>)> {
        self.found.iter().filter_map(|(manifest, missing)| Some((manifest, manifest.current()?, *missing)))
    }

    pub fn document(&self) -> Value {
        self.current().map(|(manifest, version, missing)| document_of(manifest, version, missing)).collect()
    }
}

fn document_of(manifest: &Manifest, version: &Version, missing: Option<u64>) -> Value {
    let versions = manifest.versions.iter().map(|version| {
        json!({ "number": version.number, "note": version.note, "candles": version.candles(), "data_hash": version.data_hash })
    });
    json!({
        "symbol": manifest.symbol,
        "interval": manifest.interval,
        "start": version.start(),
        "end": version.end(),
        "candles": version.candles(),
        "missing": missing,
        "revised": manifest.revised(),
        "data_hash": version.data_hash,
        "version": version.number,
        "versions": versions.collect::<Vec<_>>(),
        "origins": manifest.origins,
    })
}

impl fmt::Display for CatalogContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() && self.unreadable.is_empty() {
            let folder = self.folder.display();
            return write!(
                f,
                "{folder}: the catalog is empty; `candlewick data fetch` fills it from the venue, `candlewick data import` from files"
            );
        }
        let mut table =
            table(["Symbol", "Interval", "From", "To", "Candles", "Missing", "Revised", "Source"]);
        for (manifest, version, missing) in self.current() {
            let sources: Vec<&str> = manifest.origins.iter().map(|origin| origin.source.as_str()).collect();
            table.add_row([
                manifest.symbol.to_string(),
                manifest.interval.to_string(),
                utc(version.start()),
                utc(version.end()),
                version.candles().to_string(),
                missing.map_or_else(|| "not known".to_owned(), |missing| missing.to_string()),
                manifest.revised().to_string(),
                sources.join(", "),
            ]);
        }
        table.fmt(f)
    }
}

#[derive(Clone, Debug)]
pub struct LongerCounts {
    share_percent: f64,
    counts: Vec<(Interval, ResampleCounts)>,
}

impl LongerCounts {
    pub fn from_series(series: &CandleSeries, share_percent: f64) -> Self {
        Self { share_percent, counts: count_longer(series, share_percent) }
    }

    pub(super) fn from_counts(interval: Interval, counts: ResampleCounts, share_percent: f64) -> Self {
        Self { share_percent, counts: vec![(interval, counts)] }
    }

    pub(super) fn document(&self) -> Value {
        let document = |(interval, counts): &(Interval, ResampleCounts)| {
            let ResampleCounts { built, in_parts, not_built } = counts;
            json!({ "interval": interval, "built": built, "in_parts": in_parts, "not_built": not_built })
        };
        self.counts.iter().map(document).collect()
    }

    pub(super) fn text(&self) -> Option<String> {
        let incomplete = self.counts.iter().filter(|(_, counts)| counts.in_parts + counts.not_built > 0);
        let texts: Vec<String> = incomplete
            .map(|(interval, ResampleCounts { built, in_parts, not_built })| {
                format!("{interval} {built} built, {in_parts} of them with gaps, {not_built} not built")
            })
            .collect();
        let share = self.share_percent;
        (!texts.is_empty()).then(|| {
            format!(
                "longer candles, of {share} % of their open minutes (data.longer_share_percent): {}",
                texts.join("; ")
            )
        })
    }
}
