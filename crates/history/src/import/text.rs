//! Line-based import formats, whose layout is detected from the first line.

use super::ImportFormat;
use super::labels::{LabelColumns, Labels};
use super::row::{
    Clock, DecimalCount, FileRows, Problem, Row, RowUnit, has_split_decimals, split_decimals_problem,
};
use super::unpack::next_line;
use crate::CSV_HEADER;
use crate::csv::{Lines, excerpt, parse_number, parse_unix_time};
use candlewick_sdk::{Interval, Millis, Ohlcv};
use chrono::NaiveDate;
use std::io::BufRead;

pub(super) fn detect_line_format(first: &str) -> Option<ImportFormat> {
    LAYOUTS.iter().find(|(_, detect_layout)| detect_layout(first).is_some()).map(|(format, _)| *format)
}

pub(super) fn can_read(format: ImportFormat, first: &str, second: &str) -> bool {
    match detect_layout(format, first.as_bytes()) {
        Ok(layout) if layout.header == Header::Present => layout.read(second.as_bytes()).is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

pub(super) fn decode(
    format: ImportFormat,
    input: impl BufRead,
    only: &[String],
) -> Result<FileRows, Problem> {
    let mut lines = Lines::new(input);
    let Some((number, first)) = next_line(&mut lines)? else {
        return Err(Problem::Empty("the file is empty; it needs at least one candle".to_owned()));
    };
    let layout = detect_layout(format, first).map_err(|problem| Problem::Line { line: number, problem })?;
    let mut decoded = FileRows::new(layout.clock, RowUnit::Line);
    decoded.interval = layout.interval;
    decoded.labels = Labels::new(layout.labels, only);
    let mut length = CandleLengthCheck::default();
    if layout.header == Header::Absent {
        add_line(&mut decoded, number, first, layout, &mut length)?;
    }
    while let Some((number, line)) = next_line(&mut lines)? {
        add_line(&mut decoded, number, line, layout, &mut length)?;
    }
    if let Some(stated) = length.0 {
        decoded.interval = Interval::from_seconds(stated.get() / 1_000).ok();
    }
    Ok(decoded)
}

#[derive(Default)]
struct CandleLengthCheck(Option<Millis>);

fn is_month(length: Millis) -> bool {
    (28..=31).any(|days| Millis::DAY * days == length)
}

impl CandleLengthCheck {
    fn check(&mut self, line: &Line) -> Result<(), String> {
        let Some(length) = line.length else { return Ok(()) };
        let first = *self.0.get_or_insert(length);
        let is_equal = first == length && length.is_aligned_to(Millis::SECOND);
        if is_equal || is_month(first) && is_month(length) {
            return Ok(());
        }
        Err(format!(
            "the candle lasts {length} ms, but the first lasts {first} ms; all candles of a file must have the same length"
        ))
    }
}

fn add_line(
    decoded: &mut FileRows,
    number: u64,
    line: &[u8],
    layout: Layout,
    length: &mut CandleLengthCheck,
) -> Result<(), Problem> {
    if layout.labels.is_some() {
        let text = String::from_utf8_lossy(line);
        let cells: Vec<&str> = text.split(char::from(layout.separator)).collect();
        if !decoded.labels.accept(number, |column| cells.get(column).copied().unwrap_or_default()) {
            return Ok(());
        }
    }
    let read = layout.read(line).and_then(|line| match line {
        Some(line) => length.check(&line).map(|()| {
            decoded.decimals = decoded.decimals.merge(line.decimals);
            Some(line.row)
        }),
        None => Ok(None),
    });
    let content = || String::from_utf8_lossy(line).into_owned();
    decoded.push(number, read, content).map_err(Problem::File)
}

fn detect_layout(format: ImportFormat, first: &[u8]) -> Result<Layout, String> {
    let known = LAYOUTS.iter().filter(|(of, _)| *of == format);
    let text = std::str::from_utf8(first).ok();
    let found = text.and_then(|text| known.clone().find_map(|(_, detect_layout)| detect_layout(text)));
    found.ok_or_else(|| {
        let expected = expected_first_line(format);
        format!("the first line is \"{}\"; the format {format} expects \"{expected}\"", excerpt(first))
    })
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    separator: u8,
    columns: usize,
    time: TimeColumn,
    prices: [usize; 4],
    volume: Option<usize>,
    /// Index of the column that contains the last millisecond or microsecond of the candle.
    close_time: Option<usize>,
    header: Header,
    clock: Clock,
    interval: Option<Interval>,
    no_price: Option<&'static str>,
    labels: Option<LabelColumns>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    Present,
    Absent,
}

#[derive(Clone, Copy, Debug)]
enum TimeColumn {
    Milliseconds(usize),
    /// Unix time in milliseconds or microseconds. The size of the number reveals the unit.
    Epoch(usize),
    Written(usize, Pattern),
    /// A day, or midnight with the exchange's UTC offset: `2024-01-02 00:00:00-05:00`.
    Day(usize, Pattern),
    WithOffset(usize, Pattern),
    Split(usize, Pattern),
}

const MAX_COLUMNS: usize = 16;

/// Smallest number that is read as microseconds. Read as milliseconds, it would be a time in the year 5138.
const MIN_MICROSECONDS: i64 = 100_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    row: Row,
    length: Option<Millis>,
    decimals: DecimalCount,
}

impl Layout {
    const fn with_default_columns(separator: u8, time: TimeColumn, clock: Clock) -> Self {
        Self {
            separator,
            columns: 6,
            time,
            prices: [1, 2, 3, 4],
            volume: Some(5),
            close_time: None,
            header: Header::Present,
            clock,
            interval: None,
            no_price: None,
            labels: None,
        }
    }

    fn read(&self, content: &[u8]) -> Result<Option<Line>, String> {
        let Ok(text) = std::str::from_utf8(content) else {
            return Err("the line is not UTF-8 text".to_owned());
        };
        let mut cells = [""; MAX_COLUMNS];
        let mut count = 0;
        for cell in text.split(char::from(self.separator)) {
            if let Some(place) = cells.get_mut(count) {
                *place = cell.trim();
            }
            count += 1;
        }
        if self.separator == b',' && has_split_decimals(count, self.columns) {
            return Err(split_decimals_problem(count, self.columns));
        }
        if count != self.columns {
            return Err(format!("{count} columns instead of {}; is the line cut off?", self.columns));
        }
        let prices = self.prices.map(|column| cells[column]);
        if self.no_price.is_some_and(|nothing| prices.iter().all(|price| *price == nothing)) {
            return Ok(None);
        }
        let time = self.time.read(&cells)?;
        let [open, high, low, close] = prices;
        let numbers = Ohlcv {
            open: parse_number("open", open)?,
            high: parse_number("high", high)?,
            low: parse_number("low", low)?,
            close: parse_number("close", close)?,
            volume: self.volume.map_or(Ok(0.0), |column| parse_number("volume", cells[column]))?,
        };
        let length = self.close_time.map(|column| candle_length(&self.time, &cells, column)).transpose()?;
        let decimals = DecimalCount::from_prices(prices, '.');
        Ok(Some(Line { row: Row { time, numbers }, length, decimals }))
    }
}

impl TimeColumn {
    fn read(&self, cells: &[&str; MAX_COLUMNS]) -> Result<Millis, String> {
        match *self {
            Self::Milliseconds(column) => parse_unix_time(cells[column], "milliseconds").map(Millis::new),
            Self::Epoch(column) => {
                let count = parse_unix_time(cells[column], "milliseconds or microseconds")?;
                match count {
                    MIN_MICROSECONDS.. if count % 1_000 == 0 => Ok(Millis::new(count / 1_000)),
                    MIN_MICROSECONDS.. => Err(format!("time {count} is not a whole number of milliseconds")),
                    _ => Ok(Millis::new(count)),
                }
            }
            Self::Written(column, pattern) => pattern.parse(cells[column]),
            Self::Day(column, pattern) => {
                let cell = cells[column];
                match cell.split_once(' ').filter(|(day, _)| pattern.matches(day)) {
                    Some((day, clock)) if clock.starts_with("00:00:00") => pattern.parse(day),
                    Some(_) => {
                        let text = excerpt(cell.as_bytes());
                        Err(format!("time \"{text}\" is not a day; this format holds daily candles"))
                    }
                    None => pattern.parse(cell),
                }
            }
            Self::Split(column, pattern) => {
                let (date, time) = (cells[column], cells[column + 1]);
                pattern.parse(&format!("{date} {time}"))
            }
            Self::WithOffset(column, pattern) => {
                let text = cells[column];
                let split =
                    text.rsplit_once(" GMT").and_then(|(wall, offset)| Some((wall, parse_offset(offset)?)));
                let (wall, offset) = split.ok_or_else(|| {
                    let text = excerpt(text.as_bytes());
                    format!("time \"{text}\" does not end in a UTC offset such as GMT+0200")
                })?;
                Ok(pattern.parse(wall)? - offset)
            }
        }
    }
}

fn parse_offset(text: &str) -> Option<Millis> {
    let (sign, digits) = (text.get(..1)?, text.get(1..)?);
    let all_digits = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (hours, minutes): (i64, i64) = (digits.get(..2)?.parse().ok()?, digits.get(2..)?.parse().ok()?);
    let distance = Millis::HOUR * hours + Millis::MINUTE * minutes;
    match sign {
        "+" if all_digits => Some(distance),
        "-" if all_digits => Some(Millis::ZERO - distance),
        _ => None,
    }
}

/// Returns the candle length: close time minus open time, plus one time unit.
fn candle_length(time: &TimeColumn, cells: &[&str; MAX_COLUMNS], column: usize) -> Result<Millis, String> {
    let TimeColumn::Epoch(start) = time else { return Err("the row has no open time".to_owned()) };
    let start = parse_unix_time(cells[*start], "milliseconds")?;
    let end = parse_unix_time(cells[column], "milliseconds")?;
    let per_ms = if start >= MIN_MICROSECONDS { 1_000 } else { 1 };
    let length = end.checked_sub(start).and_then(|length| length.checked_add(1));
    match length {
        Some(length) if length > 0 && length % per_ms == 0 => Ok(Millis::new(length / per_ms)),
        _ => Err(format!("close time {end} is not the end of a candle that opens at {start}")),
    }
}

/// Date and time pattern. Each `Y`, `M`, `D`, `h`, `m`, `s` and `f` (milliseconds) matches one digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pattern(&'static str);

impl Pattern {
    /// Parses `text` to milliseconds since 1970-01-01 in local time.
    fn parse(self, text: &str) -> Result<Millis, String> {
        self.try_parse(text).ok_or_else(|| {
            format!("time \"{}\" does not match the pattern {}", excerpt(text.as_bytes()), self.0)
        })
    }

    fn matches(self, text: &str) -> bool {
        self.try_parse(text).is_some()
    }

    fn try_parse(self, text: &str) -> Option<Millis> {
        if text.len() != self.0.len() {
            return None;
        }
        let [mut year, mut month, mut day, mut hour, mut minute, mut second, mut thousandth] = [0_u32; 7];
        for (place, byte) in self.0.bytes().zip(text.bytes()) {
            let field = match place {
                b'Y' => &mut year,
                b'M' => &mut month,
                b'D' => &mut day,
                b'h' => &mut hour,
                b'm' => &mut minute,
                b's' => &mut second,
                b'f' => &mut thousandth,
                _ if place == byte => continue,
                _ => return None,
            };
            *field = *field * 10 + char::from(byte).to_digit(10)?;
        }
        let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
        let time = date.and_hms_milli_opt(hour, minute, second, thousandth)?;
        Some(Millis::new(time.and_utc().timestamp_millis()))
    }
}

type LayoutDetector = fn(&str) -> Option<Layout>;

/// Known layouts. A first line matches at most one of them.
const LAYOUTS: [(ImportFormat, LayoutDetector); 7] = [
    (ImportFormat::Csv, detect_native),
    (ImportFormat::MetaTrader5, detect_meta_trader_5),
    (ImportFormat::Dukascopy, detect_dukascopy),
    (ImportFormat::Yahoo, detect_yahoo),
    (ImportFormat::HistData, detect_hist_data),
    (ImportFormat::MetaTrader4, detect_meta_trader_4),
    (ImportFormat::Binance, detect_binance),
];

const COMPACT: Pattern = Pattern("YYYYMMDD hhmmss");
const DOTTED: Pattern = Pattern("YYYY.MM.DD hh:mm");
const DOTTED_SECONDS: Pattern = Pattern("YYYY.MM.DD hh:mm:ss");
const DOTTED_DAY: Pattern = Pattern("YYYY.MM.DD");
const DAY_FIRST: Pattern = Pattern("DD.MM.YYYY hh:mm:ss.fff");
const DAY: Pattern = Pattern("YYYY-MM-DD");

const fn expected_first_line(format: ImportFormat) -> &'static str {
    match format {
        ImportFormat::Csv => CSV_HEADER,
        ImportFormat::Binance => "1704067200000,42283.58,42298.62,42261.02,42298.61,35.92,1704067259999,...",
        ImportFormat::HistData => "20240102 170000;1.10427;1.10429;1.10425;1.10428;0",
        ImportFormat::Dukascopy => "Gmt time,Open,High,Low,Close,Volume",
        ImportFormat::MetaTrader4 => "2024.01.02,17:00,1.10427,1.10429,1.10425,1.10428,37",
        ImportFormat::MetaTrader5 => "<DATE> <TIME> <OPEN> <HIGH> <LOW> <CLOSE> <TICKVOL> <VOL> <SPREAD>",
        ImportFormat::Yahoo => "Date,Open,High,Low,Close,Adj Close,Volume",
        _ => "",
    }
}

fn detect_native(first: &str) -> Option<Layout> {
    (first == CSV_HEADER).then_some(Layout::with_default_columns(b',', TimeColumn::Epoch(0), Clock::Utc))
}

/// Detects Binance klines. Newer archives have a header, and times since 2025 are in microseconds.
fn detect_binance(first: &str) -> Option<Layout> {
    const COLUMN_COUNT: usize = 12;
    let layout = Layout {
        columns: COLUMN_COUNT,
        close_time: Some(6),
        header: Header::Absent,
        ..Layout::with_default_columns(b',', TimeColumn::Epoch(0), Clock::Utc)
    };
    let is_header = first.starts_with("open_time,open,high,low,close,volume,close_time,");
    let is_row = || first.split(',').all(|cell| cell.parse::<f64>().is_ok());
    if first.split(',').count() != COLUMN_COUNT {
        None
    } else if is_header {
        Some(Layout { header: Header::Present, ..layout })
    } else {
        is_row().then_some(layout)
    }
}

fn detect_hist_data(first: &str) -> Option<Layout> {
    let layout = Layout::with_default_columns(b';', TimeColumn::Written(0, COMPACT), Clock::Wall);
    let is_row = first.split_once(';').is_some_and(|(time, _)| COMPACT.matches(time));
    is_row.then_some(Layout { header: Header::Absent, interval: Some(Interval::MINUTE), ..layout })
}

/// Detects Dukascopy files with times in GMT, local times with a UTC offset, or Unix times (from download tools).
fn detect_dukascopy(first: &str) -> Option<Layout> {
    let (time, numbers) = first.split_once(',')?;
    let time = time.trim().to_ascii_lowercase();
    if time == "timestamp" && has_names(numbers, &["open", "high", "low", "close"]) {
        let layout = Layout::with_default_columns(b',', TimeColumn::Milliseconds(0), Clock::Utc);
        return Some(Layout { columns: 5, volume: None, ..layout });
    }
    if !has_names(numbers, &["open", "high", "low", "close", "volume"]) {
        return None;
    }
    match time.as_str() {
        "timestamp" => Some(Layout::with_default_columns(b',', TimeColumn::Milliseconds(0), Clock::Utc)),
        "gmt time" => Some(Layout::with_default_columns(b',', TimeColumn::Written(0, DAY_FIRST), Clock::Utc)),
        "local time" => {
            Some(Layout::with_default_columns(b',', TimeColumn::WithOffset(0, DAY_FIRST), Clock::Utc))
        }
        _ => None,
    }
}

/// Detects `MetaTrader` 4 files, whose times are broker server times in an unknown zone.
fn detect_meta_trader_4(first: &str) -> Option<Layout> {
    let (date, rest) = first.split_once(',')?;
    let (time, _) = rest.split_once(',')?;
    let is_row = DOTTED.matches(&format!("{date} {time}"));
    is_row.then_some(Layout {
        columns: 7,
        prices: [2, 3, 4, 5],
        volume: Some(6),
        header: Header::Absent,
        ..Layout::with_default_columns(b',', TimeColumn::Split(0, DOTTED), Clock::Wall)
    })
}

/// Detects `MetaTrader` 5 files in server time. Daily and longer candles have no time column.
fn detect_meta_trader_5(first: &str) -> Option<Layout> {
    let names =
        ["<date>", "<time>", "<open>", "<high>", "<low>", "<close>", "<tickvol>", "<vol>", "<spread>"];
    let lower = first.to_ascii_lowercase();
    let given: Vec<&str> = lower.split('\t').map(str::trim).collect();
    if given == names {
        return Some(Layout {
            columns: 9,
            prices: [2, 3, 4, 5],
            volume: Some(6),
            ..Layout::with_default_columns(b'\t', TimeColumn::Split(0, DOTTED_SECONDS), Clock::Wall)
        });
    }
    let daily = [&names[..1], &names[2..]].concat();
    (given == daily).then_some(Layout {
        columns: 8,
        ..Layout::with_default_columns(b'\t', TimeColumn::Written(0, DOTTED_DAY), Clock::Day)
    })
}

/// Detects Yahoo-style tables. The adjusted close is ignored, because it is not a traded price.
fn detect_yahoo(first: &str) -> Option<Layout> {
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
        ..Layout::with_default_columns(b',', TimeColumn::Day(place("date")?, DAY), Clock::Day)
    })
}

fn has_names(names: &str, expected: &[&str]) -> bool {
    names.split(',').map(|name| name.trim().to_ascii_lowercase()).eq(expected.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_exactly_or_rejects_them() {
        for (pattern, text, expected) in [
            ("YYYYMMDD hhmmss", "20240102 170000", Some(1_704_214_800_000)),
            ("YYYY.MM.DD hh:mm", "2024.01.02 17:00", Some(1_704_214_800_000)),
            ("DD.MM.YYYY hh:mm:ss.fff", "02.01.2024 17:00:00.250", Some(1_704_214_800_250)),
            ("YYYY-MM-DD", "1969-12-31", Some(-86_400_000)),
            ("YYYY-MM-DD", "2023-02-29", None),
            ("YYYY-MM-DD", "2024-1-02", None),
            ("YYYY-MM-DD", "2024-01-02 ", None),
            ("YYYY-MM-DD", "2024/01/02", None),
            ("YYYYMMDD hhmmss", "20240102 240000", None),
            ("YYYY-MM-DD", "２024-01", None),
        ] {
            assert_eq!(Pattern(pattern).parse(text).ok(), expected.map(Millis::new), "{text}");
        }
    }
}
