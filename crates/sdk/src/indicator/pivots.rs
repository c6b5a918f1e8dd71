//! Pivot levels of the previous day.

use super::session_range::candles_of_days;
use super::{IndicatorError, Session, SessionRange};
use crate::{Candle, Interval, Millis};

/// Floor traders' pivot levels of the last day with candles.
///
/// The pivot with three resistances and supports, from high, low and close (Person, *A Complete
/// Guide to Technical Trading Tactics*, 2004). A day whose start was not seen is skipped. Times are
/// UTC.
#[derive(Clone, Debug)]
pub struct Pivots {
    day: SessionRange,
    before: Option<Session>,
    levels: Option<PivotLevels>,
}

/// Levels of [`Pivots`], in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PivotLevels {
    /// (high + low + close) / 3.
    pub pivot: f64,
    /// 2 x pivot - low, pivot + (high - low), high + 2 x (pivot - low).
    pub resistances: [f64; 3],
    /// 2 x pivot - high, pivot - (high - low), low - 2 x (high - pivot).
    ///
    /// The outer ones may be negative.
    pub supports: [f64; 3],
}

impl PivotLevels {
    /// Computes the levels from a high, a low and a close.
    pub fn of(high: f64, low: f64, close: f64) -> Self {
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
    /// Creates levels of days that start at `start` from midnight UTC, less than a day.
    ///
    /// # Errors
    /// [`IndicatorError::ChangeSession`].
    pub fn new(start: Millis) -> Result<Self, IndicatorError> {
        Ok(Self { day: SessionRange::new(start, Millis::DAY)?, before: None, levels: None })
    }

    /// Processes the next candle and returns the levels of the last day before it.
    ///
    /// `None` until a complete day has ended.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<PivotLevels> {
        // A candle that is not usable has no day, and leaves all as it was.
        let day = self.day.update(candle)?;
        if let Some(before) = self.before.replace(day)
            && before.start != day.start
        {
            self.levels = Some(PivotLevels::of(before.high, before.low, before.close));
        }
        self.levels
    }

    /// Returns the number of candles until the first value of a series without gaps.
    ///
    /// Those of two days, plus one.
    pub fn warmup(&self, interval: Interval) -> usize {
        candles_of_days(2, interval) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{gappy, random_walk};

    #[test]
    fn levels_are_those_of_the_last_whole_day() {
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
                    PivotLevels::of(high, low, last.close())
                });
                assert_eq!(answer, expected, "candle {index}");
            }
        }
        assert_eq!(Pivots::new(Millis::ZERO).unwrap().warmup(Interval::MINUTE), 2_881);
    }

    #[test]
    fn levels_by_hand() {
        let (resistances, supports) = ([16.0, 18.0, 22.0], [10.0, 6.0, 4.0]);
        assert_eq!(PivotLevels::of(14.0, 8.0, 14.0), PivotLevels { pivot: 12.0, resistances, supports });
    }

    #[test]
    fn it_answers_within_two_days_and_a_candle_wherever_it_begins() {
        let candles = random_walk(1, 4_400);
        for begin in [0, 1, 59, 600, 1_439] {
            let mut pivots = Pivots::new(Millis::ZERO).unwrap();
            let seen =
                candles[begin..].iter().position(|candle| pivots.update(candle).is_some()).unwrap() + 1;
            assert!(seen <= pivots.warmup(Interval::MINUTE), "{begin}: {seen}");
        }
    }
}
