//! Line layouts of text formats, and row parsing.

use super::super::row::{Clock, Row, WrittenDecimals};
use super::moment::Pattern;
use crate::csv::excerpt;
use crate::import::labels::LabelColumns;
use crate::import::problem::{decimals_between_commas, splits_decimals};
use candlewick_sdk::{Interval, Millis, Ohlcv};

#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) separator: u8,
    pub(super) columns: usize,
    pub(super) time: TimeColumn,
    pub(super) prices: [usize; 4],
    pub(super) volume: Option<usize>,
    /// Column of the last moment inside the candle.
    pub(super) until: Option<usize>,
    pub(super) header: Header,
    pub(super) clock: Clock,
    pub(super) interval: Option<Interval>,
    pub(super) no_price: Option<&'static str>,
    pub(super) labels: Option<LabelColumns>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Present,
    Absent,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TimeColumn {
    Milliseconds(usize),
    /// Unix milliseconds or microseconds, distinguished by size.
    Epoch(usize),
    Written(usize, Pattern),
    /// A day, or the exchange's midnight with offset: `2024-01-02 00:00:00-05:00`.
    Day(usize, Pattern),
    WithOffset(usize, Pattern),
    Split(usize, Pattern),
}

pub(super) const MAX_COLUMNS: usize = 16;

/// Smallest time in microseconds. As milliseconds it would be after the year 5138.
const LEAST_MICROSECONDS: i64 = 100_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) row: Row,
    pub(super) length: Option<Millis>,
    pub(super) decimals: WrittenDecimals,
}

impl Layout {
    pub(super) const fn plain(separator: u8, time: TimeColumn, clock: Clock) -> Self {
        Self {
            separator,
            columns: 6,
            time,
            prices: [1, 2, 3, 4],
            volume: Some(5),
            until: None,
            header: Header::Present,
            clock,
            interval: None,
            no_price: None,
            labels: None,
        }
    }

    pub(super) fn read(&self, content: &[u8]) -> Result<Option<Line>, String> {
        let Ok(text) = std::str::from_utf8(content) else {
            return Err("it is not text in UTF-8".to_owned());
        };
        let mut cells = [""; MAX_COLUMNS];
        let mut count = 0;
        for cell in text.split(char::from(self.separator)) {
            if let Some(place) = cells.get_mut(count) {
                *place = cell.trim();
            }
            count += 1;
        }
        if self.separator == b',' && splits_decimals(count, self.columns) {
            return Err(decimals_between_commas(count, self.columns));
        }
        if count != self.columns {
            return Err(format!("{count} columns where {} belong; is the line cut off?", self.columns));
        }
        let prices = self.prices.map(|column| cells[column]);
        if self.no_price.is_some_and(|nothing| prices.iter().all(|price| *price == nothing)) {
            return Ok(None);
        }
        let time = self.time.read(&cells)?;
        let [open, high, low, close] = prices;
        let numbers = Ohlcv {
            open: number("open", open)?,
            high: number("high", high)?,
            low: number("low", low)?,
            close: number("close", close)?,
            volume: self.volume.map_or(Ok(0.0), |column| number("volume", cells[column]))?,
        };
        let length = self.until.map(|column| length_until(&self.time, &cells, column)).transpose()?;
        Ok(Some(Line { row: Row { time, numbers }, length, decimals: WrittenDecimals::of(prices, '.') }))
    }
}

impl TimeColumn {
    fn read(&self, cells: &[&str; MAX_COLUMNS]) -> Result<Millis, String> {
        match *self {
            Self::Milliseconds(column) => whole(cells[column], "milliseconds").map(Millis::new),
            Self::Epoch(column) => {
                let count = whole(cells[column], "milliseconds or microseconds")?;
                match count {
                    LEAST_MICROSECONDS.. if count % 1_000 == 0 => Ok(Millis::new(count / 1_000)),
                    LEAST_MICROSECONDS.. => {
                        Err(format!("time {count} is not a whole number of milliseconds"))
                    }
                    _ => Ok(Millis::new(count)),
                }
            }
            Self::Written(column, pattern) => pattern.read(cells[column]),
            Self::Day(column, pattern) => {
                let cell = cells[column];
                match cell.split_once(' ').filter(|(day, _)| pattern.fits(day)) {
                    Some((day, clock)) if clock.starts_with("00:00:00") => pattern.read(day),
                    Some(_) => {
                        let text = excerpt(cell.as_bytes());
                        Err(format!("time \"{text}\" is not a day; this format is one of daily candles"))
                    }
                    None => pattern.read(cell),
                }
            }
            Self::Split(column, pattern) => {
                let (date, time) = (cells[column], cells[column + 1]);
                pattern.read(&format!("{date} {time}"))
            }
            Self::WithOffset(column, pattern) => {
                let text = cells[column];
                let split =
                    text.rsplit_once(" GMT").and_then(|(wall, offset)| Some((wall, offset_of(offset)?)));
                let (wall, offset) = split.ok_or_else(|| {
                    format!(
                        "time \"{}\" does not end in its distance from GMT, such as GMT+0200",
                        excerpt(text.as_bytes())
                    )
                })?;
                Ok(pattern.read(wall)? - offset)
            }
        }
    }
}

fn offset_of(text: &str) -> Option<Millis> {
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

/// Returns the length from the open time to one unit after the last moment.
fn length_until(time: &TimeColumn, cells: &[&str; MAX_COLUMNS], column: usize) -> Result<Millis, String> {
    let TimeColumn::Epoch(start) = time else { return Err("it has no open time".to_owned()) };
    let (start, end) = (whole(cells[*start], "milliseconds")?, whole(cells[column], "milliseconds")?);
    let per_ms = if start >= LEAST_MICROSECONDS { 1_000 } else { 1 };
    let length = end.checked_sub(start).and_then(|length| length.checked_add(1));
    match length {
        Some(length) if length > 0 && length % per_ms == 0 => Ok(Millis::new(length / per_ms)),
        _ => Err(format!("open time {start} and close time {end} do not enclose a candle")),
    }
}

fn whole(text: &str, unit: &str) -> Result<i64, String> {
    text.parse().map_err(|_| {
        format!("time \"{}\" is not a whole number of {unit} since 1970", excerpt(text.as_bytes()))
    })
}

fn number(column: &str, text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| {
        let text = excerpt(text.as_bytes());
        format!("{column} \"{text}\" is not a number; use digits and a decimal point only")
    })
}
