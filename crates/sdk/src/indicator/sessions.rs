//! Price ranges of daily trading sessions, and pivot levels of the previous day.

use super::{IndicatorError, is_usable};
use crate::{Candle, Interval, Millis};

/// Price range of a trading session that repeats every day.
///
/// Examples are the hours of an exchange or its first half-hour (the opening range of Crabel, *Day Trading with Short
/// Term Price Patterns and Opening Range Breakout*, 1990). A candle belongs to the session in which it opens. Between
/// sessions, the last session is returned and marked as over. A session is skipped if the candles start during that
/// session. Times are UTC, so a session in local time with daylight saving shifts by an hour twice a year.
#[derive(Clone, Debug)]
pub struct SessionRange {
    start: Millis,
    length: Millis,
    /// Start of the session that is skipped because it began before the first candle, if any.
    skipped_session: Option<Millis>,
    has_begun: bool,
    last: Option<Session>,
}

/// Price range of one session of a [`SessionRange`], in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Session {
    /// Start time of the session.
    pub start: Millis,
    /// Highest price of the session so far.
    pub high: f64,
    /// Lowest price of the session so far.
    pub low: f64,
    /// Last close of the session so far.
    pub close: f64,
    /// Whether a candle after the end of the session was processed.
    pub is_over: bool,
}

impl SessionRange {
    /// Creates the range of a daily session. `start` is the time since midnight UTC.
    /// Fails unless `start` is less than 24 h, and `length` is above 0 and at most 24 h.
    pub fn new(start: Millis, length: Millis) -> Result<Self, IndicatorError> {
        let is_within_a_day = start >= Millis::ZERO && start < Millis::DAY;
        if is_within_a_day && length > Millis::ZERO && length <= Millis::DAY {
            Ok(Self { start, length, skipped_session: None, has_begun: false, last: None })
        } else {
            Err(IndicatorError::InvalidSession { start, length })
        }
    }

    /// Processes the next candle and returns the current session. Between sessions, returns the previous one.
    /// Returns `None` before the first complete session starts.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<Session> {
        if !is_usable(candle.high()) {
            return None;
        }
        let start = (candle.time() - self.start).floor_to(Millis::DAY) + self.start;
        if !self.has_begun {
            self.has_begun = true;
            self.skipped_session = (candle.time() != start).then_some(start);
        }
        if self.skipped_session == Some(start) {
            return None;
        }
        let is_inside = candle.time() - start < self.length;
        let (high, low, close) = (candle.high(), candle.low(), candle.close());
        self.last = match self.last {
            Some(last) if is_inside && last.start == start => {
                Some(Session { high: last.high.max(high), low: last.low.min(low), close, ..last })
            }
            _ if is_inside => Some(Session { start, high, low, close, is_over: false }),
            last => last.map(|last| Session { is_over: true, ..last }),
        };
        self.last
    }

    /// Returns the number of candles until the first result, if no candle is missing: one day of candles plus one.
    pub fn warmup(&self, interval: Interval) -> usize {
        candles_in_days(1, interval) + 1
    }
}

const fn candles_in_days(days: i64, interval: Interval) -> usize {
    let (total, step) = (days * Millis::DAY.get(), interval.length().get());
    ((total + step - 1) / step) as usize
}

/// Classic pivot levels: a pivot, three resistances and three supports.
/// Computed from high, low and close of the last completed day with candles (Person, *A Complete Guide to Technical
/// Trading Tactics*, 2004). An incomplete first day is skipped. Times are UTC.
#[derive(Clone, Debug)]
pub struct Pivots {
    day: SessionRange,
    before: Option<Session>,
    levels: Option<PivotLevels>,
}

/// The seven levels of [`Pivots`], in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PivotLevels {
    /// Pivot: (high + low + close) / 3.
    pub pivot: f64,
    /// Resistances: 2 x pivot - low, pivot + (high - low), high + 2 x (pivot - low).
    pub resistances: [f64; 3],
    /// Supports: 2 x pivot - high, pivot - (high - low), low - 2 x (high - pivot). A support may be negative.
    pub supports: [f64; 3],
}

impl PivotLevels {
    /// Computes the levels from the high, low and close of a day.
    pub fn new(high: f64, low: f64, close: f64) -> Self {
        let pivot = (high + low + close) / 3.0;
        let range = high - low;
        Self {
            pivot,
            resistances: [2.0 * pivot - low, pivot + range, high + 2.0 * (pivot - low)],
            supports: [2.0 * pivot - high, pivot - range, low - 2.0 * (high - pivot)],
        }
    }
}

impl Pivots {
    /// Creates pivot levels for days that begin at `start`, an offset of less than 24 h from midnight UTC.
    pub fn new(start: Millis) -> Result<Self, IndicatorError> {
        Ok(Self { day: SessionRange::new(start, Millis::DAY)?, before: None, levels: None })
    }

    /// Processes the next candle and returns the levels of the previous day, or `None` until a complete day has ended.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<PivotLevels> {
        // An unusable candle does not belong to a day and is skipped.
        let day = self.day.update(candle)?;
        if let Some(before) = self.before.replace(day)
            && before.start != day.start
        {
            self.levels = Some(PivotLevels::new(before.high, before.low, before.close));
        }
        self.levels
    }

    /// Returns the number of candles until the first result, if no candle is missing: two days of candles plus one.
    pub fn warmup(&self, interval: Interval) -> usize {
        candles_in_days(2, interval) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{gappy, random_walk};
    use proptest::prelude::*;

    fn plain(candles: &[Candle], start: i64, length: i64) -> Option<Session> {
        let day = |candle: &Candle| (candle.time().get() - start).div_euclid(86_400_000);
        let offset = |candle: &Candle| (candle.time().get() - start).rem_euclid(86_400_000);
        let (first, last) = (candles.first()?, candles.last()?);
        let is_cut_off = |candle: &&Candle| offset(first) != 0 && day(candle) == day(first);
        let inside: Vec<&Candle> =
            candles.iter().filter(|c| offset(c) < length).filter(|c| !is_cut_off(c)).collect();
        let of = day(inside.last()?);
        let session: Vec<&Candle> = inside.into_iter().filter(|candle| day(candle) == of).collect();
        let fold = |price: fn(&Candle) -> f64, better: fn(f64, f64) -> f64| {
            session.iter().map(|candle| price(candle)).reduce(better)
        };
        Some(Session {
            start: Millis::new(of * 86_400_000 + start),
            high: fold(Candle::high, f64::max)?,
            low: fold(Candle::low, f64::min)?,
            close: session.last()?.close(),
            is_over: day(last) != of || offset(last) >= length,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10))]

        #[test]
        fn session_covers_exactly_its_candles(
            seed: u64, start in 0..1_440_i64, minutes in 1..=1_440_i64, begin in 0..1_500_usize,
        ) {
            let (start, length) = (start * 60_000, minutes * 60_000);
            for candles in [random_walk(seed, 3_500), gappy(seed, 2_500)] {
                let candles = &candles[begin..];
                let mut range = SessionRange::new(Millis::new(start), Millis::new(length)).unwrap();
                for (index, candle) in candles.iter().enumerate() {
                    let answer = range.update(candle);
                    if index % 97 == 0 || (candle.time().get() - start).rem_euclid(length) < 180_000 {
                        prop_assert_eq!(answer, plain(&candles[..=index], start, length), "candle {}", index);
                    }
                }
            }
        }
    }

    #[test]
    fn first_value_comes_within_the_warmup() {
        let candles = random_walk(1, 4_400);
        for begin in [0, 1, 59, 60, 61, 600, 1_439] {
            let mut range = SessionRange::new(Millis::HOUR, Millis::MINUTE).unwrap();
            let seen = candles[begin..].iter().position(|candle| range.update(candle).is_some()).unwrap() + 1;
            assert!(seen <= range.warmup(Interval::MINUTE), "{begin}: {seen}");
            assert_eq!(range.warmup(Interval::MINUTE), 1_441);
            let mut pivots = Pivots::new(Millis::ZERO).unwrap();
            let seen =
                candles[begin..].iter().position(|candle| pivots.update(candle).is_some()).unwrap() + 1;
            assert!(seen <= pivots.warmup(Interval::MINUTE), "{begin}: {seen}");
        }
    }

    #[test]
    fn levels_are_of_the_last_complete_day() {
        const START: i64 = 22 * 3_600_000;
        let day = |candle: &Candle| (candle.time().get() - START).div_euclid(86_400_000);
        for candles in [random_walk(4, 3_200), gappy(4, 800)] {
            let mut pivots = Pivots::new(Millis::new(START)).unwrap();
            for (index, candle) in candles.iter().enumerate() {
                let answer = pivots.update(candle);
                let earlier =
                    candles[..index].iter().filter(|c| day(c) != day(candle) && day(c) != day(&candles[0]));
                let last = earlier.clone().map(day).max();
                let whole: Vec<&Candle> = earlier.filter(|candle| Some(day(candle)) == last).collect();
                let expected = whole.last().map(|last| {
                    let high = whole.iter().map(|candle| candle.high()).fold(f64::MIN, f64::max);
                    let low = whole.iter().map(|candle| candle.low()).fold(f64::MAX, f64::min);
                    PivotLevels::new(high, low, last.close())
                });
                assert_eq!(answer, expected, "candle {index}");
            }
        }
        assert_eq!(Pivots::new(Millis::ZERO).unwrap().warmup(Interval::MINUTE), 2_881);
    }

    #[test]
    fn levels_by_hand() {
        let (resistances, supports) = ([16.0, 18.0, 22.0], [10.0, 6.0, 4.0]);
        assert_eq!(PivotLevels::new(14.0, 8.0, 14.0), PivotLevels { pivot: 12.0, resistances, supports });
    }
}
