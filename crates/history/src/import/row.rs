//! Rows as a file has them, before anybody has checked them.

use super::labels::Labels;
use candlewick_sdk::{Interval, Millis, Ohlcv};

/// One row: a time, by the clock of its file, and five numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) time: Millis,
    pub(crate) numbers: Ohlcv,
}

/// What the times of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Moments.
    Utc,
    /// What a clock on the wall showed: a time zone makes them moments.
    Wall,
    /// Days, which no time zone moves.
    Day,
}

/// A row that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Its line, or its number where the file has no lines.
    pub(crate) place: u64,
    pub(crate) content: String,
    pub(crate) problem: String,
}

/// How rows are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Lines, from 1, the header included.
    Line,
    /// Rows, from 1.
    Row,
}

impl Unit {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Row => "row",
        }
    }
}

/// Everything that a decoder found in a file.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    pub(crate) rows: Vec<Row>,
    pub(crate) places: Places,
    pub(crate) broken: Vec<Broken>,
    /// Rows that hold a time and no prices.
    pub(crate) empty: u64,
    pub(crate) clock: Clock,
    /// The candles' length, where the content states it.
    pub(crate) interval: Option<Interval>,
    pub(crate) unit: Unit,
    /// How its prices are written, where it is text.
    pub(crate) decimals: WrittenDecimals,
    pub(crate) labels: Labels,
}

/// With how many decimals prices are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WrittenDecimals {
    /// Nothing is known.
    #[default]
    Unseen,
    /// All with so many, zeros at the end counted.
    Same(usize),
    /// One with more than another.
    Differ,
}

/// More decimals than that are zeros that a program writes behind any price.
const MOST_DECIMALS: usize = 5;

impl WrittenDecimals {
    /// Of the prices of a row.
    pub(super) fn of(prices: [&str; 4], mark: char) -> Self {
        let decimals = |text: &str| text.split_once(mark).map_or(0, |(_, decimals)| decimals.len());
        prices.into_iter().fold(Self::Unseen, |all, price| all.and(Self::Same(decimals(price))))
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unseen, one) | (one, Self::Unseen) => one,
            (Self::Same(one), Self::Same(other)) if one == other => self,
            _ => Self::Differ,
        }
    }

    /// How many, where that tells the step of the prices.
    pub(super) fn of_step(self) -> Option<usize> {
        match self {
            Self::Same(decimals) => Some(decimals).filter(|decimals| *decimals <= MOST_DECIMALS),
            Self::Unseen | Self::Differ => None,
        }
    }
}

/// Times outside 1900 to 9999 are no candles' times, and arithmetic on the others cannot overflow.
const PLAUSIBLE_MS: std::ops::RangeInclusive<i64> = -2_208_988_800_000..=253_402_300_799_999;
/// Seconds of the year 5138.
pub(super) const LATEST_SECONDS: i64 = 100_000_000_000;
/// More rows than that are not collected: at 48 bytes each they are 2.4 GB.
const MAX_ROWS: usize = 50_000_000;
/// After so many rows that cannot be read, the file is something else.
const MAX_BROKEN: usize = 10_000;

impl Decoded {
    pub(crate) fn new(clock: Clock, unit: Unit) -> Self {
        Self {
            rows: Vec::new(),
            places: Places::default(),
            broken: Vec::new(),
            empty: 0,
            clock,
            interval: None,
            unit,
            decimals: WrittenDecimals::default(),
            labels: Labels::default(),
        }
    }

    /// Puts the oldest row first if the newest was. Returns whether it was.
    ///
    /// In a file that starts with the newest row, times ascend only where the clock is put back: between two times for which
    /// `is_repeated` holds.
    pub(super) fn turn_round(&mut self, is_repeated: impl Fn(Millis) -> bool) -> bool {
        let ends_earlier = self.rows.first().zip(self.rows.last()).is_some_and(|(a, b)| a.time > b.time);
        let ascents = || self.rows.windows(2).filter(|pair| pair[0].time < pair[1].time);
        let is_backward = ends_earlier
            && ascents().all(|pair| is_repeated(pair[0].time) && is_repeated(pair[1].time))
            && ascents().count() * 2 < self.rows.len() - 1;
        if is_backward {
            self.rows.reverse();
            self.places.reversed = Some(self.rows.len());
        }
        is_backward
    }

    /// Makes milliseconds of moments that can only be seconds: as milliseconds they lie within three years of 1970, and no
    /// candle begins at some of them, since candles begin at whole seconds. Answers whether they were.
    pub(super) fn take_seconds(&mut self) -> bool {
        let early = Millis::new(LATEST_SECONDS);
        let may_be = |row: &Row| (Millis::ZERO..early).contains(&row.time);
        let is_one = |row: &Row| !row.time.is_aligned_to(Millis::SECOND);
        let are_seconds =
            self.clock == Clock::Utc && self.rows.iter().all(may_be) && self.rows.iter().any(is_one);
        if are_seconds {
            self.rows.iter_mut().for_each(|row| row.time = row.time * 1_000);
        }
        are_seconds
    }

    /// Keeps what was read at a place.
    ///
    /// # Errors
    /// When there are too many rows, or too many that cannot be read.
    pub(crate) fn keep(
        &mut self,
        place: u64,
        read: Result<Option<Row>, String>,
        content: impl FnOnce() -> String,
    ) -> Result<(), String> {
        match read.and_then(plausible) {
            Ok(Some(row)) => {
                if self.rows.len() == MAX_ROWS {
                    return Err(format!("it has more than {MAX_ROWS} rows; split it"));
                }
                self.places.note(self.rows.len(), place);
                self.rows.push(row);
            }
            Ok(None) => self.empty += 1,
            Err(problem) => {
                if self.broken.len() == MAX_BROKEN {
                    return Err(format!("more than {MAX_BROKEN} rows cannot be read; the last: {problem}"));
                }
                self.broken.push(Broken { place, content: content(), problem });
            }
        }
        Ok(())
    }
}

fn plausible(row: Option<Row>) -> Result<Option<Row>, String> {
    match row {
        Some(Row { time, .. }) if !PLAUSIBLE_MS.contains(&time.get()) => {
            Err(format!("time {time} ms is not within the years 1900 to 9999"))
        }
        row => Ok(row),
    }
}

/// Where each row stood, kept as the rows at which the distance between its number and its place changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// The number of a row and its place; those after it follow one by one.
    starts: Vec<(usize, u64)>,
    /// How many rows there are, when they were turned round.
    reversed: Option<usize>,
}

impl Places {
    pub(super) fn note(&mut self, index: usize, place: u64) {
        let expected = self.starts.last().map(|(first, start)| start + (index - first) as u64);
        if expected != Some(place) {
            self.starts.push((index, place));
        }
    }

    /// The place of a row, counted from 0.
    pub(crate) fn of(&self, index: usize) -> u64 {
        let index = self.reversed.map_or(index, |count| count.saturating_sub(index + 1));
        let after = self.starts.partition_point(|(first, _)| *first <= index);
        let start = after.checked_sub(1).and_then(|before| self.starts.get(before));
        start.map_or(0, |(first, start)| start + (index - first) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_its_place_beside_blank_lines() {
        let mut places = Places::default();
        for (index, place) in [2, 3, 4, 7, 8, 10].into_iter().enumerate() {
            places.note(index, place);
        }
        assert_eq!((0..6).map(|index| places.of(index)).collect::<Vec<_>>(), [2, 3, 4, 7, 8, 10]);
        assert_eq!(places.starts.len(), 3);
    }

    #[test]
    fn a_time_far_from_any_market_is_no_row() {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let mut decoded = Decoded::new(Clock::Utc, Unit::Line);
        for time in [i64::MAX, i64::MIN, 0] {
            decoded.keep(1, Ok(Some(Row { time: Millis::new(time), numbers })), String::new).unwrap();
        }
        assert_eq!((decoded.rows.len(), decoded.broken.len()), (1, 2));
    }
}
