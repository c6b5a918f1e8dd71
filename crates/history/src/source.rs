//! Candle files as specified with `--data`: a path with the symbol and interval of its candles.

use crate::gap::{MixedInterval, find_mixed_interval};
use crate::{HistoryError, Progress, read_csv_file, read_parquet_file, write_csv_file, write_parquet_file};
use candlewick_sdk::{Candle, CandleSeries, Interval, Series, Symbol};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Candle file, written as `SYMBOL_INTERVAL.csv` (or `.parquet`) or as `SYMBOL@INTERVAL=PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandleFile {
    pub series: Series,
    pub path: PathBuf,
}

impl CandleFile {
    /// Parses symbol and interval from a file name. The interval is the part after the last `_`.
    pub fn from_path(path: &Path) -> Result<Self, HistoryError> {
        let text = || path.display().to_string();
        let error = |problem: String| HistoryError::InvalidSeriesName { text: text(), problem };
        if CandleFormat::from_path(path).is_none() {
            let meant = path.to_str().and_then(suggest_series);
            let meant = meant.map(|series| format!("; did you mean the catalog series {series}?"));
            let meant = meant.unwrap_or_default();
            return Err(error(format!("the file name does not end in .csv or .parquet{meant}")));
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let (symbol, interval) =
            stem.rsplit_once('_').ok_or_else(|| error("the file name has no interval".to_owned()))?;
        let interval = interval.parse().map_err(|e| error(format!("the file name has no interval: {e}")))?;
        let symbol = Symbol::new(symbol).map_err(|e| error(e.to_string()))?;
        Ok(Self { series: Series { symbol, interval }, path: path.to_owned() })
    }

    pub fn in_folder(folder: &Path, series: Series) -> Result<Self, HistoryError> {
        let name = format!("{}_{}.csv", series.symbol, series.interval);
        if name.contains(['/', '\\']) {
            let problem = "the symbol cannot be part of a file name".to_owned();
            return Err(HistoryError::InvalidSeriesName { text: name, problem });
        }
        Ok(Self { series, path: folder.join(name) })
    }

    pub fn read(&self, progress: &mut dyn FnMut(Progress)) -> Result<CandleSeries, HistoryError> {
        let format = CandleFormat::from_path(&self.path).unwrap_or(CandleFormat::Csv);
        let series = format.read_file(&self.path, self.series, progress)?;
        self.check_single_interval(series.candles())?;
        Ok(series)
    }

    fn check_single_interval(&self, candles: &[Candle]) -> Result<(), HistoryError> {
        let interval = self.series.interval;
        let Some(second) = find_mixed_interval(candles.len(), |index| candles[index].time(), interval) else {
            return Ok(());
        };
        let MixedInterval { distance, count, start } = second;
        let seconds = distance.get() / 1_000;
        let seen = format!(
            "the file mixes two intervals: {interval}, but {seconds} s from candle {} on ({count} times)",
            start + 1
        );
        Err(HistoryError::AmbiguousFile {
            path: self.path.clone(),
            seen,
            option: "one file per interval".to_owned(),
        })
    }
}

/// Splits `SYMBOL@INTERVAL=PATH` at the first `=` after a valid interval.
fn split_series_path(text: &str) -> Option<(&str, Interval, &str)> {
    text.match_indices('=').find_map(|(at, _)| {
        let (symbol, interval) = text[..at].rsplit_once('@')?;
        Some((symbol, interval.parse().ok()?, &text[at + 1..]))
    })
}

impl FromStr for CandleFile {
    type Err = HistoryError;

    fn from_str(text: &str) -> Result<Self, HistoryError> {
        let Some((symbol, interval, path)) = split_series_path(text) else {
            return Self::from_path(Path::new(text));
        };
        let error = |problem| HistoryError::InvalidSeriesName { text: text.to_owned(), problem };
        let symbol = Symbol::new(symbol).map_err(|e| error(e.to_string()))?;
        if path.is_empty() {
            return Err(error("the path after = is missing".to_owned()));
        }
        Ok(Self { series: Series { symbol, interval }, path: PathBuf::from(path) })
    }
}

impl fmt::Display for CandleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}={}", self.series.symbol, self.series.interval, self.path.display())
    }
}

fn suggest_series(text: &str) -> Option<String> {
    // `data/GBPUSD_1m` is a path whose extension is missing, but `GBP/USD` is a symbol.
    let folder = Path::new(text).parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| folder.is_absolute() || folder.starts_with(".") || folder.is_dir()) {
        return None;
    }
    let (symbol, length) = text.split_at(text.rfind(['@', '_', '-', ',', ' '])?);
    let interval = match length[1..].parse::<Interval>() {
        Ok(interval) => interval,
        Err(error) => error.suggestion()?.parse().ok()?,
    };
    let symbol = symbol.trim_end_matches([',', ' ']);
    Some(format!("{}@{interval}", Symbol::new(symbol).ok()?))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandleFormat {
    Csv,
    Parquet,
}

impl CandleFormat {
    pub fn from_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?;
        let formats = [("csv", Self::Csv), ("parquet", Self::Parquet)];
        formats.into_iter().find(|(name, _)| ending.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }

    pub fn read_file(
        self,
        path: &Path,
        series: Series,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<CandleSeries, HistoryError> {
        match self {
            Self::Csv => read_csv_file(path, series, progress),
            Self::Parquet => read_parquet_file(path, series),
        }
    }

    pub fn write_file(self, series: &CandleSeries, path: &Path) -> Result<(), HistoryError> {
        match self {
            Self::Csv => write_csv_file(series, path),
            Self::Parquet => write_parquet_file(series, path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: (&str, &str, &str)) {
        let source: CandleFile = text.parse().unwrap();
        let found = (source.series.symbol.to_string(), source.series.interval.to_string(), source.path);
        assert_eq!(found, (expected.0.to_owned(), expected.1.to_owned(), PathBuf::from(expected.2)));
    }

    fn check_refused(text: &str, expected: &str) {
        let error = text.parse::<CandleFile>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("\"{text}\": {expected}")), "{error}");
        assert!(error.contains("SYMBOL_INTERVAL.csv") && error.contains("SYMBOL@INTERVAL=PATH"), "{error}");
    }

    #[test]
    fn parses_series_from_file_names() {
        check("BTCUSDT_1m.csv", ("BTCUSDT", "1m", "BTCUSDT_1m.csv"));
        check("a=b/some@where/BTC_USDT_5s.CSV", ("BTC_USDT", "5s", "a=b/some@where/BTC_USDT_5s.CSV"));
        check("/x/EURUSD.OTC_1h.csv", ("EURUSD.OTC", "1h", "/x/EURUSD.OTC_1h.csv"));
    }

    #[test]
    fn parses_explicit_series_before_the_path() {
        check("BTCUSDT@1m=prices.txt", ("BTCUSDT", "1m", "prices.txt"));
        check("PEPE/USDT@60s=/x/GBPUSD_5s.csv", ("PEPE/USDT", "1m", "/x/GBPUSD_5s.csv"));
        check("EURUSD=X@1m=a@5s=b.csv", ("EURUSD=X", "1m", "a@5s=b.csv"));
    }

    #[test]
    fn error_of_unclear_name_shows_both_forms() {
        check_refused("prices.csv", "the file name has no interval");
        let date = "the file name has no interval: \"2012-02\" is not an interval";
        check_refused("gbpusd_m1_bid_2012-02.csv", date);
        let no_file = "the file name does not end in .csv or .parquet";
        for (text, meant) in [
            ("BTCUSDT_1m", "BTCUSDT@1m"),
            ("GBPUSD@M1", "GBPUSD@1m"),
            ("GBPUSD@1min", "GBPUSD@1m"),
            ("GBP/USD-H1", "GBP/USD@1h"),
            ("GBPUSD, 15m", "GBPUSD@15m"),
        ] {
            check_refused(text, &format!("{no_file}; did you mean the catalog series {meant}?"));
        }
        let others = "GBPUSD@1 GBPUSD@ @M1 prices prices-new /x/EURUSD-M5 ./GBPUSD_1m src/GBPUSD_1m";
        for text in others.split(' ').chain([""]) {
            check_refused(text, no_file);
        }
        check_refused("BTCUSDT@1m=", "the path after = is missing");
        check_refused("@1m=x.csv", "\"\" is not a symbol");
    }

    #[test]
    fn detects_parquet_by_extension() {
        let folder = tempfile::tempdir().unwrap();
        let text = "time,open,high,low,close,volume\n60000,1.5,2,1,1.75,10\n";
        let csv = folder.path().join("BTC_USDT_1m.csv");
        std::fs::write(&csv, text).unwrap();
        let candles = CandleFile::from_path(&csv).unwrap().read(&mut |_| {}).unwrap();
        for name in ["BTC_USDT_1m.parquet", "x.PARQUET"] {
            let path = folder.path().join(name);
            crate::write_parquet_file(&candles, &path).unwrap();
            let source: CandleFile = format!("BTC_USDT@1m={}", path.display()).parse().unwrap();
            assert_eq!(source.read(&mut |_| {}).unwrap().candles(), candles.candles());
        }
        let named = CandleFile::from_path(&folder.path().join("BTC_USDT_1m.parquet")).unwrap();
        assert_eq!(named.series, candles.series());
    }

    #[test]
    fn source_in_a_folder_round_trips_by_name() {
        let series = Series { symbol: Symbol::new("BTC_USDT").unwrap(), interval: "90s".parse().unwrap() };
        let source = CandleFile::in_folder(Path::new("data"), series).unwrap();
        assert_eq!(CandleFile::from_path(&source.path).unwrap(), source);
        assert_eq!(source.to_string().parse::<CandleFile>().unwrap(), source);
        let slash = Series { symbol: Symbol::new("../x").unwrap(), ..series };
        assert!(CandleFile::in_folder(Path::new("data"), slash).is_err());
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "[A-Z_@=./1m é]{0,16}") {
            let _ = text.parse::<CandleFile>();
        }
    }
}
