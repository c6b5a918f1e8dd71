//! Cost of stored candles compared with baselines: `cargo bench -p candlewick-history --bench at_rest`.

#![allow(clippy::print_stdout, reason = "the table is what this bench is for")]

mod floor;
mod memory;

use candlewick_history::{
    CandleFile, Catalog, FileCache, GenerateSettings, ImportSettings, Origin, generate, ignore_progress,
    import_file, known_market, read_csv_file, read_parquet_file, write_csv_file, write_parquet_file,
};
use candlewick_sdk::{Candle, CandleSeries, Millis, Symbol};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

const CANDLES: usize = 1_000_000;
const CANDLE_BYTES: usize = 48;
const ROUNDS: usize = 15;

fn candles() -> CandleSeries {
    let symbol = Symbol::new("BTCUSDT").expect("a sound name");
    let market = known_market(symbol).expect("the market is known");
    let days = CANDLES.div_ceil(24 * 60) as u32;
    let start = Millis::new(1_704_067_200_000); // 2024-01-01
    let made =
        generate(&GenerateSettings::for_market(symbol, market, start, days)).expect("the settings are sound");
    let candles = made.candles()[..CANDLES].to_vec();
    CandleSeries::new(made.series(), candles).expect("a part of a series is one")
}

type Work<'a> = (&'a str, Box<dyn Fn() -> f64 + 'a>);

fn compare(ours: &Work<'_>, floor: &Work<'_>, before: &dyn Fn()) {
    assert_eq!((ours.1)().to_bits(), (floor.1)().to_bits(), "{} and {} do not do the same", ours.0, floor.0);
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (best, work) in best.iter_mut().zip([ours, floor]) {
            before();
            *best = (*best).min(time_of(&work.1));
        }
    }
    let held = memory::most_held(|| black_box((ours.1)())) as f64 / (CANDLES * CANDLE_BYTES) as f64;
    let [time, bare] = best.map(|time| time.as_secs_f64() * 1e3);
    println!(
        "{:<34} {time:>9.3} ms | {:<34} {bare:>9.3} ms | ratio {:>6.2} | memory {held:>5.2}",
        ours.0,
        floor.0,
        time / bare
    );
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time; no event takes part")]
fn time_of(run: &dyn Fn() -> f64) -> Duration {
    let start = std::time::Instant::now();
    black_box(run());
    start.elapsed()
}

fn scan(candles: &[Candle]) -> f64 {
    candles.iter().map(|candle| candle.close() - candle.open() + candle.volume()).sum()
}

fn last_close(series: &CandleSeries) -> f64 {
    series.candles().last().map_or(0.0, Candle::close)
}

fn klines(series: &CandleSeries) -> String {
    let mut text = String::from(
        "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore\n",
    );
    for candle in series.candles() {
        let (time, until) = (candle.time(), candle.close_time(series.interval()) - Millis::new(1));
        let [open, high, low, close] = [candle.open(), candle.high(), candle.low(), candle.close()];
        let volume = candle.volume();
        let _ = writeln!(
            text,
            "{time},{open:.8},{high:.8},{low:.8},{close:.8},{volume:.8},{until},{volume:.8},9,{volume:.8},{volume:.8},0"
        );
    }
    text
}

fn imported(path: &Path) -> f64 {
    let read = import_file(path, &ImportSettings::default(), &mut ignore_progress);
    last_close(&read.expect("it was written above").candles)
}

struct Fixture {
    folder: tempfile::TempDir,
    memory: CandleSeries,
    source: CandleFile,
    cache: FileCache,
    catalog: Catalog,
}

impl Fixture {
    fn new() -> Self {
        let memory = candles();
        let folder = tempfile::tempdir().expect("a folder to write to");
        let source = CandleFile::in_folder(folder.path(), memory.series()).expect("a plain symbol");
        write_csv_file(&memory, &source.path).expect("room on the disk");
        write_parquet_file(&memory, &folder.path().join("x.parquet")).expect("room on the disk");
        let catalog = Catalog::new(folder.path().join("catalog"));
        let origin =
            Origin { source: "bench".to_owned(), licence: None, fetched_at: Millis::MAX, files: Vec::new() };
        catalog.append(memory.series(), memory.candles(), &origin).expect("room on the disk");
        let cache = FileCache::new(folder.path().join("cache"));
        Self { folder, memory, source, cache, catalog }
    }

    /// Waits for two seconds after the last change of the file. A cache written earlier is rejected.
    fn settle(&self) {
        std::thread::sleep(Duration::from_millis(2_100));
        self.cached();
    }

    fn cached(&self) -> CandleSeries {
        self.cache.read(&self.source, &mut ignore_progress).expect("it was written above").into_candles()
    }

    fn stored(&self) -> CandleSeries {
        self.catalog.read(self.memory.series()).expect("it was written above").into_candles()
    }

    fn forget_cache(&self) {
        let folder = self.catalog.folder().join("BTCUSDT/1m");
        for entry in std::fs::read_dir(folder).expect("the series is there").flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "candles") {
                std::fs::remove_file(entry.path()).expect("it is ours");
            }
        }
    }
}

fn main() {
    let fixture = Fixture::new();
    let csv: &Path = &fixture.source.path;
    let parquet = fixture.folder.path().join("x.parquet");
    let series = fixture.memory.series();
    let nothing = || {};
    let read = |series: Result<CandleSeries, _>| last_close(&series.expect("it was written above"));
    let bare_parquet: Work<'_> = ("bare parquet reader", Box::new(|| floor::parquet(&parquet)));
    let bare_csv: Work<'_> = ("bare csv loop", Box::new(|| floor::csv(csv)));
    println!("{CANDLES} candles; the best of {ROUNDS} rounds; memory as a multiple of the candles' own");
    compare(
        &("read CSV", Box::new(|| read(read_csv_file(csv, series, &mut ignore_progress)))),
        &bare_csv,
        &nothing,
    );
    compare(&("import CSV of ours", Box::new(|| imported(csv))), &bare_csv, &nothing);
    let archive = fixture.folder.path().join("BTCUSDT-1m-2024.csv");
    std::fs::write(&archive, klines(&fixture.memory)).expect("room on the disk");
    let bare_klines: Work<'_> = ("bare csv loop, klines", Box::new(|| floor::csv(&archive)));
    compare(&("import CSV of klines", Box::new(|| imported(&archive))), &bare_klines, &nothing);
    compare(
        &("read Parquet", Box::new(|| read(read_parquet_file(&parquet, series)))),
        &bare_parquet,
        &nothing,
    );
    let first = || last_close(&fixture.stored());
    compare(&("catalog, first open", Box::new(first)), &bare_parquet, &|| fixture.forget_cache());
    fixture.settle();
    compare(&("catalog, cached open", Box::new(first)), &bare_parquet, &nothing);
    compare(&("CSV file, cached open", Box::new(|| last_close(&fixture.cached()))), &bare_csv, &nothing);
    let plain: Work<'_> = ("scan of a slice", Box::new(|| scan(fixture.memory.candles())));
    let opened = fixture.stored();
    compare(&("scan of the map", Box::new(|| scan(opened.candles()))), &plain, &nothing);
    compare(&("cached open and first scan", Box::new(|| scan(fixture.stored().candles()))), &plain, &nothing);
}
