//! Candles as CSV: excerpts of the shipped files, and candles with holes.

use crate::candlewick::{Folder, repository};
use std::fmt::Write as _;

pub(crate) const MINUTE: i64 = 60_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;
/// Monday, 2026-01-05 00:00 UTC: the start of the files.
pub(crate) const MONDAY: i64 = 1_767_571_200_000;

pub(crate) const HEADER: &str = "time,open,high,low,close,volume\n";

fn table<'a>(rows: impl Iterator<Item = &'a str>) -> String {
    rows.fold(String::from(HEADER), |text, row| text + row + "\n")
}

pub(crate) fn shipped(file: &str, from: i64, to: i64) -> String {
    let text = std::fs::read_to_string(repository().join("backtest-data").join(file)).unwrap();
    let part = table(text.lines().skip(1).filter(|row| (from..to).contains(&open_time(row))));
    assert!(part.len() > HEADER.len(), "{file} has no candles from {from} to {to}");
    part
}

pub(crate) fn folder_of_days(days: i64) -> Folder {
    Folder::new().with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + days * DAY))
}

/// Returns one-minute candles that rise, fall and stay flat, with holes of one, two and four minutes.
pub(crate) fn with_holes(minutes: i64) -> String {
    let is_there = |minute: &i64| !matches!(minute % 40, 7 | 15 | 16 | 27..=30);
    let mut text = String::from(HEADER);
    for minute in (0..minutes).filter(is_there) {
        let open = 100.0 + ((minute * 7) % 11) as f64 / 3.0;
        let close = open + [0.7, 0.0, -0.9, 1.3, 0.0][usize::try_from(minute % 5).unwrap()];
        let (high, low) = (open.max(close) + 0.5, open.min(close) - 0.5);
        let _ = writeln!(text, "{},{open},{high},{low},{close},1", MONDAY + minute * MINUTE);
    }
    text
}

pub(crate) fn before(candles: &str, to: i64) -> String {
    table(candles.lines().skip(1).filter(|row| open_time(row) < to))
}

/// Removes every nth candle except the last one, which ends the data.
pub(crate) fn thinned(candles: &str, every: usize) -> String {
    let rows: Vec<&str> = candles.lines().skip(1).collect();
    let is_kept = |index: usize| index % every != every - 1 || index + 1 == rows.len();
    table(rows.iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|(_, row)| *row))
}

fn open_time(row: &str) -> i64 {
    row.split(',').next().and_then(|time| time.parse().ok()).expect("a candle begins with its time")
}
