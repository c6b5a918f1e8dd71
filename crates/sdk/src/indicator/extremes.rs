//! Highest high and lowest low in a sliding window of candles.

use super::{IndicatorError, check_period, is_usable};
use crate::Candle;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extremes {
    pub(super) highest: f64,
    pub(super) lowest: f64,
}

pub(super) type RecentExtremes = Window<Extremes>;

impl Extremes {
    #[inline]
    pub(super) const fn from_candle(candle: &Candle) -> Self {
        Self { highest: candle.high(), lowest: candle.low() }
    }
}

impl Merge for Extremes {
    #[inline]
    fn merge(self, later: Self) -> Self {
        Self { highest: self.highest.max(later.highest), lowest: self.lowest.min(later.lowest) }
    }
}

pub(super) trait Merge: Copy + Default {
    fn merge(self, later: Self) -> Self;
}

/// Sliding window that merges the last `period` values into one, such as their maximum.
/// The algorithm needs at most three merges per value (van Herk 1992, Gil and Werman 1993). Each block has `period`
/// values. At the end of a block, each slot is replaced by the merge of all values from this slot to the last one. The
/// next block overwrites slots that are no longer needed. Nothing is subtracted, so rounding errors do not accumulate.
#[derive(Clone, Debug)]
pub(super) struct Window<F> {
    slots: Box<[F]>,
    next: usize,
    current_block: F,
    is_full: bool,
}

impl<F: Merge> Window<F> {
    pub(super) fn new(period: usize) -> Self {
        let slots = vec![F::default(); period].into_boxed_slice();
        Self { slots, next: 0, current_block: F::default(), is_full: false }
    }

    #[inline]
    pub(super) fn update(&mut self, value: F) -> Option<F> {
        self.slots[self.next] = value;
        self.current_block = if self.next == 0 { value } else { self.current_block.merge(value) };
        self.next += 1;
        if self.next == self.slots.len() {
            self.finish_block();
            return Some(self.current_block);
        }
        self.is_full.then(|| self.slots[self.next].merge(self.current_block))
    }

    fn finish_block(&mut self) {
        for earlier in (0..self.slots.len() - 1).rev() {
            self.slots[earlier] = self.slots[earlier].merge(self.slots[earlier + 1]);
        }
        (self.next, self.is_full) = (0, true);
    }

    pub(super) fn period(&self) -> usize {
        self.slots.len()
    }
}

/// Donchian channel: the highest high and the lowest low of the last `period` candles, including the current candle.
/// Source: Donchian 1960, in Kaufman, *Trading Systems and Methods*. Matches TA-Lib `MAX` of highs and `MIN` of lows.
/// To detect a breakout, compare a close with the channel of the previous candle, which excludes the current candle.
#[derive(Clone, Debug)]
pub struct Donchian {
    window: RecentExtremes,
}

/// The three values of a [`Donchian`] channel at one candle, in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DonchianChannel {
    /// Highest high of the last `period` candles.
    pub upper: f64,
    /// Midpoint between `upper` and `lower`.
    pub middle: f64,
    /// Lowest low of the last `period` candles.
    pub lower: f64,
}

impl Donchian {
    /// Creates a channel over `period` candles. The period is at least 1, usually 20.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { window: RecentExtremes::new(check_period("donchian", period, 1)?) })
    }

    /// Processes the next candle and returns the channel, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<DonchianChannel> {
        if !is_usable(candle.high()) {
            return None;
        }
        let Extremes { highest: upper, lowest: lower } = self.window.update(Extremes::from_candle(candle))?;
        Some(DonchianChannel { upper, middle: f64::midpoint(upper, lower), lower })
    }

    /// Returns `period`, the number of candles until the first result. A result uses only the last `period` candles.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First value, last value and number of values of a stretch. A merge in the wrong order is detected.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Stretch(usize, usize, usize);

    impl Merge for Stretch {
        fn merge(self, later: Self) -> Self {
            assert_eq!(self.1 + 1, later.0, "stretches are folded in their order");
            Self(self.0, later.1, self.2 + later.2)
        }
    }

    #[test]
    fn folds_exactly_the_last_values() {
        for period in 1..9 {
            let mut window = Window::new(period);
            for value in 0..50 {
                let expected = (value + 1 >= period).then(|| Stretch(value + 1 - period, value, period));
                let found = window.update(Stretch(value, value, 1));
                assert_eq!(found, expected, "period {period}, value {value}");
            }
        }
    }

    #[derive(Clone, Copy, Debug, Default)]
    struct Counted;

    thread_local! {
        static FOLDS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    impl Merge for Counted {
        fn merge(self, _: Self) -> Self {
            FOLDS.set(FOLDS.get() + 1);
            self
        }
    }

    #[test]
    fn needs_at_most_three_folds_per_value() {
        for period in [1, 2, 20, 1_000] {
            let mut window = Window::new(period);
            FOLDS.set(0);
            (0..10_000).for_each(|_| _ = window.update(Counted));
            assert!(FOLDS.get() <= 30_000, "period {period}: {}", FOLDS.get());
        }
    }
}
