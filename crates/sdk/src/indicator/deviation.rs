//! The running mean and standard deviation of the last values: the piece that Bollinger's bands and the z-score share.

/// Windows after which the running sums are made afresh, so that rounding errors do not pile up.
const REFRESH_WINDOWS: usize = 32;
/// Squares that have shrunk to this share of their peak hold little but its rounding errors.
const SHRUNK: f64 = 1e-6;

/// The mean and the population's deviation (divided by `period`) of the last `period` values.
///
/// Our own: the wrapped crate's deviation never loses a rounding error again, and after a jump, or a million
/// candles, that is more than 1e-9 of the price.
#[derive(Clone, Debug)]
pub(super) struct Deviation {
    window: Box<[f64]>,
    /// Where the next value goes.
    next: usize,
    missing: usize,
    mean: f64,
    /// Sum of the squared distances from the mean, and its largest value since they were made afresh.
    squares: f64,
    peak: f64,
    /// Values until the sums are made afresh.
    fresh_for: usize,
}

/// What a [`Deviation`] answers, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Deviation {
    /// Of `period` values, which is not 0.
    pub(super) fn new(period: usize) -> Self {
        let window = vec![0.0; period].into_boxed_slice();
        Self { window, next: 0, missing: period, mean: 0.0, squares: 0.0, peak: 0.0, fresh_for: 0 }
    }

    /// Takes a usable value; answers from the `period`th on.
    #[inline]
    pub(super) fn update(&mut self, value: f64) -> Option<Moments> {
        let oldest = std::mem::replace(&mut self.window[self.next], value);
        self.next = if self.next + 1 < self.window.len() { self.next + 1 } else { 0 };
        if self.missing > 0 {
            self.missing -= 1;
            if self.missing > 0 {
                return None;
            }
            self.refresh();
        } else {
            self.replace(oldest, value);
        }
        Some(Moments { mean: self.mean, deviation: (self.squares / self.window.len() as f64).sqrt() })
    }

    /// Moves the sums from one window to the next (Welford's update, applied to an exchange).
    #[inline]
    fn replace(&mut self, oldest: f64, newest: f64) {
        let (change, mean) = (newest - oldest, self.mean);
        self.mean += change / self.window.len() as f64;
        self.squares += change * (newest - self.mean + oldest - mean);
        self.peak = self.peak.max(self.squares);
        self.fresh_for = self.fresh_for.saturating_sub(1);
        if self.fresh_for == 0 || self.squares < SHRUNK * self.peak {
            self.refresh();
        }
    }

    /// Makes the sums afresh: two passes over the window, around a value of it, so that equal values have no
    /// deviation at all.
    fn refresh(&mut self) {
        let (period, origin) = (self.window.len(), self.window[0]);
        self.mean = origin + self.window.iter().map(|value| value - origin).sum::<f64>() / period as f64;
        self.squares = self.window.iter().map(|value| (value - self.mean).powi(2)).sum();
        self.peak = self.squares;
        self.fresh_for = REFRESH_WINDOWS * period;
    }

    /// Values until the first answer: `period`.
    pub(super) fn period(&self) -> usize {
        self.window.len()
    }
}
