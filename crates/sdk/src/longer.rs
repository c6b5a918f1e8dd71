//! Longer candles that a strategy sees in addition to its bot's own.

use crate::{
    BotContext, Candle, Interval, LongerRule, ResampleError, Resampler, Signal, Staleness, Strategy,
};

/// Builder of a strategy's [longer candles](Strategy::longer_intervals).
///
/// Every driver of a strategy (live, backtest, test) feeds candles through this type, and so in the
/// same order.
#[derive(Clone, Debug, Default)]
pub struct LongerCandles {
    /// Resamplers, shorter intervals first.
    resamplers: Vec<Resampler>,
}

impl LongerCandles {
    /// Builds longer candles from the interval `own`, by [`LongerRule::Whole`].
    ///
    /// # Errors
    /// [`ResampleError`] unless each interval is a multiple of `own`, and longer.
    pub fn new(own: Interval, wanted: &[Interval]) -> Result<Self, ResampleError> {
        Self::with_rule(own, wanted, LongerRule::Whole)
    }

    /// Builds longer candles by the rule of a bot.
    ///
    /// # Errors
    /// Like [`new`](Self::new).
    pub fn of_bot(bot: &BotContext, wanted: &[Interval]) -> Result<Self, ResampleError> {
        Self::with_rule(bot.interval, wanted, LongerRule::of_symbol(bot.symbol, bot.longer_share_percent))
    }

    /// Like [`new`](Self::new), with another rule.
    ///
    /// # Errors
    /// Like [`new`](Self::new).
    pub fn with_rule(own: Interval, wanted: &[Interval], rule: LongerRule) -> Result<Self, ResampleError> {
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let resampler = |to: Interval| match Resampler::new(own, to) {
            Ok(_) if to == own => Err(ResampleError::NotLonger { from: own, to }),
            made => made.map(|resampler| resampler.with_rule(rule)),
        };
        Ok(Self { resamplers: wanted.into_iter().map(resampler).collect::<Result<_, _>>()? })
    }

    /// Returns whether the strategy requested no longer intervals.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.resamplers.is_empty()
    }

    /// Feeds the bot's next candle and returns the strategy's signal.
    ///
    /// Also feeds the longer candles that ended before it or end with it.
    #[inline]
    pub fn show_candle(&mut self, candle: &Candle, strategy: &mut dyn Strategy) -> Option<Signal> {
        self.show_ended(candle, strategy);
        let signal = strategy.on_candle(candle);
        self.show(candle, strategy);
        signal
    }

    /// Feeds the longer candles that ended before the bot's next one.
    ///
    /// Shorter intervals come first.
    #[inline]
    pub fn show_ended(&mut self, candle: &Candle, strategy: &mut dyn Strategy) {
        for resampler in &mut self.resamplers {
            if let Some(longer) = resampler.end_before(candle.time()) {
                strategy.on_longer_candle(resampler.interval(), &longer);
            }
        }
    }

    /// Feeds the longer candles that the bot's next candle completes.
    ///
    /// Call it after the strategy has seen the candle. Shorter intervals come first.
    pub fn show(&mut self, candle: &Candle, strategy: &mut dyn Strategy) {
        for resampler in &mut self.resamplers {
            if let Some(longer) = resampler.push(candle) {
                strategy.on_longer_candle(resampler.interval(), &longer);
            }
        }
    }

    /// Returns how many of the latest candles are worth `warmup` gapless ones.
    ///
    /// At least `warmup`, and more if candles are missing, as gaps reduce the number of longer
    /// candles. `None` if all `candles` are too few.
    ///
    /// `w` consecutive candles, `r` of which make a longer one, yield at least `(w + 1) / r - 1`
    /// longer ones in integer arithmetic, wherever they start.
    pub fn history(&self, warmup: usize, candles: &[Candle]) -> Option<usize> {
        let starts = self.resamplers.iter().map(|resampler| resampler.history(warmup, candles));
        starts
            .chain([(candles.len() >= warmup).then_some(warmup)])
            .try_fold(0, |most, own| own.map(|own| most.max(own)))
    }

    /// Returns the number of longer candles skipped for too many missing own candles.
    pub fn not_built(&self) -> u64 {
        self.resamplers.iter().map(|resampler| resampler.counts().not_built).sum()
    }

    /// Returns the interval whose last candle was stale most often, with its staleness.
    ///
    /// `None` if none was ever stale.
    pub fn staleness(&self) -> Option<(Interval, Staleness)> {
        let all = self.resamplers.iter().map(|resampler| (resampler.interval(), resampler.staleness()));
        all.filter(|(_, staleness)| staleness.stale > 0).max_by_key(|(_, staleness)| staleness.stale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Millis, Ohlcv, TradingWeek};

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
        assert_eq!(longer.not_built(), 2, "2m of 4, and 4m of 4, which ended with 7");
    }

    #[test]
    fn a_longer_candle_that_ended_in_a_gap_is_seen_before_the_next_candle() {
        let rule = LongerRule::Share { week: TradingWeek::Always, percent: 50.0 };
        let mut longer = LongerCandles::with_rule(Interval::MINUTE, &intervals(&["2m", "4m"]), rule).unwrap();
        let mut recording = Recording { seen: Vec::new() };
        for candle in minutes([0, 1, 2, 5, 9, 10, 11, 12]) {
            longer.show_candle(&candle, &mut recording);
        }
        // 5 is the second half of its two minutes, and 4m of 4 has one minute in four.
        let expected = [
            "0", "1", "2m of 0", "2", "2m of 2", "4m of 0", "5", "2m of 4", "9", "2m of 8", "10", "11",
            "2m of 10", "4m of 8", "12",
        ];
        assert_eq!(recording.seen, expected);
        assert_eq!(longer.not_built(), 1, "4m of 4");
        // From 9 to 10, until 4m of 8 ended with 11: the last was that of 0, which ended at 4.
        let (interval, staleness) = longer.staleness().unwrap();
        let expected = Staleness { candles: 5, stale: 2, oldest: Millis::MINUTE * 7 };
        assert_eq!((interval.to_string().as_str(), staleness), ("4m", expected));
    }

    #[test]
    fn the_last_day_of_currencies_before_monday_is_friday() {
        let rule = LongerRule::of_symbol("EURUSD".parse().unwrap(), Some(50.0));
        let day: Interval = "1d".parse().unwrap();
        let mut longer = LongerCandles::with_rule(Interval::MINUTE, &[day], rule).unwrap();
        let mut recording = Recording { seen: Vec::new() };
        // 2026-01-09, a Friday, until 22:00; from Sunday 22:00 to Monday 00:02.
        let friday = 20_462 * 1_440;
        let traded = (friday..friday + 22 * 60).chain(friday + 70 * 60..friday + 72 * 60 + 2);
        let mut before_sunday = None;
        for candle in minutes(traded) {
            if candle.time() == Millis::MINUTE * (friday + 70 * 60) {
                before_sunday = Some(recording.seen.len());
            }
            longer.show_candle(&candle, &mut recording);
        }
        let days: Vec<usize> =
            (0..recording.seen.len()).filter(|at| recording.seen[*at].contains("1d")).collect();
        assert_eq!(
            days,
            [before_sunday.unwrap()],
            "right before the first candle of Sunday, and none of Sunday"
        );
        assert_eq!(recording.seen[days[0]], format!("1d of {friday}"));
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
