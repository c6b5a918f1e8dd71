//! Division of candles into training, test and hold-out.
use crate::error::AppError;
use candlewick_sdk::Millis;
use candlewick_search::walk_forward::{Scheme, WindowSettings};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Default number of windows, and default length of a training in tests.
const WINDOWS: i64 = 5;
const TESTS_OF_TRAINING: i64 = 3;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutTerms {
    pub anchored: bool,
    /// Length of a training (the first if anchored), by default three tests.
    pub train: Option<Millis>,
    /// Length of a test, by default a third of a training.
    ///
    /// If both lengths are omitted, the test length that yields five windows.
    pub test: Option<Millis>,
    /// Gap between training and test, in addition to the longest trade duration.
    pub embargo: Millis,
    /// Final share of the candles that no window sees, in percent; 0 for none.
    pub hold_out: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub settings: WindowSettings,
    pub purge: Millis,
    pub walked: Range<Millis>,
    pub hold_out: Option<Range<Millis>>,
}

impl LayoutTerms {
    /// Divides a span of candles.
    ///
    /// `step` is the longest candle interval and `purge` the longest duration of a trade.
    ///
    /// # Errors
    /// A length that is not a whole number of candles.
    pub fn divide(&self, span: &Range<Millis>, step: Millis, purge: Millis) -> Result<Layout, AppError> {
        for (flag, length) in
            [("--train", self.train), ("--test", self.test), ("--embargo", Some(self.embargo))]
        {
            if let Some(length) = length.filter(|length| !length.is_aligned_to(step)) {
                let problem = format!("{flag}: {length} ms is no whole number of candles of {step} ms");
                return Err(AppError::invalid(problem));
            }
        }
        let gap = purge + self.embargo;
        let length = (span.end - span.start).get() as f64;
        let locked = Millis::new((length * self.hold_out / 100.0) as i64).floor_to(step);
        let hold_out = (locked > Millis::ZERO).then(|| (span.end - locked).floor_to(step)..span.end);
        // The trades of the last test settle before the hold-out begins.
        let end = hold_out.as_ref().map_or(span.end, |locked| locked.start - purge);
        let room = (end - span.start - gap).get();
        let part = |of: i64, parts: i64| Millis::new((of / parts).max(0)).floor_to(step);
        let (train, test) = match (self.train, self.test) {
            (Some(train), Some(test)) => (train, test),
            (Some(train), None) => (train, part(train.get(), TESTS_OF_TRAINING).max(step)),
            (None, Some(test)) => (test * TESTS_OF_TRAINING, test),
            (None, None) => {
                let test = part(room, TESTS_OF_TRAINING + WINDOWS).max(step);
                (test * TESTS_OF_TRAINING, test)
            }
        };
        let scheme = if self.anchored { Scheme::Anchored } else { Scheme::Rolling };
        let settings = WindowSettings { scheme, train, test, gap };
        Ok(Layout { settings, purge, walked: span.start..end, hold_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(train: Option<i64>, test: Option<i64>, hold_out: f64) -> LayoutTerms {
        LayoutTerms {
            anchored: false,
            train: train.map(|hours| Millis::HOUR * hours),
            test: test.map(|hours| Millis::HOUR * hours),
            embargo: Millis::HOUR,
            hold_out,
        }
    }

    /// 100 hours of hourly candles, of whose trades none is under way for longer than two. Hours of: training, test, end
    /// of the walk, start of the hold-out, windows.
    fn check(arguments: &LayoutTerms, expected: (i64, i64, i64, Option<i64>, usize)) {
        let hour = |at: Millis| at.get() / Millis::HOUR.get();
        let span = Millis::HOUR * 10..Millis::HOUR * 110;
        let layout = arguments.divide(&span, Millis::HOUR, Millis::HOUR * 2).unwrap();
        let WindowSettings { train, test, gap, .. } = layout.settings;
        assert_eq!((hour(gap), layout.walked.start), (3, span.start));
        let windows = layout.settings.windows(&layout.walked).unwrap().len();
        let locked = layout.hold_out.map(|locked| hour(locked.start));
        assert_eq!((hour(train), hour(test), hour(layout.walked.end), locked, windows), expected);
    }

    #[test]
    fn lengths_that_nobody_gives_make_five_windows_before_the_hold_out() {
        // 100 - 20 - 2 of the last trades - 3 of the gap are 75: eight times nine, and three are left.
        check(&arguments(None, None, 20.0), (27, 9, 88, Some(90), 5));
        check(&arguments(None, None, 0.0), (36, 12, 110, None, 5));
        check(&arguments(Some(30), None, 20.0), (30, 10, 88, Some(90), 4));
        check(&arguments(None, Some(5), 20.0), (15, 5, 88, Some(90), 12));
        check(&arguments(Some(20), Some(50), 20.0), (20, 50, 88, Some(90), 1));
    }

    #[test]
    fn lengths_are_whole_numbers_of_candles() {
        let arguments = LayoutTerms { embargo: Millis::MINUTE * 90, ..arguments(None, None, 20.0) };
        let failure = arguments.divide(&(Millis::ZERO..Millis::DAY), Millis::HOUR, Millis::HOUR).unwrap_err();
        assert!(failure.text().contains("--embargo: 5400000 ms is no whole number of candles"));
    }
}
