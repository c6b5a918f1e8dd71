//! Moving averages and MACD.

use super::extremes::{Merge, Window};
use super::{IndicatorError, are_usable, check_period, is_usable};
use std::array;
use ta::Next;
use ta::indicators::SimpleMovingAverage;

/// Weight below which the first value no longer matters.
const NEGLIGIBLE_WEIGHT: f64 = 1e-9;

/// Exponential or Wilder smoothing of one or more series. Starts with the simple mean of the first `period` values.
/// Uses the arithmetic of the `ta` crate, with a faster field layout (docs/performance.md).
#[derive(Clone, Debug)]
pub(super) struct Smoothing<const LINES: usize = 1> {
    /// Current means, or sums of the values during warm-up.
    means: [f64; LINES],
    /// Number of values still needed for the first result. Starts at `period + 1` if the first value is skipped.
    missing: usize,
    /// Weight of a new value, repeated for each series so that the compiler can vectorize.
    weights: [f64; LINES],
    old_weights: [f64; LINES],
    period: usize,
}

impl<const LINES: usize> Smoothing<LINES> {
    pub(super) fn with_exponential_weight(period: usize) -> Self {
        Self::new(period, period)
    }

    pub(super) fn with_wilder_weight(period: usize) -> Self {
        Self::new(period, 2 * period - 1)
    }

    fn new(period: usize, length: usize) -> Self {
        let weight = 2.0 / (length + 1) as f64;
        let (weights, old_weights) = ([weight; LINES], [1.0 - weight; LINES]);
        Self { means: [0.0; LINES], missing: period, weights, old_weights, period }
    }

    pub(super) fn skip_first_value(mut self) -> Self {
        self.missing = self.period + 1;
        self
    }

    /// Processes one finite value per series. Returns `None` before the first value.
    /// The warm-up is inlined too, so that the means stay in registers between candles (see docs/performance.md).
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
        let Self { weights, old_weights, means, .. } = *self;
        // All means are computed before the first is stored, so that the compiler can vectorize the loop.
        self.means = array::from_fn(|line| weights[line] * values[line] + old_weights[line] * means[line]);
        self.means
    }

    const fn is_warm(&self) -> bool {
        self.missing == 0
    }

    pub(super) fn warmup(&self) -> usize {
        self.period
    }

    pub(super) fn memory_length(&self) -> usize {
        let weight = self.weights.first().copied().unwrap_or(1.0);
        (NEGLIGIBLE_WEIGHT.ln() / (1.0 - weight).ln()).ceil() as usize
    }
}

impl Smoothing {
    #[inline]
    pub(super) fn update(&mut self, value: f64) -> Option<f64> {
        let [mean] = self.update_all([value])?;
        Some(mean)
    }

    #[inline]
    pub(super) const fn weighted_value(&self, value: f64) -> f64 {
        self.weights[0] * value
    }

    /// Returns the mean after the next value. The previous mean is an argument, so a loop can keep it in a register.
    #[inline]
    const fn next_mean(&self, weighted_value: f64, mean: f64) -> f64 {
        weighted_value + self.old_weights[0] * mean
    }

    #[inline]
    pub(super) const fn mean(&self) -> f64 {
        self.means[0]
    }

    #[inline]
    const fn set_mean(&mut self, mean: f64) {
        self.means = [mean];
    }
}

/// Simple moving average: the mean of the last `period` values (TA-Lib `SMA`).
#[derive(Clone, Debug)]
pub struct Sma {
    period: usize,
    missing: usize,
    mean: SimpleMovingAverage,
}

impl Sma {
    /// Creates an average over `period` values. The period is at least 1.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = check_period("sma", period, 1)?;
        let mean = SimpleMovingAverage::new(period).expect("the period is not 0");
        Ok(Self { period, missing: period, mean })
    }

    /// Processes the next value, usually a close. Returns `None` before the first value.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if !is_usable(value) {
            return None;
        }
        let mean = self.mean.next(value);
        // The average of the `ta` crate returns partial means during warm-up.
        self.missing = self.missing.saturating_sub(1);
        (self.missing == 0).then_some(mean)
    }

    /// Returns `period`, the number of candles until the first result. A result uses only the last `period` values.
    pub fn warmup(&self) -> usize {
        self.period
    }
}

/// Exponential moving average (TA-Lib `EMA`). A new value has the weight 2 / (`period` + 1).
/// The first result is the simple mean of the first `period` values.
#[derive(Clone, Debug)]
pub struct Ema {
    smoothing: Smoothing,
}

impl Ema {
    /// Creates an average over `period` values. The period is at least 1.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { smoothing: Smoothing::with_exponential_weight(check_period("ema", period, 1)?) })
    }

    /// Processes the next value, usually a close. Returns `None` before the first value.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if is_usable(value) { self.smoothing.update(value) } else { None }
    }

    /// Updates several averages with the same values, faster than calling [`update`](Self::update) for each value.
    /// Writes each average's results to its slice of `answers`, with NaN during warm-up and for skipped values.
    #[doc(hidden)]
    #[inline]
    pub fn update_batch<const COUNT: usize>(
        averages: [&mut Self; COUNT],
        values: &[f64],
        answers: [&mut [f64]; COUNT],
    ) {
        let is_plain = averages.iter().all(|average| average.smoothing.is_warm()) && are_usable(values);
        if !is_plain {
            for (average, answers) in averages.into_iter().zip(answers) {
                let pairs = answers.iter_mut().zip(values);
                pairs.for_each(|(answer, value)| *answer = average.update(*value).unwrap_or(f64::NAN));
            }
            return;
        }
        // The weighted values are computed first, so that each mean depends only on the previous mean.
        let mut answers = answers.map(|answers| &mut answers[..values.len()]);
        for (average, answers) in averages.iter().zip(&mut answers) {
            let pairs = answers.iter_mut().zip(values);
            pairs.for_each(|(answer, value)| *answer = average.smoothing.weighted_value(*value));
        }
        let mut means: [f64; COUNT] = array::from_fn(|which| averages[which].smoothing.mean());
        (0..values.len()).for_each(|place| {
            means = array::from_fn(|which| {
                averages[which].smoothing.next_mean(answers[which][place], means[which])
            });
            (0..COUNT).for_each(|which| answers[which][place] = means[which]);
        });
        averages.into_iter().zip(means).for_each(|(average, mean)| average.smoothing.set_mean(mean));
    }

    /// Returns `period`, the number of candles until the first result.
    pub fn candles_to_first_value(&self) -> usize {
        self.smoothing.warmup()
    }

    /// Returns the number of candles after which the start of the series no longer matters.
    /// The number is `period` plus about 10.4 x (`period` + 1).
    pub fn warmup(&self) -> usize {
        self.smoothing.warmup() + self.smoothing.memory_length()
    }
}

/// Linearly weighted moving average over the last `period` values (TA-Lib `WMA`).
/// The weights fall from `period` for the newest value to 1 for the oldest value.
#[derive(Clone, Debug)]
pub struct Wma {
    window: Window<WeightedSums>,
    weights: f64,
}

/// Plain and weighted sums of consecutive values. The oldest value has weight 1.
#[derive(Clone, Copy, Debug, Default)]
struct WeightedSums {
    count: f64,
    sum: f64,
    weighted: f64,
}

impl Merge for WeightedSums {
    #[inline]
    fn merge(self, later: Self) -> Self {
        Self {
            count: self.count + later.count,
            sum: self.sum + later.sum,
            // The weight of each later value grows by the number of earlier values.
            weighted: self.weighted + (later.weighted + self.count * later.sum),
        }
    }
}

impl Wma {
    /// Creates an average over `period` values. The period is at least 1.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = check_period("wma", period, 1)?;
        Ok(Self { window: Window::new(period), weights: (period * (period + 1) / 2) as f64 })
    }

    /// Processes the next value, usually a close. Returns `None` before the first value.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if !is_usable(value) {
            return None;
        }
        let window = self.window.update(WeightedSums { count: 1.0, sum: value, weighted: value })?;
        Some(window.weighted / self.weights)
    }

    /// Returns `period`, the number of candles until the first result. A result uses only the last `period` values.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

/// Hull moving average, which follows values with little lag (Hull 2005).
/// The formula is WMA(2 x WMA(values, `period` / 2) - WMA(values, `period`), sqrt(`period`)), where WMA is a weighted
/// average. `period` / 2 and sqrt(`period`) are rounded down.
#[derive(Clone, Debug)]
pub struct Hull {
    half: Wma,
    full: Wma,
    smooth: Wma,
}

impl Hull {
    /// Creates an average over `period` values. The period is at least 2, usually 16.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = check_period("hull", period, 2)?;
        Ok(Self { half: Wma::new(period / 2)?, full: Wma::new(period)?, smooth: Wma::new(period.isqrt())? })
    }

    /// Processes the next value, usually a close. Returns `None` before the first value.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        // Both averages are updated before `?` can return.
        let (half, full) = (self.half.update(value), self.full.update(value));
        self.smooth.update(2.0 * half? - full?)
    }

    /// Returns the number of candles until the first result: `period` + sqrt(`period`) - 1 (19 for a period of 16).
    /// A result uses only that many values.
    pub fn warmup(&self) -> usize {
        self.full.warmup() + self.smooth.warmup() - 1
    }
}

/// Difference between a fast and a slow exponential average, with a smoothed signal line.
/// Matches TA-Lib `MACD`: the fast average starts `slow - fast` candles late, so that both averages have their first
/// value at the same candle.
#[derive(Clone, Debug)]
pub struct Macd {
    skipped: usize,
    fast: Smoothing,
    slow: Smoothing,
    signal: Smoothing,
}

/// The three values of a [`Macd`] at one candle, in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MacdLines {
    /// Fast average minus slow average.
    pub macd: f64,
    /// Signal line: the exponential average of `macd`.
    pub signal: f64,
    /// `macd` minus `signal`.
    pub histogram: f64,
}

impl Macd {
    /// Creates a MACD from its three periods, usually 12, 26 and 9. Fails unless `fast` is less than `slow`.
    pub fn new(fast: usize, slow: usize, signal: usize) -> Result<Self, IndicatorError> {
        for period in [fast, slow, signal] {
            check_period("macd", period, 1)?;
        }
        if fast >= slow {
            return Err(IndicatorError::FastNotBelowSlow { indicator: "macd", fast, slow });
        }
        let [fast, slow, signal] = [fast, slow, signal].map(Smoothing::with_exponential_weight);
        Ok(Self { skipped: slow.warmup() - fast.warmup(), fast, slow, signal })
    }

    /// Processes the next value, usually a close. Returns `None` before the first value.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<MacdLines> {
        if !is_usable(value) {
            return None;
        }
        let slow = self.slow.update(value);
        if self.skipped > 0 {
            self.skipped -= 1;
            return None;
        }
        let macd = self.fast.update(value)? - slow?;
        let signal = self.signal.update(macd)?;
        Some(MacdLines { macd, signal, histogram: macd - signal })
    }

    /// Processes several values, faster than calling [`update`](Self::update) for each value. Writes the results of
    /// each line to its slice of `answers`, in the order of [`MacdLines`]: NaN during warm-up and for skipped values.
    #[doc(hidden)]
    #[inline]
    pub fn update_batch(&mut self, values: &[f64], answers: [&mut [f64]; 3]) {
        let [macds, signals, histograms] = answers.map(|answers| &mut answers[..values.len()]);
        let are_warm = [&self.fast, &self.slow, &self.signal].into_iter().all(Smoothing::is_warm);
        if !(are_warm && are_usable(values)) {
            for (place, value) in values.iter().enumerate() {
                let lines = self.update(*value);
                [macds[place], signals[place], histograms[place]] =
                    lines.map_or([f64::NAN; 3], |lines| [lines.macd, lines.signal, lines.histogram]);
            }
            return;
        }
        let Self { fast, slow, signal, .. } = self;
        let [mut by_fast, mut by_slow, mut by_signal] = [&*fast, slow, signal].map(Smoothing::mean);
        for (place, value) in values.iter().enumerate() {
            by_fast = fast.next_mean(fast.weighted_value(*value), by_fast);
            by_slow = slow.next_mean(slow.weighted_value(*value), by_slow);
            let macd = by_fast - by_slow;
            by_signal = signal.next_mean(signal.weighted_value(macd), by_signal);
            (macds[place], signals[place], histograms[place]) = (macd, by_signal, macd - by_signal);
        }
        fast.set_mean(by_fast);
        slow.set_mean(by_slow);
        signal.set_mean(by_signal);
    }

    /// Returns the number of candles until the first result, which is `slow` + `signal` - 1.
    pub fn candles_to_first_value(&self) -> usize {
        self.slow.warmup() + self.signal.warmup() - 1
    }

    /// Returns the number of candles after which the start of the series no longer matters.
    /// The number is 397 for periods of 12, 26 and 9.
    pub fn warmup(&self) -> usize {
        self.candles_to_first_value() + self.slow.memory_length() + self.signal.memory_length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Candle;
    use crate::indicator::tests::{COUNT, END, check, series};
    use crate::testkit::random_walk;
    use proptest::prelude::*;
    use ta_lib::Core;

    #[test]
    fn batches_equal_single_updates() {
        let closes: Vec<f64> = random_walk(1, 300).iter().map(Candle::close).collect();
        let mut values = closes.clone();
        (values[150], values[151], values[240]) = (f64::NAN, f64::INFINITY, 1e300);
        for (values, at_once) in [(&closes, 64), (&closes, 7), (&values, 64), (&values, 1)] {
            let [mut one, mut other] = [9, 21].map(|period| Ema::new(period).unwrap());
            let mut macd = Macd::new(12, 26, 9).unwrap();
            let (mut first, mut second, mut alone) = (one.clone(), other.clone(), macd.clone());
            for values in values.chunks(at_once) {
                let [mut fast, mut slow, mut a, mut b, mut c] = [0; 5].map(|_| vec![0.0; values.len()]);
                Ema::update_batch([&mut one, &mut other], values, [&mut fast, &mut slow]);
                macd.update_batch(values, [&mut a, &mut b, &mut c]);
                for (place, value) in values.iter().enumerate() {
                    let averages =
                        [&mut first, &mut second].map(|ema| ema.update(*value).unwrap_or(f64::NAN));
                    let lines = alone.update(*value);
                    let lines = lines.map_or([f64::NAN; 3], |own| [own.macd, own.signal, own.histogram]);
                    let found = [&fast, &slow, &a, &b, &c].map(|line| line[place]);
                    let bits = |value: &f64| if value.is_nan() { None } else { Some(value.to_bits()) };
                    assert!(found.iter().map(bits).eq(averages.iter().chain(&lines).map(bits)), "{place}");
                }
            }
        }
    }

    #[test]
    fn forgets_jumps_completely() {
        let mut wma = Wma::new(5).unwrap();
        let answers: Vec<_> =
            [1e90, 1.0, 2.0, 3.0, 4.0, 5.0].iter().map(|value| wma.update(*value)).collect();
        // The expected value is (1 + 4 + 9 + 16 + 25) / 15.
        assert_eq!(answers[5], Some(55.0 / 15.0));
    }

    proptest! {
        #[test]
        fn weighted_averages_agree_with_port(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 4..60_usize,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let closes: Vec<f64> = candles.iter().map(Candle::close).collect();
            let (core, mut half, mut full) = (Core::new(), [0.0; COUNT], [0.0; COUNT]);
            core.wma(0, END, &closes, period as i32 / 2, &mut half).unwrap();
            core.wma(0, END, &closes, period as i32, &mut full).unwrap();
            let raw: Vec<f64> = (0..COUNT + 1 - period).map(|i| 2.0 * half[i + period - period / 2] - full[i]).collect();
            let mut expected = [0.0; COUNT];
            let root = f64::from(period as u32).sqrt().floor() as i32;
            core.wma(0, raw.len() - 1, &raw, root, &mut expected).unwrap();
            let mut hull = Hull::new(period).unwrap();
            check(&candles, (hull.warmup(), closes[0]), [&expected], |candle| Some([hull.update(candle.close())?]));
        }
    }
}
