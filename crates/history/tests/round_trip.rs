//! Conversion between all formats preserves candles byte for byte.
#![allow(clippy::unwrap_used, reason = "a file that cannot be used fails its test")]

use candlewick_history::{
    CandleFile, Catalog, HashedSeries, Origin, ignore_progress, read_parquet_file, write_csv,
    write_parquet_file,
};
use candlewick_sdk::{CandleSeries, Millis};
use std::path::Path;

fn read_text(series: &CandleSeries) -> Vec<u8> {
    let mut text = Vec::new();
    write_csv(series, &mut text).unwrap();
    text
}

#[test]
fn csv_parquet_catalog_cache_and_csv_again() {
    let folder = tempfile::tempdir().unwrap();
    let origin =
        Origin { source: "test".to_owned(), licence: None, fetched_at: Millis::MAX, files: Vec::new() };
    for name in ["BTCUSDT_1m.csv", "BTCUSDT_5s.csv", "EURUSD_1m.csv"] {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../backtest-data").join(name);
        let text = std::fs::read(&shipped).unwrap();
        let csv = CandleFile::from_path(&shipped).unwrap().read(&mut ignore_progress).unwrap();
        let hash = HashedSeries::new(csv.clone()).hash();
        let path = folder.path().join(name).with_extension("parquet");
        write_parquet_file(&csv, &path).unwrap();
        let columns = read_parquet_file(&path, csv.series()).unwrap();
        assert_eq!(read_text(&columns), text, "{name}: columns");
        let catalog = Catalog::new(folder.path().join("catalog"));
        catalog.append(csv.series(), columns.candles(), &origin).unwrap();
        let first = catalog.read(csv.series()).unwrap();
        assert_eq!(read_text(first.candles()), text, "{name}: catalog");
        let series_folder = catalog.folder().join(csv.symbol().as_str()).join(csv.interval().to_string());
        for entry in std::fs::read_dir(&series_folder).unwrap().flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "parquet") {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        let cached = catalog.read(csv.series()).unwrap();
        assert_eq!(read_text(cached.candles()), text, "{name}: cache");
        assert_eq!([first.hash(), cached.hash()], [hash, hash], "{name}");
    }
}
