//! Layouts of known vendor formats.

use super::layout::{Header, Layout, MAX_COLUMNS, TimeColumn};
use super::moment::Pattern;
use crate::CSV_HEADER;
use crate::import::ImportFormat;
use crate::import::labels::LabelColumns;
use crate::import::row::Clock;
use candlewick_sdk::Interval;

type LayoutOf = fn(&str) -> Option<Layout>;

/// All layouts in detection order. No first line matches two of them.
pub(super) const LAYOUTS: [(ImportFormat, LayoutOf); 7] = [
    (ImportFormat::Csv, ours),
    (ImportFormat::MetaTrader5, meta_trader_5),
    (ImportFormat::Dukascopy, dukascopy),
    (ImportFormat::Yahoo, yahoo),
    (ImportFormat::HistData, hist_data),
    (ImportFormat::MetaTrader4, meta_trader_4),
    (ImportFormat::Binance, binance),
];

const COMPACT: Pattern = Pattern("YYYYMMDD hhmmss");
const DOTTED: Pattern = Pattern("YYYY.MM.DD hh:mm");
const DOTTED_SECONDS: Pattern = Pattern("YYYY.MM.DD hh:mm:ss");
const DOTTED_DAY: Pattern = Pattern("YYYY.MM.DD");
const GERMAN: Pattern = Pattern("DD.MM.YYYY hh:mm:ss.fff");
const DAY: Pattern = Pattern("YYYY-MM-DD");

pub(super) const fn first_line_of(format: ImportFormat) -> &'static str {
    match format {
        ImportFormat::Csv => CSV_HEADER,
        ImportFormat::Binance => "1704067200000,42283.58,42298.62,42261.02,42298.61,35.92,1704067259999,...",
        ImportFormat::HistData => "20240102 170000;1.10427;1.10429;1.10425;1.10428;0",
        ImportFormat::Dukascopy => "Gmt time,Open,High,Low,Close,Volume",
        ImportFormat::MetaTrader4 => "2024.01.02,17:00,1.10427,1.10429,1.10425,1.10428,37",
        ImportFormat::MetaTrader5 => "<DATE> <TIME> <OPEN> <HIGH> <LOW> <CLOSE> <TICKVOL> <VOL> <SPREAD>",
        ImportFormat::Yahoo => "Date,Open,High,Low,Close,Adj Close,Volume",
        ImportFormat::Parquet | ImportFormat::FreqtradeJson | ImportFormat::Feather | ImportFormat::Table => {
            ""
        }
    }
}

fn ours(first: &str) -> Option<Layout> {
    (first == CSV_HEADER).then_some(Layout::plain(b',', TimeColumn::Epoch(0), Clock::Utc))
}

/// Detects Binance klines. Only later archives have a header.
///
/// Spot archives use microseconds since 2025.
fn binance(first: &str) -> Option<Layout> {
    const COLUMNS: usize = 12;
    let layout = Layout {
        columns: COLUMNS,
        until: Some(6),
        header: Header::Absent,
        ..Layout::plain(b',', TimeColumn::Epoch(0), Clock::Utc)
    };
    let is_header = first.starts_with("open_time,open,high,low,close,volume,close_time,");
    let is_row = || first.split(',').all(|cell| cell.parse::<f64>().is_ok());
    if first.split(',').count() != COLUMNS {
        None
    } else if is_header {
        Some(Layout { header: Header::Present, ..layout })
    } else {
        is_row().then_some(layout)
    }
}

fn hist_data(first: &str) -> Option<Layout> {
    let layout = Layout::plain(b';', TimeColumn::Written(0, COMPACT), Clock::Wall);
    let is_row = first.split_once(';').is_some_and(|(time, _)| COMPACT.fits(time));
    is_row.then_some(Layout { header: Header::Absent, interval: Some(Interval::MINUTE), ..layout })
}

/// Detects Dukascopy: GMT, or local time with a UTC offset per line.
///
/// Download tools write Unix times and may omit volumes.
fn dukascopy(first: &str) -> Option<Layout> {
    let (time, numbers) = first.split_once(',')?;
    let time = time.trim().to_ascii_lowercase();
    if time == "timestamp" && same_names(numbers, &["open", "high", "low", "close"]) {
        let layout = Layout::plain(b',', TimeColumn::Milliseconds(0), Clock::Utc);
        return Some(Layout { columns: 5, volume: None, ..layout });
    }
    if !same_names(numbers, &["open", "high", "low", "close", "volume"]) {
        return None;
    }
    match time.as_str() {
        "timestamp" => Some(Layout::plain(b',', TimeColumn::Milliseconds(0), Clock::Utc)),
        "gmt time" => Some(Layout::plain(b',', TimeColumn::Written(0, GERMAN), Clock::Utc)),
        "local time" => Some(Layout::plain(b',', TimeColumn::WithOffset(0, GERMAN), Clock::Utc)),
        _ => None,
    }
}

/// Detects `MetaTrader` 4: in the server time of the broker, which is not stated.
fn meta_trader_4(first: &str) -> Option<Layout> {
    let (date, rest) = first.split_once(',')?;
    let (time, _) = rest.split_once(',')?;
    let is_row = DOTTED.fits(&format!("{date} {time}"));
    is_row.then_some(Layout {
        columns: 7,
        prices: [2, 3, 4, 5],
        volume: Some(6),
        header: Header::Absent,
        ..Layout::plain(b',', TimeColumn::Split(0, DOTTED), Clock::Wall)
    })
}

/// Detects `MetaTrader` 5: server time. Daily and longer candles have no time column.
///
/// The volume is the tick volume, as currencies have no other.
fn meta_trader_5(first: &str) -> Option<Layout> {
    let names =
        ["<date>", "<time>", "<open>", "<high>", "<low>", "<close>", "<tickvol>", "<vol>", "<spread>"];
    let lower = first.to_ascii_lowercase();
    let given: Vec<&str> = lower.split('\t').map(str::trim).collect();
    if given == names {
        return Some(Layout {
            columns: 9,
            prices: [2, 3, 4, 5],
            volume: Some(6),
            ..Layout::plain(b'\t', TimeColumn::Split(0, DOTTED_SECONDS), Clock::Wall)
        });
    }
    let daily = [&names[..1], &names[2..]].concat();
    (given == daily).then_some(Layout {
        columns: 8,
        ..Layout::plain(b'\t', TimeColumn::Written(0, DOTTED_DAY), Clock::Day)
    })
}

/// Detects Yahoo-style tables. The adjusted close was never traded and is ignored.
fn yahoo(first: &str) -> Option<Layout> {
    let names: Vec<String> = first.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    let place = |wanted: &str| names.iter().position(|name| name == wanted);
    if names.len() > MAX_COLUMNS {
        return None;
    }
    Some(Layout {
        columns: names.len(),
        prices: [place("open")?, place("high")?, place("low")?, place("close")?],
        volume: place("volume"),
        interval: Interval::from_seconds(86_400).ok(),
        no_price: Some("null"),
        labels: LabelColumns::find(names.iter().map(String::as_str)),
        ..Layout::plain(b',', TimeColumn::Day(place("date")?, DAY), Clock::Day)
    })
}

fn same_names(names: &str, expected: &[&str]) -> bool {
    names.split(',').map(|name| name.trim().to_ascii_lowercase()).eq(expected.iter().copied())
}
