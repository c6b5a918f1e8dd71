//! Supertrend.

use super::error::{checked_multiple, checked_period};
use super::{Atr, IndicatorError, is_usable};
use crate::{Candle, Direction};

/// Line that follows a trend at a multiple of the average true range.
///
/// It changes sides when a close crosses it (Seban 2008, in the usual form: (high + low) / 2,
/// Wilder's range).
///
/// The lower line only rises while closes stay above it, and the upper line only falls while closes
/// stay below it. The first trend falls until a close is above the upper line.
#[derive(Clone, Debug)]
pub struct Supertrend {
    multiple: f64,
    range: Atr,
    last: Option<Lines>,
}

#[derive(Clone, Copy, Debug)]
struct Lines {
    upper: f64,
    lower: f64,
    close: f64,
    trend: Direction,
}

/// Result of a [`Supertrend`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupertrendLine {
    /// Line in price units: below a rising trend, above a falling one.
    pub line: f64,
    /// [`Direction::Buy`] for a rising trend, [`Direction::Sell`] for a falling one.
    pub trend: Direction,
}

impl Supertrend {
    /// Creates a line at `multiple` ranges over `period` candles, at least 1.
    ///
    /// Usually period 10 and multiple 3.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`]; [`IndicatorError::ChangeMultiple`] outside (0, 1000].
    pub fn new(period: usize, multiple: f64) -> Result<Self, IndicatorError> {
        let range = Atr::new(checked_period("supertrend", period, 1)?)?;
        Ok(Self { multiple: checked_multiple("supertrend", multiple)?, range, last: None })
    }

    /// Processes the next candle and returns the line, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<SupertrendLine> {
        if !is_usable(candle.high()) {
            return None;
        }
        let distance = self.multiple * self.range.update(candle)?;
        let (middle, close) = (f64::midpoint(candle.high(), candle.low()), candle.close());
        let (mut upper, mut lower, mut trend) = (middle + distance, middle - distance, Direction::Sell);
        if let Some(last) = self.last {
            if last.close <= last.upper {
                upper = upper.min(last.upper);
            }
            if last.close >= last.lower {
                lower = lower.max(last.lower);
            }
            trend = match last.trend {
                Direction::Sell if close > upper => Direction::Buy,
                Direction::Buy if close < lower => Direction::Sell,
                unchanged => unchanged,
            };
        }
        self.last = Some(Lines { upper, lower, close, trend });
        let line = match trend {
            Direction::Buy => lower,
            Direction::Sell => upper,
        };
        Some(SupertrendLine { line, trend })
    }

    /// Returns the number of candles until the first value: `period` + 1.
    ///
    /// The influence of the series' start has no bound: two series with different starts agree once
    /// both have reversed. To decide the same live as in a backtest, a strategy should request
    /// several times as many candles as a trend lasts.
    pub fn warmup(&self) -> usize {
        self.range.warmup()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::oracle::{COUNT, END, series};
    use crate::testkit::{from_closes, random_walk};
    use proptest::prelude::*;
    use ta_lib::Core;

    /// The rules in words, all of them over again for each candle: the line of each side since it was last given up.
    fn plain(candles: &[Candle], ranges: &[f64], multiple: f64) -> Vec<(f64, bool)> {
        let middle = |i: usize| f64::midpoint(candles[i].high(), candles[i].low());
        let close = |i: usize| candles[i].close();
        let first = candles.len() - ranges.len();
        let (mut uppers, mut lowers, mut rises) = (Vec::new(), Vec::new(), vec![false]);
        for (index, range) in ranges.iter().enumerate() {
            let i = first + index;
            let (upper, lower) = (middle(i) + multiple * range, middle(i) - multiple * range);
            if index == 0 {
                (uppers, lowers) = (vec![upper], vec![lower]);
                continue;
            }
            let (before_upper, before_lower) = (uppers[index - 1], lowers[index - 1]);
            let keeps_upper = upper >= before_upper && close(i - 1) <= before_upper;
            let keeps_lower = lower <= before_lower && close(i - 1) >= before_lower;
            uppers.push(if keeps_upper { before_upper } else { upper });
            lowers.push(if keeps_lower { before_lower } else { lower });
            rises.push(if rises[index - 1] { close(i) >= lowers[index] } else { close(i) > uppers[index] });
        }
        (0..ranges.len()).map(|i| (if rises[i] { lowers[i] } else { uppers[i] }, rises[i])).collect()
    }

    proptest! {
        #[test]
        fn figures_are_those_of_the_plain_rules_over_the_ports_range(
            seed: u64, exponent in -6..6_i32, period in 2..60_usize, multiple in 0.5..4.0_f64,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), 339);
            let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
            let mut ranges = [0.0; COUNT];
            let (high, low, close) = (lane(Candle::high), lane(Candle::low), lane(Candle::close));
            Core::new().atr(0, END, &high, &low, &close, period as i32, &mut ranges).unwrap();
            let expected = plain(&candles, &ranges[..COUNT - period], multiple);
            let mut supertrend = Supertrend::new(period, multiple).unwrap();
            let answers: Vec<_> = candles.iter().map(|candle| supertrend.update(candle)).collect();
            prop_assert!(answers[..supertrend.warmup() - 1].iter().all(Option::is_none));
            let answers: Vec<_> = answers.into_iter().flatten().collect();
            prop_assert_eq!(answers.len(), expected.len());
            for (index, (answer, (line, rises))) in answers.iter().zip(expected).enumerate() {
                prop_assert_eq!(answer.trend == Direction::Buy, rises, "candle {}", index);
                prop_assert!((answer.line - line).abs() <= 1e-9 * line, "candle {index}: {answer:?} {line}");
            }
        }
    }

    #[test]
    fn the_line_changes_sides_when_a_close_passes_it_by_hand() {
        // Ranges over 1 are the candle's own: 1, 1, 5, 1, 6, with middles 10.5, 10.5, 12.5, 15.5, 13. At one range the lines above are
        // 11.5, 11.5, 11.5 (passed), 16.5, 16.5, the lines below 9.5, 9.5, 9.5, 14.5, 14.5 (passed).
        let mut supertrend = Supertrend::new(1, 1.0).unwrap();
        let candles = from_closes(&[10.0, 11.0, 10.0, 15.0, 16.0, 10.0]);
        let answers: Vec<_> = candles.iter().map(|candle| supertrend.update(candle)).collect();
        let line = |line, trend| Some(SupertrendLine { line, trend });
        let (rises, falls) = (Direction::Buy, Direction::Sell);
        assert_eq!(answers[..3], [None, line(11.5, falls), line(11.5, falls)]);
        assert_eq!(answers[3..], [line(9.5, rises), line(14.5, rises), line(16.5, falls)]);
    }

    #[test]
    fn a_later_start_agrees_once_both_have_turned() {
        let candles = random_walk(5, 3_000);
        let (mut early, mut late) = (Supertrend::new(10, 3.0).unwrap(), Supertrend::new(10, 3.0).unwrap());
        for (index, candle) in candles.iter().enumerate() {
            let early = early.update(candle);
            let late = if index < 500 { None } else { late.update(candle) };
            let (Some(early), Some(late)) = (early, late) else { continue };
            if index >= 1_500 {
                assert!(
                    early.trend == late.trend && (early.line - late.line).abs() < 1e-7,
                    "{index}: {early:?} {late:?}"
                );
            }
        }
    }
}
