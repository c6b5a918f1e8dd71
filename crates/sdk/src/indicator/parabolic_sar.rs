//! Parabolic stop and reverse.

use super::{IndicatorError, is_usable};
use crate::{Candle, Direction};

/// Trailing stop that accelerates, and reverses when the price reaches it.
///
/// Wilder 1978, TA-Lib `SAR`. The stop moves by a share of its distance from the trend's extreme.
/// The share grows by `step` with each new extreme, up to `limit`. The stop never enters the range
/// of the last two candles.
///
/// The first trend falls if the second candle extends further below the first than above it,
/// otherwise it rises.
#[derive(Clone, Debug)]
pub struct ParabolicSar {
    step: f64,
    limit: f64,
    previous: Option<Candle>,
    run: Option<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    trend: Direction,
    extreme: f64,
    share: f64,
    stop: f64,
}

/// Result of a [`ParabolicSar`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SarLine {
    /// Stop at this candle, in price units: below a rising trend, above a falling one.
    ///
    /// At the candle that reached the stop, it is the stop of the new trend.
    pub stop: f64,
    /// [`Direction::Buy`] for a rising trend, [`Direction::Sell`] for a falling one.
    pub trend: Direction,
}

impl ParabolicSar {
    /// Creates a stop that moves by `step` at first, up to `limit`.
    ///
    /// Usually 0.02 and 0.2.
    ///
    /// # Errors
    /// [`IndicatorError::ChangeAcceleration`] unless 0 < `step` <= `limit` <= 1.
    pub fn new(step: f64, limit: f64) -> Result<Self, IndicatorError> {
        if step > 0.0 && step <= limit && limit <= 1.0 {
            Ok(Self { step, limit, previous: None, run: None })
        } else {
            Err(IndicatorError::ChangeAcceleration { step, limit })
        }
    }

    /// Processes the next candle and returns the stop, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<SarLine> {
        if !is_usable(candle.high()) {
            return None;
        }
        let previous = self.previous.replace(*candle)?;
        let (highest, lowest) = (candle.high().max(previous.high()), candle.low().min(previous.low()));
        let (mut run, highest, lowest) = match self.run {
            Some(run) => (run, highest, lowest),
            // The first stop may lie inside the second candle: only that candle's own range counts there.
            None => (self.first(&previous, candle), candle.high(), candle.low()),
        };
        let outside = |trend: Direction, stop: f64| match trend {
            Direction::Buy => stop.min(lowest),
            Direction::Sell => stop.max(highest),
        };
        let (is_reached, is_further, extreme) = match run.trend {
            Direction::Buy => (candle.low() <= run.stop, candle.high() > run.extreme, candle.high()),
            Direction::Sell => (candle.high() >= run.stop, candle.low() < run.extreme, candle.low()),
        };
        if is_reached {
            let (trend, extreme) = match run.trend {
                Direction::Buy => (Direction::Sell, candle.low()),
                Direction::Sell => (Direction::Buy, candle.high()),
            };
            run = Run { trend, extreme, share: self.step, stop: outside(trend, run.extreme) };
        } else if is_further {
            (run.extreme, run.share) = (extreme, (run.share + self.step).min(self.limit));
        }
        let answer = SarLine { stop: run.stop, trend: run.trend };
        // One rounding, as in the port of TA-Lib: where prices stand still the last bit decides whether the stop is reached.
        run.stop = outside(run.trend, run.share.mul_add(run.extreme - run.stop, run.stop));
        self.run = Some(run);
        Some(answer)
    }

    fn first(&self, first: &Candle, second: &Candle) -> Run {
        let (up, down) = (second.high() - first.high(), first.low() - second.low());
        if down > 0.0 && down > up {
            Run { trend: Direction::Sell, extreme: second.low(), share: self.step, stop: first.high() }
        } else {
            Run { trend: Direction::Buy, extreme: second.high(), share: self.step, stop: first.low() }
        }
    }

    /// Returns the number of candles until the first value: 2.
    ///
    /// The influence of the series' start has no bound: two series with different starts agree once
    /// both have reversed at the same candle. To decide the same live as in a backtest, a strategy
    /// should request several times as many candles as a trend lasts.
    pub const fn warmup(&self) -> usize {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::oracle::{COUNT, END, check, series};
    use crate::testkit::random_walk;
    use crate::{Interval, Millis, Ohlcv};
    use proptest::prelude::*;
    use ta_lib::Core;

    proptest! {
        #[test]
        fn figures_are_those_of_the_port(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, step in 0.005..0.1_f64, more in 1.0..20.0_f64,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
            let (high, low, limit) = (lane(Candle::high), lane(Candle::low), (step * more).min(1.0));
            let mut expected = [0.0; COUNT];
            Core::new().sar(0, END, &high, &low, step, limit, &mut expected).unwrap();
            let mut sar = ParabolicSar::new(step, limit).unwrap();
            check(&candles, (sar.warmup(), high[0]), [&expected], |candle| Some([sar.update(candle)?.stop]));
        }
    }

    #[test]
    fn the_stop_speeds_up_and_turns_by_hand() {
        // The stop begins at the first low, 9, moves by a tenth of 12 - 9 to 9.3, then by two tenths of 14 - 9.3, but not above the low of
        // 9.5, then by three tenths of 15 - 9.5, but not above the low of 11. The last candle reaches it: the new stop is the extreme.
        let ranges = [(9.0, 10.0), (9.5, 12.0), (11.0, 14.0), (13.0, 15.0), (10.5, 14.0)];
        let mut sar = ParabolicSar::new(0.1, 0.5).unwrap();
        let answers = ranges.map(|(low, high)| {
            let numbers = Ohlcv { open: low, high, low, close: high, volume: 0.0 };
            sar.update(&Candle::new(Millis::ZERO, Interval::MINUTE, numbers).unwrap())
        });
        let line = |stop, trend| Some(SarLine { stop, trend });
        let (rises, falls) = (Direction::Buy, Direction::Sell);
        assert_eq!(answers[..2], [None, line(9.0, rises)]);
        assert!((answers[2].unwrap().stop - 9.3).abs() < 1e-12);
        assert_eq!(answers[3..], [line(9.5, rises), line(15.0, falls)]);
    }

    #[test]
    fn a_later_start_agrees_once_both_have_turned() {
        let candles = random_walk(5, 3_000);
        let (mut early, mut late) =
            (ParabolicSar::new(0.02, 0.2).unwrap(), ParabolicSar::new(0.02, 0.2).unwrap());
        for (index, candle) in candles.iter().enumerate() {
            let early = early.update(candle);
            let late = if index < 500 { None } else { late.update(candle) };
            assert!(index < 1_000 || early == late, "{index}: {early:?} {late:?}");
        }
    }
}
