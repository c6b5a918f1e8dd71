//! Unvalidated rows of an imported file, and import errors that do not name the file.

use super::labels::Labels;
use crate::HistoryError;
use candlewick_sdk::{Interval, Millis, Ohlcv};
use std::io;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) time: Millis,
    pub(crate) numbers: Ohlcv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Utc,
    /// Local times, which require a time zone.
    Wall,
    /// Calendar days, which are independent of time zones.
    Day,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokenRow {
    pub(crate) row_number: u64,
    pub(crate) content: String,
    pub(crate) problem: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowUnit {
    /// 1-based line number, including the header.
    Line,
    Row,
}

impl RowUnit {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Row => "row",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FileRows {
    pub(crate) rows: Vec<Row>,
    pub(crate) row_numbers: RowNumbers,
    pub(crate) broken_rows: Vec<BrokenRow>,
    pub(crate) empty_rows: u64,
    pub(crate) clock: Clock,
    pub(crate) interval: Option<Interval>,
    pub(crate) unit: RowUnit,
    pub(crate) decimals: DecimalCount,
    pub(crate) labels: Labels,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DecimalCount {
    #[default]
    Unseen,
    Same(usize),
    Differ,
}

/// Maximum number of price decimals that can define a tick size. If there are more, some may be zero padding.
const MAX_TICK_DECIMALS: usize = 5;

impl DecimalCount {
    pub(super) fn from_prices(prices: [&str; 4], mark: char) -> Self {
        let decimals = |text: &str| text.split_once(mark).map_or(0, |(_, decimals)| decimals.len());
        prices.into_iter().fold(Self::Unseen, |all, price| all.merge(Self::Same(decimals(price))))
    }

    pub(super) fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unseen, one) | (one, Self::Unseen) => one,
            (Self::Same(one), Self::Same(other)) if one == other => self,
            _ => Self::Differ,
        }
    }

    pub(super) fn tick_decimals(self) -> Option<usize> {
        match self {
            Self::Same(decimals) => Some(decimals).filter(|decimals| *decimals <= MAX_TICK_DECIMALS),
            Self::Unseen | Self::Differ => None,
        }
    }
}

/// Plausible times, 1900 to 9999. Calculations with times in this range cannot overflow.
const PLAUSIBLE_MS: std::ops::RangeInclusive<i64> = -2_208_988_800_000..=253_402_300_799_999;
pub(super) const MAX_SECONDS: i64 = 100_000_000_000;
/// Maximum number of rows. At 48 bytes per row, they need 2.4 GB of memory.
const MAX_ROWS: usize = 50_000_000;
/// Maximum number of unreadable rows. A file with more of them is probably in a different format.
const MAX_BROKEN_ROWS: usize = 10_000;

impl FileRows {
    pub(crate) fn new(clock: Clock, unit: RowUnit) -> Self {
        Self {
            rows: Vec::new(),
            row_numbers: RowNumbers::default(),
            broken_rows: Vec::new(),
            empty_rows: 0,
            clock,
            interval: None,
            unit,
            decimals: DecimalCount::default(),
            labels: Labels::default(),
        }
    }

    /// Reverses rows that are sorted newest first. Returns whether the rows were reversed.
    /// If `is_repeated` returns true for adjacent times, they may be out of order: clocks set back repeat an hour.
    pub(super) fn reverse_if_newest_first(&mut self, is_repeated: impl Fn(Millis) -> bool) -> bool {
        let ends_earlier = self.rows.first().zip(self.rows.last()).is_some_and(|(a, b)| a.time > b.time);
        let ascents = || self.rows.windows(2).filter(|pair| pair[0].time < pair[1].time);
        let is_backward = ends_earlier
            && ascents().all(|pair| is_repeated(pair[0].time) && is_repeated(pair[1].time))
            && ascents().count() * 2 < self.rows.len() - 1;
        if is_backward {
            self.rows.reverse();
            self.row_numbers.reversed = Some(self.rows.len());
        }
        is_backward
    }

    /// Converts times that are clearly in seconds to milliseconds. Returns whether the times were converted.
    pub(super) fn convert_seconds(&mut self) -> bool {
        let early = Millis::new(MAX_SECONDS);
        let may_be = |row: &Row| (Millis::ZERO..early).contains(&row.time);
        let is_one = |row: &Row| !row.time.is_aligned_to(Millis::SECOND);
        let are_seconds =
            self.clock == Clock::Utc && self.rows.iter().all(may_be) && self.rows.iter().any(is_one);
        if are_seconds {
            self.rows.iter_mut().for_each(|row| row.time = row.time * 1_000);
        }
        are_seconds
    }

    pub(crate) fn push(
        &mut self,
        place: u64,
        read: Result<Option<Row>, String>,
        content: impl FnOnce() -> String,
    ) -> Result<(), String> {
        match read.and_then(check_plausible) {
            Ok(Some(row)) => {
                if self.rows.len() == MAX_ROWS {
                    return Err(format!("the file has more than {MAX_ROWS} rows; split it"));
                }
                self.row_numbers.add(self.rows.len(), place);
                self.rows.push(row);
            }
            Ok(None) => self.empty_rows += 1,
            Err(problem) => {
                if self.broken_rows.len() == MAX_BROKEN_ROWS {
                    return Err(format!("more than {MAX_BROKEN_ROWS} rows are unreadable; last: {problem}"));
                }
                self.broken_rows.push(BrokenRow { row_number: place, content: content(), problem });
            }
        }
        Ok(())
    }
}

fn check_plausible(row: Option<Row>) -> Result<Option<Row>, String> {
    match row {
        Some(Row { time, .. }) if !PLAUSIBLE_MS.contains(&time.get()) => {
            Err(format!("time {time} ms is not within the years 1900 to 9999"))
        }
        row => Ok(row),
    }
}

/// Line or row numbers of all rows. Only the start of each run of consecutive numbers is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowNumbers {
    starts: Vec<(usize, u64)>,
    reversed: Option<usize>,
}

impl RowNumbers {
    pub(super) fn add(&mut self, index: usize, place: u64) {
        let expected = self.starts.last().map(|(first, start)| start + (index - first) as u64);
        if expected != Some(place) {
            self.starts.push((index, place));
        }
    }

    pub(crate) fn row_number(&self, index: usize) -> u64 {
        let index = self.reversed.map_or(index, |count| count.saturating_sub(index + 1));
        let after = self.starts.partition_point(|(first, _)| *first <= index);
        let start = after.checked_sub(1).and_then(|before| self.starts.get(before));
        start.map_or(0, |(first, start)| start + (index - first) as u64)
    }
}

#[derive(Debug)]
pub(crate) enum Problem {
    Io(io::Error),
    Line { line: u64, problem: String },
    File(String),
    Ambiguous { seen: String, option: String, examples: Vec<String> },
    Empty(String),
}

impl Problem {
    pub(super) fn ambiguous(seen: impl Into<String>, option: impl Into<String>) -> Self {
        Self::Ambiguous { seen: seen.into(), option: option.into(), examples: Vec::new() }
    }

    pub(super) fn with_example(seen: impl Into<String>, example: impl Into<String>) -> Self {
        let example = example.into();
        let option = example.split(' ').next().unwrap_or_default();
        let option = format!("{option}, such as {example}");
        Self::Ambiguous { seen: seen.into(), option, examples: vec![example] }
    }

    pub(super) fn merge(self, other: Option<Self>) -> Self {
        match (self, other) {
            (
                Self::Ambiguous { seen, option, mut examples },
                Some(Self::Ambiguous { seen: also_seen, option: other_option, examples: more }),
            ) => {
                examples.extend(more);
                let (seen, option) =
                    (format!("{seen}, and {also_seen}"), format!("{option}, and {other_option}"));
                Self::Ambiguous { seen, option, examples }
            }
            (Self::Ambiguous { .. }, Some(wrong)) => wrong,
            (only, _) => only,
        }
    }

    pub(super) fn in_file(self, path: &Path) -> HistoryError {
        let path = path.to_owned();
        match self {
            Self::Io(source) => HistoryError::Io { path, action: "read", source },
            Self::Line { line, problem } => HistoryError::InvalidLine { path, line, problem },
            Self::File(problem) => HistoryError::InvalidFile { path, problem },
            Self::Ambiguous { seen, option, examples } if examples.len() > 1 => {
                let option = format!("{option}; a complete example: {}", examples.join(" "));
                HistoryError::AmbiguousFile { path, seen, option }
            }
            Self::Ambiguous { seen, option, .. } => HistoryError::AmbiguousFile { path, seen, option },
            Self::Empty(problem) => HistoryError::NoCandles { place: path.display().to_string(), problem },
        }
    }
}

/// Returns whether decimal commas seem to have split the four prices into extra columns.
pub(super) const fn has_split_decimals(count: usize, columns: usize) -> bool {
    count >= columns + 4
}

pub(super) fn split_decimals_problem(count: usize, columns: usize) -> String {
    format!(
        "{count} columns instead of {columns}: commas seem to be decimal marks as well as separators; write the file with another \
         separator, such as a semicolon, or with decimal points"
    )
}

#[derive(Debug, Default)]
pub(super) struct ProblemCollector(Option<Problem>);

impl ProblemCollector {
    pub(super) fn ok_or_record<T>(&mut self, found: Result<T, Problem>) -> Option<T> {
        match found {
            Ok(found) => Some(found),
            Err(problem) => {
                self.0 = Some(match self.0.take() {
                    Some(asked) => asked.merge(Some(problem)),
                    None => problem,
                });
                None
            }
        }
    }

    pub(super) fn problem(self) -> Problem {
        self.0.expect("every missing value recorded a problem")
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_implausible_times_as_broken() {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let mut decoded = FileRows::new(Clock::Utc, RowUnit::Line);
        for time in [i64::MAX, i64::MIN, 0] {
            decoded.push(1, Ok(Some(Row { time: Millis::new(time), numbers })), String::new).unwrap();
        }
        assert_eq!((decoded.rows.len(), decoded.broken_rows.len()), (1, 2));
    }
}
