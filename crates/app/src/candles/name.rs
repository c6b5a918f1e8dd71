//! The `--data` argument: a candle file or a catalog series.

use crate::error::{AppError, Result};
use crate::storage;
use candlewick_api::Settings;
use candlewick_history::{
    CandleFile, Catalog, FileCache, HashedSeries, HistoryError, Progress, resample_with_coverage,
};
use candlewick_sdk::{CloseType, Interval, Millis, Series, Symbol};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Candle file (`SYMBOL_INTERVAL.csv` or `.parquet`, or `SYMBOL@INTERVAL=PATH`) or catalog series (`SYMBOL@INTERVAL`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataName {
    File(CandleFile),
    Stored(Series),
}

#[derive(Clone, Debug)]
pub struct CandleStore {
    pub catalog: Catalog,
    pub cache: Option<FileCache>,
    pub object_folder: PathBuf,
    /// Minimum coverage of a resampled candle by shorter candles, in percent of its market hours.
    pub longer_share_percent: f64,
}

impl DataName {
    pub const fn series(&self) -> Series {
        match self {
            Self::File(source) => source.series,
            Self::Stored(series) => *series,
        }
    }

    pub fn read(&self, store: &CandleStore, progress: &mut dyn FnMut(Progress)) -> Result<HashedSeries> {
        match self {
            Self::File(source) => {
                let path = storage::local_path(&source.path, &store.object_folder)?;
                let source = CandleFile { series: source.series, path: path.into_owned() };
                Ok(match &store.cache {
                    Some(cache) => cache.read(&source, progress)?,
                    None => HashedSeries::new(source.read(progress)?),
                })
            }
            Self::Stored(series) => match self.resampling_source(&store.catalog)? {
                None => Ok(store.catalog.read(*series)?),
                Some(shorter) => {
                    let shorter = store.catalog.read(shorter)?;
                    let share = store.longer_share_percent;
                    let longer = resample_with_coverage(shorter.candles(), series.interval, share)?;
                    Ok(HashedSeries::new(longer.candles))
                }
            },
        }
    }

    pub fn stored_source(&self, catalog: &Catalog) -> Result<Option<Series>, HistoryError> {
        match self {
            Self::File(_) => Ok(None),
            Self::Stored(series) => Ok(Some(self.resampling_source(catalog)?.unwrap_or(*series))),
        }
    }

    pub fn resampling_source(&self, catalog: &Catalog) -> Result<Option<Series>, HistoryError> {
        let Self::Stored(series) = self else { return Ok(None) };
        let all = catalog.series()?;
        let parts = all.iter().filter(|one| can_resample(**one, *series) && !all.contains(series));
        Ok(parts.max_by_key(|one| one.interval).copied())
    }
}

pub(crate) fn parse_data_names(configured: &[String]) -> Result<Vec<DataName>> {
    let mut names: Vec<DataName> = Vec::with_capacity(configured.len());
    for text in configured {
        let name: DataName = text.parse()?;
        if let Some(other) = names.iter().find(|other| other.series() == name.series()) {
            let problem = format!("{} is given twice: as {other} and as {name}", name.series());
            return Err(AppError::invalid(problem).with_help("remove one of the two names"));
        }
        names.push(name);
    }
    Ok(names)
}

impl FromStr for DataName {
    type Err = HistoryError;

    fn from_str(text: &str) -> Result<Self, HistoryError> {
        let stored = || {
            let (symbol, interval) = text.rsplit_once('@')?;
            Some(Series { symbol: Symbol::new(symbol).ok()?, interval: interval.parse().ok()? })
        };
        stored().map_or_else(|| text.parse().map(Self::File), |series| Ok(Self::Stored(series)))
    }
}

impl fmt::Display for DataName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(source) => source.path.display().fmt(f),
            Self::Stored(series) => write!(f, "{}@{}", series.symbol, series.interval),
        }
    }
}

pub(super) fn can_resample(fine: Series, coarse: Series) -> bool {
    let divides = coarse.interval.length().is_aligned_to(fine.interval.length());
    fine.symbol == coarse.symbol && fine.interval < coarse.interval && divides
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceSource {
    Venue,
    Other,
}

impl PriceSource {
    /// Returns `Venue` if all candles come from this venue according to the catalog, otherwise `Other`.
    pub(super) fn from_names(names: &[DataName], catalog: &Catalog, venue: &Settings) -> Result<Self> {
        let source = describe_source(venue);
        for name in names {
            let Some(series) = name.stored_source(catalog)? else { return Ok(Self::Other) };
            let origins = catalog.manifest(series)?.map(|manifest| manifest.origins).unwrap_or_default();
            if origins.is_empty() || origins.iter().any(|origin| origin.source != source) {
                return Ok(Self::Other);
            }
        }
        Ok(if names.is_empty() { Self::Other } else { Self::Venue })
    }
}

pub fn describe_source(venue: &Settings) -> String {
    let Settings { price_url, slot, .. } = venue;
    if *slot == Settings::default().slot { price_url.clone() } else { format!("{price_url}, slot {slot}") }
}

/// Builds a `rules` bot per symbol in `data`, on its longest interval. Without data, builds one on BTCUSDT 1m.
pub fn build_rule_bots(file: &Path, data: &[String]) -> Value {
    let mut longest: BTreeMap<Symbol, Interval> = BTreeMap::new();
    // Invalid names are skipped here and reported when the candles are read.
    for name in data.iter().filter_map(|name| name.parse::<DataName>().ok()) {
        let Series { symbol, interval } = name.series();
        let known = longest.entry(symbol).or_insert(interval);
        *known = interval.max(*known);
    }
    let is_one = longest.len() <= 1;
    let bot = |symbol: &str, interval: Interval| {
        // A trade duration (close type) is at most one day.
        let close_type = CloseType::new(interval.length().min(Millis::DAY));
        let name = if is_one { "rules".to_owned() } else { format!("rules-{}", symbol.to_lowercase()) };
        json!({
            "name": name,
            "symbol": symbol,
            "interval": interval,
            "strategy": "rules",
            "close_type": close_type.map_or_else(|_| "01:00".to_owned(), |code| code.to_string()),
            "params": { "file": file },
        })
    };
    if longest.is_empty() {
        return json!([bot("BTCUSDT", Interval::MINUTE)]);
    }
    longest.iter().map(|(symbol, interval)| bot(symbol.as_str(), *interval)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_path_are_catalog_series() {
        for (text, stored) in [
            ("BTCUSDT@1m", true),
            ("PEPE/USDT@60s", true),
            ("EURUSD=X@1m", true),
            ("BTCUSDT@1m=x.csv", false),
            ("BTCUSDT_1m.csv", false),
            ("some@where/BTCUSDT_5s.parquet", false),
        ] {
            let name: DataName = text.parse().unwrap();
            assert_eq!(matches!(name, DataName::Stored(_)), stored, "{text}");
        }
        assert!("BTCUSDT@".parse::<DataName>().is_err());
    }

    #[test]
    fn builds_a_bot_per_symbol_on_its_longest_candles() {
        let check = |data: &[&str], expected: Value| {
            let data: Vec<String> = data.iter().map(|name| (*name).to_owned()).collect();
            let bots = build_rule_bots(Path::new("my.toml"), &data);
            let told = |bot: &Value| {
                json!([bot["name"], bot["symbol"], bot["interval"], bot["close_type"], bot["params"]["file"]])
            };
            assert_eq!(bots.as_array().unwrap().iter().map(told).collect::<Value>(), expected);
        };
        check(&[], json!([["rules", "BTCUSDT", "1m", "01:00", "my.toml"]]));
        check(&["EURUSD_5s.csv", "EURUSD@5m=x.csv"], json!([["rules", "EURUSD", "5m", "05:00", "my.toml"]]));
        check(
            &["EURUSD_1h.csv", "BTCUSDT@1m", "no series"],
            json!([
                ["rules-btcusdt", "BTCUSDT", "1m", "01:00", "my.toml"],
                ["rules-eurusd", "EURUSD", "1h", "1:00:00", "my.toml"]
            ]),
        );
    }
}
