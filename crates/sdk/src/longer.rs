//! The longer candles that a strategy sees besides its bot's own.

use crate::{Candle, Interval, ResampleError, Resampler, Strategy};

/// Joins a bot's candles to those of the [longer intervals](Strategy::longer_intervals) that its strategy asked for.
///
/// Whoever runs a strategy, live, in a backtest or in a test, shows it candles through this, and so in the same order.
#[derive(Clone, Debug, Default)]
pub struct LongerCandles {
    /// Shorter first.
    resamplers: Vec<Resampler>,
}

impl LongerCandles {
    /// Of a strategy whose bot has candles of the length `own`.
    ///
    /// # Errors
    /// [`ResampleError`] for an interval that is not a multiple of `own`, or not longer.
    pub fn new(own: Interval, wanted: &[Interval]) -> Result<Self, ResampleError> {
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let resampler = |to: Interval| match Resampler::new(own, to) {
            Ok(_) if to == own => Err(ResampleError::NotLonger { from: own, to }),
            made => made,
        };
        Ok(Self { resamplers: wanted.into_iter().map(resampler).collect::<Result<_, _>>()? })
    }

    /// Whether the strategy asked for none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.resamplers.is_empty()
    }

    /// Takes the bot's next candle, after the strategy has seen it, and shows the strategy the longer ones that it
    /// completes: shorter ones first.
    pub fn show(&mut self, candle: &Candle, strategy: &mut dyn Strategy) {
        for resampler in &mut self.resamplers {
            if let Some(longer) = resampler.push(candle) {
                strategy.on_longer_candle(resampler.interval(), &longer);
            }
        }
    }

    /// How many of these candles, counted back from the last, show a strategy what `warmup` candles without a gap show it: at
    /// least so many, and more where candles are missing, since then fewer longer ones are made of as many. None where all
    /// of these candles are too few.
    ///
    /// Of `w` candles in a row, `r` of which make a longer one, at least `(w + 1) / r - 1` longer ones are made, whole numbers, wherever
    /// the first of them lies.
    pub fn history(&self, warmup: usize, candles: &[Candle]) -> Option<usize> {
        let starts = self.resamplers.iter().map(|resampler| resampler.history(warmup, candles));
        starts
            .chain([(candles.len() >= warmup).then_some(warmup)])
            .try_fold(0, |most, own| own.map(|own| most.max(own)))
    }

    /// How many longer candles were not made because one of the bot's own inside them is missing.
    pub fn incomplete(&self) -> u64 {
        self.resamplers.iter().map(Resampler::incomplete).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Millis, Ohlcv, Signal};

    /// Writes down what it sees.
    struct Recording {
        seen: Vec<String>,
    }

    impl Strategy for Recording {
        fn warmup(&self) -> usize {
            0
        }

        fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
            self.seen.push(format!("{}", candle.time().get() / 60_000));
            None
        }

        fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
            self.seen.push(format!("{interval} of {}", candle.time().get() / 60_000));
        }
    }

    fn intervals(texts: &[&str]) -> Vec<Interval> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn only_closed_candles_are_seen_and_at_one_instant_the_shorter_first() {
        let mut longer = LongerCandles::new(Interval::MINUTE, &intervals(&["4m", "2m", "4m"])).unwrap();
        let mut recording = Recording { seen: Vec::new() };
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        for minute in [0, 1, 2, 3, 4, 6, 7] {
            let candle = Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap();
            recording.on_candle(&candle);
            longer.show(&candle, &mut recording);
        }
        let expected = ["0", "1", "2m of 0", "2", "3", "2m of 2", "4m of 0", "4", "6", "7", "2m of 6"];
        assert_eq!(recording.seen, expected);
        assert_eq!(longer.incomplete(), 1, "2m of 4; 4m of 4 is not over yet");
    }

    /// Candles of these minutes.
    fn minutes(minutes: impl IntoIterator<Item = i64>) -> Vec<Candle> {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = |minute| Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap();
        minutes.into_iter().map(candle).collect()
    }

    #[test]
    fn where_candles_are_missing_a_strategy_is_shown_more_of_them() {
        let longer = LongerCandles::new(Interval::MINUTE, &intervals(&["5m"])).unwrap();
        // Of 19 in a row, three longer ones are whole wherever they begin.
        for (warmup, missing, expected) in [
            (19, None, Some(19)),
            // 5 to 9, 10 to 14 and 20 to 24 are whole: 3 longer ones, and 23 candles are there from minute 5 to 28.
            (19, Some(17), Some(23)),
            // One is enough, and 20 to 24 is there.
            (9, Some(17), Some(9)),
            // Two are wanted: of 14 candles, only 20 to 24 is whole, so 10 to 14 has to be shown, from minute 10 to 28, but for one.
            (14, Some(17), Some(18)),
            (28, None, Some(28)),
            (29, None, Some(29)),
            (30, None, None),
            // Four are wanted, and but for 15 to 19 all are whole: from the first on.
            (28, Some(17), Some(28)),
            (24, Some(17), Some(28)),
            (0, Some(17), Some(0)),
        ] {
            let candles = minutes((0..29).filter(|minute| Some(*minute) != missing));
            assert_eq!(longer.history(warmup, &candles), expected, "{warmup} {missing:?}");
        }
        let none = LongerCandles::default();
        assert_eq!([2, 3, 4].map(|warmup| none.history(warmup, &minutes(0..3))), [Some(2), Some(3), None]);
    }

    #[test]
    fn intervals_that_are_not_longer_multiples_are_refused() {
        for (wanted, expected) in [
            ("90s", "90s is not a multiple of 1m"),
            ("1m", "1m is not longer than 1m"),
            ("30s", "30s is not a multiple of 1m"),
        ] {
            let error = LongerCandles::new(Interval::MINUTE, &intervals(&["2m", wanted])).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        assert!(LongerCandles::new(Interval::MINUTE, &[]).unwrap().is_empty());
    }
}
