//! Layout of walk-forward windows: training, gap and test.

use crate::SearchError;
use candlewick_sdk::Millis;
use std::ops::Range;

const MAX_WINDOWS: i64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowScheme {
    Rolling,
    Anchored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSettings {
    pub scheme: WindowScheme,
    /// Length of the training range. Anchored windows start with this length and then grow.
    pub train: Millis,
    pub test: Millis,
    /// Gap between training and test, at least as long as the longest possible trade.
    pub gap: Millis,
}

/// One walk-forward window, in whole candles. The test ranges of consecutive windows are contiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub training: Range<Millis>,
    pub test: Range<Millis>,
}

impl WindowScheme {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rolling => "rolling",
            Self::Anchored => "anchored",
        }
    }
}

impl WindowSettings {
    pub fn windows(&self, span: &Range<Millis>) -> Result<Vec<Window>, SearchError> {
        let wrong = |problem: String| SearchError::InvalidWindows { problem };
        if self.train <= Millis::ZERO || self.test <= Millis::ZERO {
            return Err(wrong("the training range and the test range must be longer than 0".to_owned()));
        }
        let length = (span.end - span.start).get();
        let count = (length - self.train.get() - self.gap.get()).div_euclid(self.test.get());
        if count < 1 {
            return Err(wrong(format!(
                "no window fits: training ({}), gap ({}) and test ({}) together are longer than the candles ({})",
                format_days(self.train),
                format_days(self.gap),
                format_days(self.test),
                format_days(Millis::new(length.max(0)))
            )));
        }
        if count > MAX_WINDOWS {
            return Err(wrong(format!(
                "{count} windows exceed the limit of {MAX_WINDOWS}: use a longer test range"
            )));
        }
        Ok((0..count)
            .map(|place| span.start + self.train + self.gap + self.test * place)
            .map(|start| self.window_for_test(span, start..start + self.test))
            .collect())
    }

    fn window_for_test(&self, span: &Range<Millis>, test: Range<Millis>) -> Window {
        let end = test.start - self.gap;
        let start = match self.scheme {
            WindowScheme::Rolling => (end - self.train).max(span.start),
            WindowScheme::Anchored => span.start,
        };
        Window { training: start..end, test }
    }
}

fn format_days(length: Millis) -> String {
    format!("{:.2} d", length.get() as f64 / Millis::DAY.get() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: i64, end: i64) -> Range<Millis> {
        Millis::new(start)..Millis::new(end)
    }

    fn settings(scheme: WindowScheme, train: i64, test: i64, gap: i64) -> WindowSettings {
        WindowSettings { scheme, train: Millis::new(train), test: Millis::new(test), gap: Millis::new(gap) }
    }

    fn check(scheme: WindowScheme, expected: &[(i64, i64, i64, i64)]) {
        let windows = settings(scheme, 30, 10, 2).windows(&range(100, 165)).unwrap();
        let window = |(from, to, test_from, test_to): &(i64, i64, i64, i64)| Window {
            training: range(*from, *to),
            test: range(*test_from, *test_to),
        };
        assert_eq!(windows, expected.iter().map(window).collect::<Vec<_>>());
    }

    #[test]
    fn tests_are_contiguous_after_training_and_gap() {
        check(WindowScheme::Rolling, &[(100, 130, 132, 142), (110, 140, 142, 152), (120, 150, 152, 162)]);
        check(WindowScheme::Anchored, &[(100, 130, 132, 142), (100, 140, 142, 152), (100, 150, 152, 162)]);
    }

    #[test]
    fn rejects_windows_that_do_not_fit() {
        for (train, test, gap, part) in [
            (60, 4, 2, "no window fits"),
            (0, 4, 2, "longer than 0"),
            (30, 0, 2, "longer than 0"),
            (i64::MAX / 4, 4, 2, "no window fits"),
        ] {
            let error =
                settings(WindowScheme::Rolling, train, test, gap).windows(&range(100, 165)).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        let error = settings(WindowScheme::Rolling, 1, 1, 0).windows(&range(0, 2_000)).unwrap_err();
        assert!(error.to_string().contains("1999 windows"), "{error}");
    }

    proptest! {
        #[test]
        fn training_keeps_the_gap_to_every_test(
            start in -1_000_i64..1_000,
            length in 1_i64..5_000,
            train in 1_i64..2_000,
            test in 10_i64..500,
            gap in 0_i64..50,
            is_anchored: bool,
        ) {
            let scheme = if is_anchored { WindowScheme::Anchored } else { WindowScheme::Rolling };
            let span = range(start, start + length);
            let Ok(windows) = settings(scheme, train, test, gap).windows(&span) else { return Ok(()) };
            for (place, window) in windows.iter().enumerate() {
                prop_assert_eq!(window.test.start - window.training.end, Millis::new(gap));
                prop_assert_eq!(window.test.end - window.test.start, Millis::new(test));
                let long_enough = (window.training.end - window.training.start).get();
                prop_assert!(long_enough == train || (is_anchored && long_enough > train));
                prop_assert!(span.start <= window.training.start && window.test.end <= span.end);
                if let Some(next) = windows.get(place + 1) {
                    prop_assert_eq!(window.test.end, next.test.start);
                }
            }
            let last = windows.last().unwrap();
            prop_assert!((span.end - last.test.end).get() < test, "another window would have fitted");
        }
    }
}
