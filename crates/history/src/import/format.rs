//! Detection of import formats by the first bytes of a file, and hints for unsupported files.

use super::row::{MAX_SECONDS, Problem};
use super::{named, text};
use crate::csv::excerpt;
use crate::error::{ParseChoiceError, choice_values, parse_choice};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImportFormat {
    Csv,
    Parquet,
    Binance,
    /// HistData.com: `20240102 170000;open;high;low;close;volume`, always in EST.
    HistData,
    Dukascopy,
    MetaTrader4,
    MetaTrader5,
    Yahoo,
    FreqtradeJson,
    Feather,
    Table,
}

impl ImportFormat {
    pub const ALL: [Self; NAMES.len()] = choice_values(&NAMES);

    pub const fn as_str(self) -> &'static str {
        NAMES[self as usize].1
    }

    pub(super) fn sniff(start: &[u8]) -> Result<Self, Problem> {
        let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
        if start.starts_with(b"PAR1") {
            return Ok(Self::Parquet);
        }
        if start.starts_with(b"ARROW1") {
            return Ok(Self::Feather);
        }
        for (magic, problem) in UNSUPPORTED_FORMATS {
            if start.starts_with(magic) {
                return Err(Problem::File((*problem).to_owned()));
            }
        }
        let text = start.trim_ascii_start();
        if let Some(problem) = unsupported_text_problem(text) {
            return Err(Problem::File(problem));
        }
        if text.starts_with(b"[") {
            return Ok(Self::FreqtradeJson);
        }
        let preamble = named::preamble_length(text);
        let text = &text[preamble..];
        let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        let first = lines.next().unwrap_or_default();
        let second = lines.find(|line| !line.is_empty()).and_then(|line| std::str::from_utf8(line).ok());
        if first.is_empty() {
            return Err(Problem::Empty("the file is empty; it needs at least one candle".to_owned()));
        }
        if std::str::from_utf8(first).is_err() {
            return Err(Problem::File(named::NOT_UTF8.to_owned()));
        }
        let known = std::str::from_utf8(first).ok().and_then(|first| match text::detect_line_format(first) {
            // No other format has a preamble.
            Some(_) if preamble > 0 => Some(Self::Table),
            // The column names match a known format, but the times do not.
            Some(format) if second.is_some_and(|second| is_generic_table(format, first, second)) => {
                Some(Self::Table)
            }
            Some(format) => Some(format),
            None => named::may_be_table(first).then_some(Self::Table),
        });
        known.ok_or_else(|| {
            let seen = format!("the format is not recognized; the first line is \"{}\"", excerpt(first));
            Problem::ambiguous(seen, format!("--format, one of {}", Self::ALL.map(Self::as_str).join(", ")))
        })
    }
}

const NAMES: [(ImportFormat, &str); 11] = [
    (ImportFormat::Csv, "csv"),
    (ImportFormat::Parquet, "parquet"),
    (ImportFormat::Binance, "binance"),
    (ImportFormat::HistData, "histdata"),
    (ImportFormat::Dukascopy, "dukascopy"),
    (ImportFormat::MetaTrader4, "mt4"),
    (ImportFormat::MetaTrader5, "mt5"),
    (ImportFormat::Yahoo, "yahoo"),
    (ImportFormat::FreqtradeJson, "freqtrade-json"),
    (ImportFormat::Feather, "feather"),
    (ImportFormat::Table, "table"),
];

fn is_generic_table(format: ImportFormat, first: &str, second: &str) -> bool {
    // Other sources use the same column names as Yahoo, but only the times of Yahoo are days.
    let is_known = text::can_read(format, first, second) && !has_times_in_seconds(format, second);
    !is_known && (format == ImportFormat::Yahoo || named::can_read(first, second))
}

/// Returns whether the times are Unix seconds, although the format uses milliseconds.
fn has_times_in_seconds(format: ImportFormat, second: &str) -> bool {
    let time = second.split(',').next().and_then(|time| time.trim().parse::<f64>().ok());
    format == ImportFormat::Dukascopy && time.is_some_and(|time| time.abs() < MAX_SECONDS as f64)
}

const UNSUPPORTED_FORMATS: [(&[u8], &str); 4] = [
    (b"FEA1", "this is a version 1 feather file; save it again with a current pandas or pyarrow"),
    (b"\xD0\xCF\x11\xE0", WORKBOOK_PROBLEM),
    (b"BZh", "this is compressed with bzip2; decompress it, or use gzip or zip"),
    (b"\xFD7zXZ", "this is compressed with xz; decompress it, or use gzip or zip"),
];

impl fmt::Display for ImportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ImportFormat {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        parse_choice(text, &Self::ALL.map(|format| (format.as_str(), format)))
    }
}

pub(super) const WORKBOOK_PROBLEM: &str =
    "this is a spreadsheet workbook, not text; save it as CSV (in Excel: CSV UTF-8)";
const WEB_PAGE_PROBLEM: &str = "this is a web page or XML; open it in a spreadsheet program and save it as CSV (in Excel: \
                                CSV UTF-8)";
const JSON_OBJECTS_PROBLEM: &str = "this JSON holds objects, but only lists of [time, open, high, low, close, volume] are supported; \
                                    convert it to CSV, for example with jq -r '.[] | select(.complete != false) | [.time, .open, .high, .low, .close, .volume] | @csv'";
const TICK_PROBLEM: &str = "these are ticks or trades, not candles; export bars of fixed length, such as 1m";

fn unsupported_text_problem(text: &[u8]) -> Option<String> {
    let begins =
        |with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()));
    if ["<html", "<!doctype", "<?xml", "<table", "<meta", "<head", "<body", "<style"]
        .iter()
        .any(|tag| begins(tag))
    {
        return Some(WEB_PAGE_PROBLEM.to_owned());
    }
    let inner = text.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    if text.starts_with(b"{") || inner.is_some_and(|inner| inner.starts_with(b"{")) {
        return Some(JSON_OBJECTS_PROBLEM.to_owned());
    }
    let first = text.split(|byte| *byte == b'\n').next().and_then(|line| std::str::from_utf8(line).ok())?;
    is_tick_header(first).then(|| TICK_PROBLEM.to_owned())
}

fn is_tick_header(first: &str) -> bool {
    let cells: Vec<String> = first
        .split([',', ';', '\t'])
        .map(|cell| cell.trim().trim_matches(['"', '<', '>']).to_lowercase())
        .collect();
    let has = |names: &[&str]| cells.iter().any(|cell| names.contains(&cell.as_str()));
    if has(&["open", "o", "high"]) {
        return false;
    }
    let is_named = has(&["bid", "bid price", "bidprice"]) && has(&["ask", "ask price", "askprice"])
        || has(&["price"]) && has(&["qty", "quantity", "size", "amount", "side"]);
    let is_number = |cell: &String| cell.parse::<f64>().is_ok();
    let begins_with_digits = cells[0].bytes().take(4).filter(u8::is_ascii_digit).count() == 4;
    let is_bare = (3..=4).contains(&cells.len()) && begins_with_digits && cells[1..].iter().all(is_number);
    is_named || is_bare
}

pub(super) fn is_workbook(names: &[&str]) -> bool {
    names.contains(&"xl/workbook.xml") || names.contains(&"content.xml") && names.contains(&"mimetype")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_formats_by_their_first_bytes() {
        let binance = "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore\n";
        let meta_trader = "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n";
        for (start, expected) in [
            ("PAR1\u{15}", ImportFormat::Parquet),
            ("ARROW1\0\0", ImportFormat::Feather),
            ("\u{feff}time,open,high,low,close,volume\r\n", ImportFormat::Csv),
            (binance, ImportFormat::Binance),
            ("1704067200000,1,1,1,1,5,1704067259999,5,1,1,1,0\n", ImportFormat::Binance),
            ("20240102 170000;1.1;1.1;1.1;1.1;0", ImportFormat::HistData),
            ("Gmt time,Open,High,Low,Close,Volume\r\n", ImportFormat::Dukascopy),
            ("Local time,Open,High,Low,Close,Volume\n", ImportFormat::Dukascopy),
            ("2024.01.02,17:00,1.1,1.1,1.1,1.1,10\n", ImportFormat::MetaTrader4),
            (meta_trader, ImportFormat::MetaTrader5),
            ("Date,Open,High,Low,Close,Adj Close,Volume\n", ImportFormat::Yahoo),
            (" [[1515542400000,", ImportFormat::FreqtradeJson),
            ("time,open,high,low,close,volume\n1704067200000,1,1,1,1,5\n", ImportFormat::Csv),
            ("time,open,high,low,close,volume\n1704067200000,1,1,1,1\n", ImportFormat::Csv),
            ("time,open,high,low,close,volume\n2024-01-02T17:00:00Z,1,1,1,1,5\n", ImportFormat::Table),
            ("Date,Open,High,Low,Close,Volume\n2024-01-02 17:00:00+00:00,1,1,1,1,5\n", ImportFormat::Table),
            ("a,b,c,d,e\n", ImportFormat::Table),
            ("timestamp,open,high,low,close,volume\n1704067200000,1,1,1,1,5\n", ImportFormat::Dukascopy),
            ("timestamp,open,high,low,close,volume\n1704067200,1,1,1,1,5\n", ImportFormat::Table),
            ("timestamp,open,high,low,close\n1704067200,1,1,1,1\n", ImportFormat::Table),
        ] {
            assert_eq!(ImportFormat::sniff(start.as_bytes()).unwrap(), expected, "{start}");
        }
    }

    #[test]
    fn error_of_unknown_format_shows_the_first_line() {
        for (start, expected) in [
            (&b"FEA1...."[..], "f: this is a version 1 feather file"),
            (b" \n\n", "f: the file is empty"),
            (b"a;b;c\n1;2;3\n", "f: the format is not recognized; the first line is \"a;b;c\";"),
        ] {
            let problem = ImportFormat::sniff(start).unwrap_err().in_file("f".as_ref()).to_string();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }

    #[test]
    fn detects_unsupported_files_and_accepts_candles() {
        for (text, expected) in [
            ("<HTML><body>", Some(WEB_PAGE_PROBLEM)),
            ("<!DOCTYPE html>", Some(WEB_PAGE_PROBLEM)),
            ("<?xml version=\"1.0\"?>", Some(WEB_PAGE_PROBLEM)),
            ("{\"results\":[", Some(JSON_OBJECTS_PROBLEM)),
            ("[ {\"time\":1", Some(JSON_OBJECTS_PROBLEM)),
            ("timestamp,bid,ask\n", Some(TICK_PROBLEM)),
            ("id,price,qty,quoteQty,time,isBuyerMaker\n", Some(TICK_PROBLEM)),
            ("20240102 170000123,1.0942,1.0943,0\n", Some(TICK_PROBLEM)),
            ("<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>", None),
            ("[[1704232800000,1,1,1,1,1]]", None),
            ("time,open,high,low,close,bid,ask\n", None),
            ("1704232800,1.1,1.1,1.1,1.1\n", None),
            ("Date,Price,Open,High,Low,Vol.\n", None),
        ] {
            assert_eq!(unsupported_text_problem(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
