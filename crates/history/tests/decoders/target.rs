//! Decoders and valid inputs for each of them.

use bytes::Bytes;
use candlewick_history::{
    CandleFile, Catalog, CheckSettings, ClockChange, FileCache, FindingKind, ImportSettings, MarketHours,
    Origin, check_bytes, ignore_progress, import_bytes, read_csv, read_parquet, series_hash, write_csv,
};
use candlewick_sdk::{CandleSeries, Interval, Millis, Series, Symbol};
use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::Duration;

type Run = Box<dyn Fn(&[u8])>;

pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) seeds: Vec<Vec<u8>>,
    pub(crate) run: Run,
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn series() -> Series {
    Series { symbol: Symbol::new("EURUSD").unwrap(), interval: Interval::MINUTE }
}

fn euro() -> CandleSeries {
    read_csv(&fixture("EURUSD_1m.csv")[..], Path::new("x"), series()).unwrap()
}

impl Target {
    fn new(name: &'static str, fixtures: &[&str], run: impl Fn(&[u8]) + 'static) -> Self {
        Self { name, seeds: fixtures.iter().map(|name| fixture(name)).collect(), run: Box::new(run) }
    }

    pub(crate) fn csv() -> Self {
        Self::new("csv", &["EURUSD_1m.csv", "malformed_csv.csv"], |content| {
            if let Ok(candles) = read_csv(content, Path::new("x.csv"), series()) {
                hold_to_itself(&candles);
            }
            import(content, Some("csv"));
        })
    }

    pub(crate) fn text(format: &'static str, fixtures: &[&str]) -> Self {
        Self::new(format, fixtures, move |content| import(content, Some(format)))
    }

    pub(crate) fn packed(fixtures: &[&'static str]) -> Self {
        Self::new(fixtures[0], fixtures, |content| import(content, None))
    }

    pub(crate) fn parquet() -> Self {
        let mut target = Self::new("parquet", &["ETH_BTC-5m.parquet", "malformed.parquet"], |content| {
            let bytes = Bytes::copy_from_slice(content);
            if let Ok(candles) = read_parquet(bytes, Path::new("x.parquet"), series()) {
                hold_to_itself(&candles);
            }
            import(content, Some("parquet"));
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        candlewick_history::write_parquet_file(&euro(), &path).unwrap();
        target.seeds.push(fs::read(&path).unwrap());
        target
    }

    pub(crate) fn cache() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("EURUSD_1m.csv");
        fs::write(&path, fixture("EURUSD_1m.csv")).unwrap();
        let source = CandleFile::from_path(&path).unwrap();
        let cache = FileCache::new(folder.path().join("cache"));
        cache.read(&source, &mut ignore_progress).unwrap();
        let copy = fs::read_dir(folder.path().join("cache")).unwrap().next().unwrap().unwrap().path();
        let sound = fs::read(&copy).unwrap();
        let mut target = Self::new("cache", &[], move |content| {
            // Replaces the cache, because an open one must not change, and dates it long after its source.
            let partial = folder.path().join("new");
            fs::write(&partial, content).unwrap();
            let written = source.path.metadata().unwrap().modified().unwrap() + Duration::from_mins(1);
            let times = FileTimes::new().set_modified(written);
            File::options().write(true).open(&partial).unwrap().set_times(times).unwrap();
            fs::rename(&partial, &copy).unwrap();
            let read = cache.read(&source, &mut ignore_progress).unwrap();
            series_hash(read.candles());
            assert_eq!(read.candles().candles().len(), euro().candles().len());
        });
        target.seeds.push(sound);
        target
    }

    pub(crate) fn manifest() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::new(folder.path());
        let origin =
            Origin { source: "x".to_owned(), licence: None, fetched_at: Millis::MAX, files: Vec::new() };
        catalog.append(series(), euro().candles(), &origin).unwrap();
        let sound = fs::read(folder.path().join("EURUSD/1m/manifest.json")).unwrap();
        let mut target = Self::new("manifest", &[], move |content| {
            fs::write(folder.path().join("EURUSD/1m/manifest.json"), content).unwrap();
            let _ = (catalog.series(), catalog.revisions(series()));
            if let Ok(read) = catalog.read(series()) {
                hold_to_itself(read.candles());
            }
        });
        target.seeds.push(sound);
        target
    }
}

fn hold_to_itself(candles: &CandleSeries) {
    let mut text = Vec::new();
    write_csv(candles, &mut text).unwrap();
    let again = read_csv(text.as_slice(), Path::new("again"), candles.series()).unwrap();
    assert_eq!(again.candles(), candles.candles());
}

fn import(content: &[u8], format: Option<&str>) {
    let wall = format.is_some_and(|format| format.starts_with("mt"));
    let given = ImportSettings {
        format: format.map(|format| format.parse().unwrap()),
        symbol: Some(series().symbol),
        interval: Some(series().interval),
        zone: wall.then(|| "Europe/Athens".parse().unwrap()),
        clock_change: if wall { ClockChange::Skip } else { ClockChange::Strict },
        max_bytes: 1 << 20,
        ..ImportSettings::default()
    };
    if let Ok(imported) = import_bytes(content, Path::new("x"), &given) {
        hold_to_itself(&imported.candles);
    }
    let sniffed =
        ImportSettings { format: None, interval: None, zone: None, max_bytes: 1 << 20, ..given.clone() };
    // Checking market hours over centuries is slow, so this is done only sometimes.
    let hours = if content.len().is_multiple_of(16) { MarketHours::Currencies } else { MarketHours::Always };
    let settings = CheckSettings { session: Some(hours), ..CheckSettings::default() };
    for terms in [given, sniffed] {
        if let Ok(checked) = check_bytes(content, Path::new("DAT_MT_EURUSD_M1_2024.csv"), &terms, &settings) {
            let also = FindingKind::ALL;
            if let Some(candles) = checked.fix(&also).candles {
                hold_to_itself(&candles);
            }
        }
    }
}
