//! What the tests of imports share.
#![allow(dead_code, reason = "each test takes what it needs")]

use candlewick_history::{BarTime, ImportSettings, Imported, import_bytes};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Cursor, Write};
use std::path::Path;
use zip::write::{SimpleFileOptions, ZipWriter};

/// 2024-01-02 22:00 UTC, which is 17:00 in EST and the next day's midnight in Athens.
pub(crate) const TEN_PM: i64 = 1_704_232_800_000;
pub(crate) const MINUTE: i64 = 60_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Time, open, high, low, close and volume.
pub(crate) type Row = (i64, [f64; 5]);

/// What options such as `symbol=EURUSD timezone=UTC` say.
pub(crate) fn settings(options: &str) -> ImportSettings {
    let mut settings = ImportSettings::default();
    let table = &mut settings.table;
    for option in options.split_whitespace() {
        let (name, value) = option.split_once('=').unwrap();
        match name {
            "format" => settings.format = Some(value.parse().unwrap()),
            "symbol" => settings.symbol = Some(value.parse().unwrap()),
            "interval" => settings.interval = Some(value.parse().unwrap()),
            "timezone" => settings.zone = Some(value.parse().unwrap()),
            "clock-change" => settings.clock_change = value.parse().unwrap(),
            "stamped" => settings.stamped = BarTime::Close,
            "only" => settings.only = value.split(',').map(str::to_owned).collect(),
            "columns" => table.columns = Some(value.parse().unwrap()),
            "delimiter" => table.delimiter = Some(value.parse().unwrap()),
            "decimal" => table.decimal = Some(value.parse().unwrap()),
            "date-order" => table.date_order = Some(value.parse().unwrap()),
            other => panic!("{other}"),
        }
    }
    settings
}

pub(crate) fn import(name: &str, content: impl AsRef<[u8]>, options: &str) -> Result<Imported, String> {
    let imported = import_bytes(content.as_ref(), Path::new(name), &settings(options));
    imported.map_err(|error| error.to_string())
}

pub(crate) fn rows_of(imported: &Imported) -> Vec<Row> {
    let candles = imported.candles.candles().iter();
    candles.map(|c| (c.time().get(), [c.open(), c.high(), c.low(), c.close(), c.volume()])).collect()
}

pub(crate) fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(content.as_ref()).unwrap();
    packed.finish().unwrap()
}

pub(crate) fn zip(files: &[(&str, impl AsRef<[u8]>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_ref()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
