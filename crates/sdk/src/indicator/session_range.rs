//! Price range of a daily session.

use super::{IndicatorError, is_usable};
use crate::{Candle, Interval, Millis};

/// Price range of a session that repeats every day.
///
/// For example the hours of an exchange, or its first half-hour (the opening range of Crabel, *Day
/// Trading with Short Term Price Patterns and Opening Range Breakout*, 1990).
///
/// A candle belongs to the session in which it opens. The last session remains, marked as over,
/// until the next one starts. A session whose start was not seen is skipped, so that the result
/// does not depend on where the series starts. Times are UTC: a session bound to a clock with
/// daylight saving time shifts by an hour twice a year.
#[derive(Clone, Debug)]
pub struct SessionRange {
    start: Millis,
    length: Millis,
    /// Session day in which the series started, `None` if it started with the session.
    cut_off: Option<Millis>,
    has_begun: bool,
    last: Option<Session>,
}

/// State of a [`SessionRange`], in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Session {
    /// Start time.
    pub start: Millis,
    /// Highest price so far.
    pub high: f64,
    /// Lowest price so far.
    pub low: f64,
    /// Last close so far.
    pub close: f64,
    /// Whether a candle after the end of the session has been seen.
    pub is_over: bool,
}

impl SessionRange {
    /// Creates a session that starts daily at `start` and lasts for `length`.
    ///
    /// `start` is relative to midnight UTC and less than a day, `length` is at most a day.
    ///
    /// # Errors
    /// [`IndicatorError::ChangeSession`].
    pub fn new(start: Millis, length: Millis) -> Result<Self, IndicatorError> {
        let is_within_a_day = start >= Millis::ZERO && start < Millis::DAY;
        if is_within_a_day && length > Millis::ZERO && length <= Millis::DAY {
            Ok(Self { start, length, cut_off: None, has_begun: false, last: None })
        } else {
            Err(IndicatorError::ChangeSession { start, length })
        }
    }

    /// Processes the next candle and returns its session, or else the last one.
    ///
    /// `None` before the first complete start of a session.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<Session> {
        if !is_usable(candle.high()) {
            return None;
        }
        let start = (candle.time() - self.start).floor_to(Millis::DAY) + self.start;
        if !self.has_begun {
            self.has_begun = true;
            self.cut_off = (candle.time() != start).then_some(start);
        }
        if self.cut_off == Some(start) {
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

    /// Returns the number of candles until the first value of a series without gaps.
    ///
    /// Those of one day, plus one.
    pub fn warmup(&self, interval: Interval) -> usize {
        candles_of_days(1, interval) + 1
    }
}

pub(super) const fn candles_of_days(days: i64, interval: Interval) -> usize {
    let (all, one) = (days * Millis::DAY.get(), interval.length().get());
    ((all + one - 1) / one) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{gappy, random_walk};
    use proptest::prelude::*;

    /// All candles of the last session over again.
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
        fn a_session_is_all_its_candles_and_no_others(
            seed: u64, start in 0..1_440_i64, minutes in 1..=1_440_i64, begin in 0..1_500_usize,
        ) {
            let (start, length) = (start * 60_000, minutes * 60_000);
            for candles in [random_walk(seed, 3_500), gappy(seed, 2_500)] {
                let candles = &candles[begin..];
                let mut range = SessionRange::new(Millis::new(start), Millis::new(length)).unwrap();
                for (index, candle) in candles.iter().enumerate() {
                    let answer = range.update(candle);
                    // Each is looked at near the session's ends, where it may change, and now and then.
                    if index % 97 == 0 || (candle.time().get() - start).rem_euclid(length) < 180_000 {
                        prop_assert_eq!(answer, plain(&candles[..=index], start, length), "candle {}", index);
                    }
                }
            }
        }
    }

    #[test]
    fn it_answers_within_a_day_and_a_candle_wherever_it_begins() {
        let candles = random_walk(1, 4_400);
        for begin in [0, 1, 59, 60, 61, 600, 1_439] {
            let mut range = SessionRange::new(Millis::HOUR, Millis::MINUTE).unwrap();
            let seen = candles[begin..].iter().position(|candle| range.update(candle).is_some()).unwrap() + 1;
            assert!(seen <= range.warmup(Interval::MINUTE), "{begin}: {seen}");
        }
        let range = SessionRange::new(Millis::HOUR, Millis::MINUTE).unwrap();
        assert_eq!(range.warmup(Interval::MINUTE), 1_441);
    }
}
