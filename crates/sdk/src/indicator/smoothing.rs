//! Exponential smoothing seeded with a simple mean, shared by EMA, RSI, MACD, ATR and ADX.

use std::array;

const FORGOTTEN: f64 = 1e-9;

/// Exponential smoothing of several lines that start together.
///
/// The first result is the simple mean of the first `period` values. The arithmetic is that of the
/// wrapped crate's exponential average, which is not used because of its field layout
/// (docs/performance.md).
#[derive(Clone, Debug)]
pub(super) struct Smoothing<const LINES: usize = 1> {
    /// Sums instead of means until the seed is complete.
    means: [f64; LINES],
    /// Number of values until the first result.
    ///
    /// If greater than the period, the next value is skipped.
    missing: usize,
    /// Weight of a new value, repeated per line to multiply lines as vectors.
    weights: [f64; LINES],
    kept: [f64; LINES],
    period: usize,
}

impl<const LINES: usize> Smoothing<LINES> {
    pub(super) fn exponential(period: usize) -> Self {
        Self::new(period, period)
    }

    /// Uses Wilder's weight, 1 / period.
    ///
    /// It equals that of an exponential average over 2 x period - 1 values.
    pub(super) fn wilder(period: usize) -> Self {
        Self::new(period, 2 * period - 1)
    }

    fn new(period: usize, length: usize) -> Self {
        let weight = 2.0 / (length + 1) as f64;
        let (weights, kept) = ([weight; LINES], [1.0 - weight; LINES]);
        Self { means: [0.0; LINES], missing: period, weights, kept, period }
    }

    pub(super) fn leaving_out_first(mut self) -> Self {
        self.missing = self.period + 1;
        self
    }

    /// Processes a finite value per line, `None` before the `period`th.
    ///
    /// The seed is not a separate function, so that the means stay in registers between candles
    /// (docs/performance.md).
    #[inline]
    pub(super) fn update_all(&mut self, values: [f64; LINES]) -> Option<[f64; LINES]> {
        if self.missing > 0 {
            self.missing -= 1;
            if self.missing >= self.period {
                return None;
            }
            self.means.iter_mut().zip(values).for_each(|(mean, value)| *mean += value);
            if self.missing > 0 {
                return None;
            }
            self.means = self.means.map(|sum| sum / self.period as f64);
            return Some(self.means);
        }
        Some(self.smooth(values))
    }

    #[inline]
    pub(super) fn smooth(&mut self, values: [f64; LINES]) -> [f64; LINES] {
        let Self { weights, kept, means, .. } = *self;
        // All lines are computed before any is written, so that they are computed together.
        self.means = array::from_fn(|line| weights[line] * values[line] + kept[line] * means[line]);
        self.means
    }

    pub(super) const fn has_answered(&self) -> bool {
        self.missing == 0
    }

    pub(super) fn warmup(&self) -> usize {
        self.period
    }

    pub(super) fn memory(&self) -> usize {
        let weight = self.weights.first().copied().unwrap_or(1.0);
        (FORGOTTEN.ln() / (1.0 - weight).ln()).ceil() as usize
    }
}

impl Smoothing {
    #[inline]
    pub(super) fn update(&mut self, value: f64) -> Option<f64> {
        let [mean] = self.update_all([value])?;
        Some(mean)
    }

    #[inline]
    pub(super) const fn share(&self, value: f64) -> f64 {
        self.weights[0] * value
    }

    /// Returns the mean after adding this share.
    ///
    /// A loop keeps the mean in a register and stores it with [`Self::set_mean`].
    #[inline]
    pub(super) const fn next_mean(&self, share: f64, mean: f64) -> f64 {
        share + self.kept[0] * mean
    }

    #[inline]
    pub(super) const fn mean(&self) -> f64 {
        self.means[0]
    }

    #[inline]
    pub(super) const fn set_mean(&mut self, mean: f64) {
        self.means = [mean];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_the_simple_mean_and_the_weight_is_applied_after_it() {
        // Exponential over 3: weight 1/2. Wilder over 3: weight 1/3. Seed (1 + 2 + 6) / 3 = 3.
        for (mut smoothing, expected) in
            [(Smoothing::<1>::exponential(3), 6.0), (Smoothing::wilder(3), 3.0 + 6.0 / 3.0)]
        {
            let answers = [1.0, 2.0, 6.0, 9.0].map(|value| smoothing.update(value));
            assert_eq!(answers, [None, None, Some(3.0), Some(expected)]);
        }
    }

    #[test]
    fn from_the_second_on_the_first_value_is_as_if_it_had_not_been() {
        let mut smoothing = Smoothing::<1>::wilder(2).leaving_out_first();
        let answers = [1e9, 1.0, 2.0, 4.0].map(|value| smoothing.update(value));
        assert_eq!(answers, [None, None, Some(1.5), Some(2.75)]);
    }

    #[test]
    fn memory_is_the_power_at_which_the_weight_of_the_past_is_forgotten() {
        // 0.5^30 = 9.3e-10, 0.5^29 = 1.9e-9; (13/14)^280 = 9.8e-10, (13/14)^279 = 1.05e-9.
        assert_eq!(Smoothing::<1>::exponential(3).memory(), 30);
        assert_eq!(Smoothing::<1>::wilder(14).memory(), 280);
        assert_eq!(Smoothing::<1>::exponential(1).memory(), 0);
    }
}
