//! The decoders: what each begins with, and how it is fed.

use bytes::Bytes;
use candlewick_history::{
    CandleFile, Catalog, CheckSettings, ClockChange, FileCache, FindingKind, ImportSettings, MarketHours,
    Origin, check_bytes, import_bytes, no_progress, read_csv, read_parquet, series_hash, write_csv,
};
use candlewick_sdk::{CandleSeries, Interval, Millis, Series, Symbol};
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) enum Target {
    /// Our CSV: read strictly, and imported.
    Csv,
    /// A format of an import, by its name, from these fixtures.
    Text(&'static str, &'static [&'static str]),
    /// Columns: ours read strictly, and imported.
    Parquet,
    Packed(&'static [&'static str]),
    /// The copy of a candle file as it lies in memory.
    Cache(Fixture),
    Manifest(Fixture),
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
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Text(name, _) => name,
            Self::Parquet => "parquet",
            Self::Packed(fixtures) => fixtures[0],
            Self::Cache(_) => "cache",
            Self::Manifest(_) => "manifest",
        }
    }

    pub(crate) fn seeds(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Csv => vec![fixture("EURUSD_1m.csv"), fixture("malformed_csv.csv")],
            Self::Text(_, fixtures) | Self::Packed(fixtures) => {
                fixtures.iter().map(|name| fixture(name)).collect()
            }
            Self::Parquet => {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("x.parquet");
                candlewick_history::write_parquet_file(&euro(), &path).unwrap();
                let ours = fs::read(&path).unwrap();
                vec![ours, fixture("ETH_BTC-5m.parquet"), fixture("malformed.parquet")]
            }
            Self::Cache(fixture) => vec![fixture.copy_content.clone()],
            Self::Manifest(fixture) => vec![fixture.manifest_content.clone()],
        }
    }

    /// Reads a content; what it says of it does not matter, as long as it does not panic.
    pub(crate) fn run(&self, content: &[u8]) {
        match self {
            Self::Csv => {
                if let Ok(candles) = read_csv(content, Path::new("x.csv"), series()) {
                    hold_to_itself(&candles);
                }
                import(content, Some("csv"));
            }
            Self::Text(name, _) => import(content, Some(name)),
            Self::Packed(_) => import(content, None),
            Self::Parquet => {
                if let Ok(candles) =
                    read_parquet(Bytes::copy_from_slice(content), Path::new("x.parquet"), series())
                {
                    hold_to_itself(&candles);
                }
                import(content, Some("parquet"));
            }
            Self::Cache(fixture) => fixture.read_copy(content),
            Self::Manifest(fixture) => fixture.read_manifest(content),
        }
    }
}

/// Candles that were read are sound: they are written as text that reads back as they are.
fn hold_to_itself(candles: &CandleSeries) {
    let mut text = Vec::new();
    write_csv(candles, &mut text).unwrap();
    let again = read_csv(text.as_slice(), Path::new("again"), candles.series()).unwrap();
    assert_eq!(again.candles(), candles.candles());
}

/// Imports with everything given, and checks with all to be found out.
fn import(content: &[u8], format: Option<&str>) {
    let wall = format.is_some_and(|format| format.starts_with("mt"));
    let given = ImportSettings {
        format: format.map(|format| format.parse().unwrap()),
        symbol: Some(series().symbol),
        interval: Some(series().interval),
        zone: wall.then(|| "Europe/Athens".parse().unwrap()),
        clock_change: if wall { ClockChange::Skip } else { ClockChange::Strict },
        most_bytes: 1 << 20,
        ..ImportSettings::default()
    };
    if let Ok(imported) = import_bytes(content, Path::new("x"), &given) {
        hold_to_itself(&imported.candles);
    }
    let sniffed =
        ImportSettings { format: None, interval: None, zone: None, most_bytes: 1 << 20, ..given.clone() };
    // The calendar of centuries takes its time, and is asked now and then only.
    let session =
        if content.len().is_multiple_of(16) { MarketHours::Currencies } else { MarketHours::Always };
    let settings = CheckSettings { session: Some(session), ..CheckSettings::default() };
    for reading in [given, sniffed] {
        if let Ok(checked) = check_bytes(content, Path::new("DAT_MT_EURUSD_M1_2024.csv"), &reading, &settings)
        {
            let also = FindingKind::ALL;
            if let Some(candles) = checked.fix(&also).candles {
                hold_to_itself(&candles);
            }
        }
    }
}

pub(crate) struct Fixture {
    _folder: TempDir,
    source: CandleFile,
    cache: FileCache,
    copy: PathBuf,
    copy_content: Vec<u8>,
    catalog: Catalog,
    manifest: PathBuf,
    manifest_content: Vec<u8>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("EURUSD_1m.csv");
        fs::write(&path, fixture("EURUSD_1m.csv")).unwrap();
        let source = CandleFile::from_path(&path).unwrap();
        let cache = FileCache::new(folder.path().join("cache"));
        cache.read(&source, &mut no_progress).unwrap();
        let copy = fs::read_dir(folder.path().join("cache")).unwrap().next().unwrap().unwrap().path();
        let catalog = Catalog::new(folder.path().join("catalog"));
        let origin =
            Origin { source: "x".to_owned(), licence: None, fetched_at: Millis::MAX, files: Vec::new() };
        catalog.append(series(), euro().candles(), &origin).unwrap();
        let manifest = catalog.folder().join("EURUSD/1m/manifest.json");
        Self {
            copy_content: fs::read(&copy).unwrap(),
            manifest_content: fs::read(&manifest).unwrap(),
            _folder: folder,
            source,
            cache,
            copy,
            catalog,
            manifest,
        }
    }

    /// The copy as if it had been written long after the file: it is believed where its header is sound.
    fn read_copy(&self, content: &[u8]) {
        // A new file in its place, since an open one must not change.
        let partial = self.copy.with_extension("new");
        fs::write(&partial, content).unwrap();
        let written = self.source.path.metadata().unwrap().modified().unwrap() + Duration::from_mins(1);
        let times = FileTimes::new().set_modified(written);
        File::options().write(true).open(&partial).unwrap().set_times(times).unwrap();
        fs::rename(&partial, &self.copy).unwrap();
        let read = self.cache.read(&self.source, &mut no_progress).unwrap();
        series_hash(read.candles());
        assert_eq!(read.candles().candles().len(), euro().candles().len());
    }

    fn read_manifest(&self, content: &[u8]) {
        fs::write(&self.manifest, content).unwrap();
        let _ = self.catalog.series();
        let _ = self.catalog.revisions(series());
        if let Ok(read) = self.catalog.read(series()) {
            hold_to_itself(read.candles());
        }
    }
}
