//! Incremental building of long candles from short ones, for stored data, backtests and live runs.

use crate::{BotContext, Candle, Interval, Millis, Ohlcv, Signal, Strategy, Symbol, TradingWeek};
use std::ops::Range;

/// Incremental builder of long candles from short candles.
///
/// A long candle has the first open, highest high, lowest low, last close and total volume of its short candles.
/// By default, no short candle may be missing. [`with_coverage_rule`](Self::with_coverage_rule) sets another [rule](CoverageRule).
///
/// ```
/// use candlewick_sdk::{Candle, Interval, Millis, Ohlcv, Resampler};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut two_minutes = Resampler::new(Interval::MINUTE, "2m".parse()?)?;
/// let candle = |minute, price: f64| {
///     let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume: 1.0 };
///     Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers)
/// };
/// assert_eq!(two_minutes.push(&candle(0, 5.0)?), None);
/// let joined = two_minutes.push(&candle(1, 7.0)?).ok_or("no long candle")?;
/// assert_eq!((joined.open(), joined.close(), joined.volume()), (5.0, 7.0, 2.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Resampler {
    from: Interval,
    to: Interval,
    rule: CoverageRule,
    partial: Option<PartialCandle>,
    last_end: Option<Millis>,
    counts: ResampleCounts,
    staleness: Staleness,
    last_built: Option<Millis>,
    is_behind: bool,
}

/// Rule that decides whether a long candle is built if short candles are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CoverageRule {
    /// Builds a long candle only if no short candle is missing.
    #[default]
    Complete,
    /// Builds a long candle if its short candles cover a minimum share of the market hours.
    ///
    /// Skips an incomplete long candle if the market opens for less than a quarter of its time, as on Sundays.
    Share {
        /// Trading hours of the market.
        week: TradingWeek,
        /// Minimum share of the market hours in percent, in `(0, 100]`.
        percent: f64,
    },
}

/// Counters of the long candles that a [`Resampler`] built or skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResampleCounts {
    /// Number of long candles that were built, with or without gaps.
    pub built: u64,
    /// Number of long candles that were built with gaps.
    pub built_with_gaps: u64,
    /// Number of long candles that were not built because too many short candles were missing.
    pub unbuilt: u64,
}

/// Frequency and age of stale long candles. A long candle is stale if its successor could not be built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Staleness {
    /// Number of short candles pushed since the first long candle was built.
    pub candles: u64,
    /// Number of short candles pushed while the latest long candle was stale.
    pub stale_candles: u64,
    /// Maximum age of a stale long candle, measured from its close.
    pub max_age: Millis,
}

#[derive(Clone, Debug)]
struct PartialCandle {
    open_time: Millis,
    numbers: Ohlcv,
    short_candles: i64,
    /// Whether the series starts inside this long candle, so that the candle's open price is unknown.
    is_cut_off: bool,
}

/// Denominator of the minimum market hours of an incomplete long candle: 1/4 of its length.
const MIN_MARKET_HOURS_DIVISOR: i64 = 4;

/// Errors in the intervals passed to [`Resampler`] or [`LongerCandles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResampleError {
    /// The requested interval is not a multiple of the short candles' interval.
    #[error("{to} is not a multiple of {from}")]
    NotMultiple {
        /// Interval of the short candles.
        from: Interval,
        /// Requested interval.
        to: Interval,
    },
    /// The requested interval is not longer than the short candles' interval.
    #[error("{to} is not longer than {from}")]
    NotLonger {
        /// Interval of the short candles.
        from: Interval,
        /// Requested interval.
        to: Interval,
    },
}

impl CoverageRule {
    /// Default minimum share of the market hours covered by short candles, in percent.
    pub const DEFAULT_SHARE_PERCENT: f64 = 50.0;

    /// Returns [`Complete`](Self::Complete) if `percent` is `None`, otherwise [`Share`](Self::Share) for the symbol.
    pub fn for_symbol(symbol: Symbol, percent: Option<f64>) -> Self {
        percent
            .map_or(Self::Complete, |percent| Self::Share { week: TradingWeek::for_symbol(symbol), percent })
    }

    fn expected_coverage(self, range: &Range<Millis>) -> (Millis, bool) {
        let length = range.end - range.start;
        match self {
            Self::Complete => (length, true),
            Self::Share { week, .. } => match week.open_duration(range) {
                // The candle is outside the trading week, so the full length of the long candle is expected.
                Millis::ZERO => (length, true),
                open => (open, open * MIN_MARKET_HOURS_DIVISOR >= length),
            },
        }
    }

    fn is_market_closed(self, range: &Range<Millis>) -> bool {
        match self {
            Self::Complete => range.is_empty(),
            Self::Share { week, .. } => week.open_duration(range) == Millis::ZERO,
        }
    }
}

impl Resampler {
    /// Creates a resampler that builds candles with the interval `to` from candles with the interval `from`.
    /// Fails with [`ResampleError`] if `to` is not a multiple of `from`.
    pub fn new(from: Interval, to: Interval) -> Result<Self, ResampleError> {
        if !to.length().is_aligned_to(from.length()) {
            return Err(ResampleError::NotMultiple { from, to });
        }
        Ok(Self {
            from,
            to,
            rule: CoverageRule::Complete,
            partial: None,
            last_end: None,
            counts: ResampleCounts::default(),
            staleness: Staleness::default(),
            last_built: None,
            is_behind: false,
        })
    }

    /// Sets the rule for building long candles.
    #[must_use]
    pub const fn with_coverage_rule(self, rule: CoverageRule) -> Self {
        Self { rule, ..self }
    }

    /// Returns the interval of the long candles.
    pub const fn interval(&self) -> Interval {
        self.to
    }

    /// Ends the long candle in progress if it closes at or before `time`, the open of the next short candle.
    /// Returns the long candle if the [`CoverageRule`] is met. Call this before [`push`](Self::push).
    #[inline]
    pub fn finish_before(&mut self, time: Millis) -> Option<Candle> {
        let partial = self.partial.take_if(|partial| partial.open_time + self.to.length() <= time)?;
        self.build(&partial)
    }

    /// Adds the next short candle and returns the long candle that the short candle completes, if any.
    #[inline]
    pub fn push(&mut self, short: &Candle) -> Option<Candle> {
        self.finish_before(short.time());
        let end = short.close_time(self.from);
        match &mut self.partial {
            Some(partial) => partial.add(short),
            None => self.begin_candle(short),
        }
        self.last_end = Some(end);
        let ended = self.partial.take_if(|partial| partial.open_time + self.to.length() <= end);
        let built = ended.and_then(|partial| self.build(&partial));
        self.update_staleness(end);
        built
    }

    /// Ends the long candle in progress. Returns it if the market is closed for the rest of the candle and the
    /// [`CoverageRule`] is met. Call this after the last short candle.
    pub fn finish(&mut self) -> Option<Candle> {
        let (partial, end) = (self.partial.take()?, self.last_end?);
        let is_over = self.rule.is_market_closed(&(end..partial.open_time + self.to.length()));
        if is_over { self.build(&partial) } else { None }
    }

    pub(crate) fn required_history(&self, warmup: usize, candles: &[Candle]) -> Option<usize> {
        let each = usize::try_from(self.to.length().get() / self.from.length().get()).ok()?;
        let long = (warmup.saturating_add(1) / each).saturating_sub(1);
        let mut resampler = Self::new(self.from, self.to).ok()?.with_coverage_rule(self.rule);
        // Index of the first short candle of each long candle.
        let (mut begins, mut begin) = (Vec::new(), 0);
        for (place, candle) in candles.iter().enumerate() {
            begins.extend(resampler.finish_before(candle.time()).map(|_| begin));
            if resampler.partial.is_none() {
                begin = place;
            }
            begins.extend(resampler.push(candle).map(|_| begin));
        }
        let since = begins.len().checked_sub(long)?;
        let Some(begin) = begins.get(since).copied() else { return Some(0) };
        // Includes one more short candle, so that the first long candle is not cut off.
        let is_at_its_start = candles[begin].time().is_aligned_to(self.to.length());
        Some(candles.len() - if is_at_its_start { begin } else { begin.saturating_sub(1) })
    }

    /// Returns the counters of long candles. A long candle cut off by the start of the series is not counted.
    pub const fn counts(&self) -> ResampleCounts {
        self.counts
    }

    /// Returns the frequency and maximum age of stale long candles.
    pub const fn staleness(&self) -> Staleness {
        self.staleness
    }

    fn begin_candle(&mut self, short: &Candle) {
        let open_time = short.time().floor_to(self.to.length());
        let before = open_time..short.time();
        let is_cut_off = self.last_end.is_none() && !self.rule.is_market_closed(&before);
        let numbers = short.ohlcv();
        self.partial = Some(PartialCandle { open_time, numbers, short_candles: 1, is_cut_off });
    }

    fn build(&mut self, partial: &PartialCandle) -> Option<Candle> {
        let end = partial.open_time + self.to.length();
        let present = self.from.length() * partial.short_candles;
        let (expected, exists) = self.rule.expected_coverage(&(partial.open_time..end));
        let is_whole = present == self.to.length();
        if !is_whole && (partial.is_cut_off || !exists) {
            return None;
        }
        let has_share = match self.rule {
            CoverageRule::Complete => false,
            CoverageRule::Share { percent, .. } => {
                present.get() as f64 * 100.0 >= expected.get() as f64 * percent
            }
        };
        let is_built = is_whole || has_share;
        self.is_behind = !is_built;
        if !is_built {
            self.counts.unbuilt += 1;
            return None;
        }
        self.counts.built += 1;
        self.counts.built_with_gaps += u64::from(present < expected);
        self.last_built = Some(end);
        // Valid if the short candles are valid, unless their volumes overflow.
        Candle::new(partial.open_time, self.to, partial.numbers).ok()
    }

    fn update_staleness(&mut self, end: Millis) {
        let Some(built) = self.last_built else { return };
        self.staleness.candles += 1;
        if self.is_behind {
            self.staleness.stale_candles += 1;
            self.staleness.max_age = self.staleness.max_age.max(end - built);
        }
    }
}

impl PartialCandle {
    #[inline]
    fn add(&mut self, short: &Candle) {
        self.numbers.high = self.numbers.high.max(short.high());
        self.numbers.low = self.numbers.low.min(short.low());
        self.numbers.close = short.close();
        self.numbers.volume += short.volume();
        self.short_candles += 1;
    }
}

/// Builder of a strategy's [longer candles](Strategy::longer_intervals).
///
/// Live runs, backtests and tests all feed candles through this type, so the order of candles is always the same.
#[derive(Clone, Debug, Default)]
pub struct LongerCandles {
    /// Resamplers in ascending order of interval.
    resamplers: Vec<Resampler>,
}

impl LongerCandles {
    /// Creates a builder that combines candles of the interval `own` into candles of each `wanted` interval, with
    /// [`CoverageRule::Complete`]. Fails unless each `wanted` interval is longer than `own` and a multiple of `own`.
    pub fn new(own: Interval, wanted: &[Interval]) -> Result<Self, ResampleError> {
        Self::new_with_coverage_rule(own, wanted, CoverageRule::Complete)
    }

    /// Creates a builder with the bot's interval, market hours and [coverage](BotContext::longer_share_percent).
    pub fn for_bot(bot: &BotContext, wanted: &[Interval]) -> Result<Self, ResampleError> {
        Self::new_with_coverage_rule(
            bot.interval,
            wanted,
            CoverageRule::for_symbol(bot.symbol, bot.longer_share_percent),
        )
    }

    /// Like [`new`](Self::new), but applies the given rule.
    pub fn new_with_coverage_rule(
        own: Interval,
        wanted: &[Interval],
        rule: CoverageRule,
    ) -> Result<Self, ResampleError> {
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let resampler = |to: Interval| match Resampler::new(own, to) {
            Ok(_) if to == own => Err(ResampleError::NotLonger { from: own, to }),
            made => made.map(|resampler| resampler.with_coverage_rule(rule)),
        };
        Ok(Self { resamplers: wanted.into_iter().map(resampler).collect::<Result<_, _>>()? })
    }

    /// Returns `true` if the strategy uses only the bot's own interval.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.resamplers.is_empty()
    }

    /// Feeds the bot's next candle to the strategy and returns the strategy's signal.
    /// Also feeds the longer candles that ended before this candle or end with this candle.
    #[inline]
    pub fn feed_candle(&mut self, candle: &Candle, strategy: &mut dyn Strategy) -> Option<Signal> {
        self.feed_longer_candles_before(candle, strategy);
        let signal = strategy.on_candle(candle);
        self.feed_longer_candles_after(candle, strategy);
        signal
    }

    /// Feeds the strategy the longer candles that ended before the bot's next candle, shorter intervals first.
    #[inline]
    pub fn feed_longer_candles_before(&mut self, candle: &Candle, strategy: &mut dyn Strategy) {
        for resampler in &mut self.resamplers {
            if let Some(longer) = resampler.finish_before(candle.time()) {
                strategy.on_longer_candle(resampler.interval(), &longer);
            }
        }
    }

    /// Feeds the strategy the longer candles that the bot's candle completes, shorter intervals first.
    /// Call this after [`Strategy::on_candle`].
    pub fn feed_longer_candles_after(&mut self, candle: &Candle, strategy: &mut dyn Strategy) {
        for resampler in &mut self.resamplers {
            if let Some(longer) = resampler.push(candle) {
                strategy.on_longer_candle(resampler.interval(), &longer);
            }
        }
    }

    /// Returns how many of the last `candles` a strategy needs for its warm-up. `None` if there are too few.
    ///
    /// The result is `warmup`, or more if gaps in `candles` reduce the number of longer candles. Without gaps, `warmup`
    /// candles contain at least `(warmup + 1) / r - 1` longer candles of `r` candles each (integer division). With
    /// gaps, the history is extended until it contains as many.
    pub fn required_history(&self, warmup: usize, candles: &[Candle]) -> Option<usize> {
        let starts = self.resamplers.iter().map(|resampler| resampler.required_history(warmup, candles));
        starts
            .chain([(candles.len() >= warmup).then_some(warmup)])
            .try_fold(0, |most, own| own.map(|own| most.max(own)))
    }

    /// Returns the number of longer candles that were not built because too many of the bot's candles are missing.
    pub fn unbuilt_count(&self) -> u64 {
        self.resamplers.iter().map(|resampler| resampler.counts().unbuilt).sum()
    }

    /// Returns the interval whose longer candles were stale most often, with their staleness.
    /// `None` if no longer candle was ever stale.
    pub fn worst_staleness(&self) -> Option<(Interval, Staleness)> {
        let all = self.resamplers.iter().map(|resampler| (resampler.interval(), resampler.staleness()));
        all.filter(|(_, staleness)| staleness.stale_candles > 0)
            .max_by_key(|(_, staleness)| staleness.stale_candles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_long_candles_with_gaps_except_at_the_ends() {
        for (there, made, incomplete) in [
            (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9][..], &[0, 5][..], 0),
            (&[0, 1, 3, 4, 5, 6, 7, 8, 9], &[5], 1),
            (&[0, 1, 2, 3, 5, 6, 7, 8, 9], &[5], 1),
            (&[0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], &[0, 10], 1),
            (&[2, 3, 4, 5, 6, 7, 8, 9], &[5], 0),
            (&[0, 1, 2, 3, 4, 5, 6], &[0], 0),
            (&[0, 1, 2, 3, 4, 10, 11, 12, 13, 14], &[0, 10], 0),
            (&[4], &[], 0),
        ] {
            let mut resampler = Resampler::new(Interval::MINUTE, "5m".parse().unwrap()).unwrap();
            let candles = minutes(there.iter().copied());
            let long = candles.iter().filter_map(|candle| resampler.push(candle));
            let found: Vec<i64> = long.map(|long| long.time().get() / 60_000).collect();
            assert_eq!((found.as_slice(), resampler.counts().unbuilt), (made, incomplete), "{there:?}");
        }
    }

    #[test]
    fn rejects_lengths_that_do_not_divide() {
        let error = Resampler::new("30s".parse().unwrap(), "45s".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "45s is not a multiple of 30s");
    }

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
    fn feeds_only_closed_candles_shorter_intervals_first() {
        let mut longer = LongerCandles::new(Interval::MINUTE, &intervals(&["4m", "2m", "4m"])).unwrap();
        let mut recording = Recording { seen: Vec::new() };
        for candle in minutes([0, 1, 2, 3, 4, 6, 7]) {
            recording.on_candle(&candle);
            longer.feed_longer_candles_after(&candle, &mut recording);
        }
        let expected = ["0", "1", "2m of 0", "2", "3", "2m of 2", "4m of 0", "4", "6", "7", "2m of 6"];
        assert_eq!(recording.seen, expected);
        assert_eq!(longer.unbuilt_count(), 2, "2m of 4, and 4m of 4, which ended with 7");
    }

    #[test]
    fn feeds_longer_candle_that_ended_in_a_gap_before_the_next_candle() {
        let rule = CoverageRule::Share { week: TradingWeek::Always, percent: 50.0 };
        let mut longer =
            LongerCandles::new_with_coverage_rule(Interval::MINUTE, &intervals(&["2m", "4m"]), rule).unwrap();
        let mut recording = Recording { seen: Vec::new() };
        for candle in minutes([0, 1, 2, 5, 9, 10, 11, 12]) {
            longer.feed_candle(&candle, &mut recording);
        }
        // Candle 5 is half of `2m of 4`, but only a quarter of `4m of 4`.
        let expected = [
            "0", "1", "2m of 0", "2", "2m of 2", "4m of 0", "5", "2m of 4", "9", "2m of 8", "10", "11",
            "2m of 10", "4m of 8", "12",
        ];
        assert_eq!(recording.seen, expected);
        assert_eq!(longer.unbuilt_count(), 1, "4m of 4");
        // Stale at candles 9 and 10: the last 4m candle is `4m of 0`, which closed at minute 4. Candle 10 closes at 11.
        let (interval, staleness) = longer.worst_staleness().unwrap();
        let expected = Staleness { candles: 5, stale_candles: 2, max_age: Millis::MINUTE * 7 };
        assert_eq!((interval.to_string().as_str(), staleness), ("4m", expected));
    }

    #[test]
    fn friday_is_the_last_day_of_currencies_before_monday() {
        let rule = CoverageRule::for_symbol("EURUSD".parse().unwrap(), Some(50.0));
        let day: Interval = "1d".parse().unwrap();
        let mut longer = LongerCandles::new_with_coverage_rule(Interval::MINUTE, &[day], rule).unwrap();
        let mut recording = Recording { seen: Vec::new() };
        // Friday 2026-01-09 until 22:00, then from Sunday 22:00 to Monday 00:02.
        let friday = 20_462 * 1_440;
        let traded = (friday..friday + 22 * 60).chain(friday + 70 * 60..friday + 72 * 60 + 2);
        let mut before_sunday = None;
        for candle in minutes(traded) {
            if candle.time() == Millis::MINUTE * (friday + 70 * 60) {
                before_sunday = Some(recording.seen.len());
            }
            longer.feed_candle(&candle, &mut recording);
        }
        let days: Vec<usize> =
            (0..recording.seen.len()).filter(|at| recording.seen[*at].contains("1d")).collect();
        assert_eq!(days, [before_sunday.unwrap()], "right before the first candle of Sunday, and none of it");
        assert_eq!(recording.seen[days[0]], format!("1d of {friday}"));
    }

    fn minutes(minutes: impl IntoIterator<Item = i64>) -> Vec<Candle> {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = |minute| Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap();
        minutes.into_iter().map(candle).collect()
    }

    #[test]
    fn history_grows_with_missing_candles() {
        let longer = LongerCandles::new(Interval::MINUTE, &intervals(&["5m"])).unwrap();
        // 19 consecutive candles contain three whole longer candles, wherever they start.
        for (warmup, missing, expected) in [
            (19, None, Some(19)),
            // Three longer candles are whole: 5 to 9, 10 to 14 and 20 to 24. Minutes 5 to 28 have 23 candles.
            (19, Some(17), Some(23)),
            // One longer candle is required: 20 to 24 is whole.
            (9, Some(17), Some(9)),
            // Two longer candles are required: 10 to 14 and 20 to 24. Minutes 10 to 28 have 18 candles.
            (14, Some(17), Some(18)),
            (28, None, Some(28)),
            (29, None, Some(29)),
            (30, None, None),
            // Four longer candles are required. All except 15 to 19 are whole, so all candles are needed.
            (28, Some(17), Some(28)),
            (24, Some(17), Some(28)),
            (0, Some(17), Some(0)),
        ] {
            let candles = minutes((0..29).filter(|minute| Some(*minute) != missing));
            assert_eq!(longer.required_history(warmup, &candles), expected, "{warmup} {missing:?}");
        }
        let none = LongerCandles::default();
        assert_eq!(
            [2, 3, 4].map(|warmup| none.required_history(warmup, &minutes(0..3))),
            [Some(2), Some(3), None]
        );
    }

    #[test]
    fn rejects_intervals_that_are_not_longer_multiples() {
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
