//! Running mean and standard deviation, shared by Bollinger Bands and z-score.

/// Number of windows between recomputations, which limit rounding errors.
const REFRESH_WINDOWS: usize = 32;
/// Share of their peak below which the squares consist mostly of rounding errors.
const SHRUNK: f64 = 1e-6;

/// Mean and population deviation (divided by `period`) of the last `period` values.
///
/// The wrapped crate's deviation is not used: it accumulates rounding errors, which exceed 1e-9 of
/// the price after a jump or a million candles.
#[derive(Clone, Debug)]
pub(super) struct Deviation {
    window: Box<[f64]>,
    next: usize,
    missing: usize,
    mean: f64,
    squares: f64,
    peak: f64,
    fresh_for: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Deviation {
    pub(super) fn new(period: usize) -> Self {
        let window = vec![0.0; period].into_boxed_slice();
        Self { window, next: 0, missing: period, mean: 0.0, squares: 0.0, peak: 0.0, fresh_for: 0 }
    }

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

    /// Moves the sums to the next window (Welford's update for a replaced value).
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

    /// Recomputes the sums in two passes.
    ///
    /// Distances are taken from a value of the window, so that equal values have a deviation of
    /// exactly 0.
    fn refresh(&mut self) {
        let (period, origin) = (self.window.len(), self.window[0]);
        self.mean = origin + self.window.iter().map(|value| value - origin).sum::<f64>() / period as f64;
        self.squares = self.window.iter().map(|value| (value - self.mean).powi(2)).sum();
        self.peak = self.squares;
        self.fresh_for = REFRESH_WINDOWS * period;
    }

    pub(super) fn period(&self) -> usize {
        self.window.len()
    }
}
