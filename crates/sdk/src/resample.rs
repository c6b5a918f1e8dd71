//! Long candles out of short ones, one by one: the same code for stored candles, a backtest and a live run.

use crate::{Candle, Interval, Millis, Ohlcv};

/// Joins short candles while they pass by, in order: first open, highest high, lowest low, last close, sum of volumes.
///
/// A long candle is made only when every short candle inside it was there.
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
/// let joined = two_minutes.push(&candle(1, 7.0)?).ok_or("both are there")?;
/// assert_eq!((joined.open(), joined.close(), joined.volume()), (5.0, 7.0, 2.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Resampler {
    from: Interval,
    to: Interval,
    /// Open time of the long candle that the last short one lies in.
    open_time: Option<Millis>,
    numbers: Ohlcv,
    /// The short candle that must come next; another one means that the long candle has a hole.
    expected: Option<Millis>,
    state: State,
    incomplete: u64,
}

/// What became of the long candle at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Short candles are still to come, or one is missing; the candles began at its start, or it is not the first.
    Open,
    /// The candles began inside it, so that nothing of it is missing in between.
    CutOff,
    /// It was made.
    Made,
}

/// Why short candles do not add up to long ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResampleError {
    /// No number of short candles is as long.
    #[error("{to} is not a multiple of {from}")]
    NotMultiple {
        /// The length of the short candles.
        from: Interval,
        /// The length that is no multiple of it.
        to: Interval,
    },
    /// Candles of the length that is there already were asked for as longer ones.
    #[error("{to} is not longer than {from}")]
    NotLonger {
        /// The length that is there.
        from: Interval,
        /// The length that was asked for.
        to: Interval,
    },
}

impl Resampler {
    /// From candles of one length to candles of a multiple of it.
    ///
    /// # Errors
    /// [`ResampleError`] when it is none.
    pub fn new(from: Interval, to: Interval) -> Result<Self, ResampleError> {
        if !to.length().is_aligned_to(from.length()) {
            return Err(ResampleError::NotMultiple { from, to });
        }
        let numbers = Ohlcv { open: 0.0, high: 0.0, low: 0.0, close: 0.0, volume: 0.0 };
        Ok(Self { from, to, open_time: None, numbers, expected: None, state: State::Made, incomplete: 0 })
    }

    /// The length of the candles that it makes.
    pub const fn interval(&self) -> Interval {
        self.to
    }

    /// Takes the next short candle and returns the long one that it completes.
    pub fn push(&mut self, short: &Candle) -> Option<Candle> {
        let open_time = short.time().floor_to(self.to.length());
        if self.open_time != Some(open_time) {
            self.begin(open_time, short);
        } else if self.expected == Some(short.time()) {
            self.numbers.high = self.numbers.high.max(short.high());
            self.numbers.low = self.numbers.low.min(short.low());
            self.numbers.close = short.close();
            self.numbers.volume += short.volume();
        } else {
            self.expected = None;
            return None;
        }
        let end = short.close_time(self.from);
        if self.expected.is_none() && short.time() != open_time {
            return None;
        }
        if end < open_time + self.to.length() {
            self.expected = Some(end);
            return None;
        }
        (self.expected, self.state) = (None, State::Made);
        // Sound whenever the short candles are, unless their volumes add up to infinity: then there is none.
        Candle::new(open_time, self.to, self.numbers).ok()
    }

    /// How many of these candles, counted back from the last, make as many long ones as `wanted` without a gap make at least.
    pub(crate) fn history(&self, wanted: usize, candles: &[Candle]) -> Option<usize> {
        let each = usize::try_from(self.to.length().get() / self.from.length().get()).ok()?;
        let long = (wanted.saturating_add(1) / each).saturating_sub(1);
        let mut resampler = Self::new(self.from, self.to).ok()?;
        let ends = (0..candles.len()).filter(|place| resampler.push(&candles[*place]).is_some());
        let ends: Vec<usize> = ends.collect();
        let since = ends.len().checked_sub(long)?;
        ends.get(since).map_or(Some(0), |end| Some(candles.len() + each - 1 - end))
    }

    /// How many long candles were begun and never made, because a short one inside them is missing. One that the
    /// candles began in the middle of does not count.
    pub const fn incomplete(&self) -> u64 {
        self.incomplete
    }

    fn begin(&mut self, open_time: Millis, short: &Candle) {
        self.incomplete += u64::from(self.state == State::Open);
        let is_cut_off = self.open_time.is_none() && short.time() != open_time;
        self.state = if is_cut_off { State::CutOff } else { State::Open };
        self.open_time = Some(open_time);
        self.expected = None;
        self.numbers = Ohlcv {
            open: short.open(),
            high: short.high(),
            low: short.low(),
            close: short.close(),
            volume: short.volume(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minutes that are there; five-minute candles that are made, and how many are not.
    fn check(minutes: &[i64], made: &[i64], incomplete: u64) {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let mut resampler = Resampler::new(Interval::MINUTE, "5m".parse().unwrap()).unwrap();
        let candles = minutes
            .iter()
            .map(|minute| Candle::new(Millis::MINUTE * *minute, Interval::MINUTE, numbers).unwrap());
        let found: Vec<i64> = candles
            .filter_map(|candle| resampler.push(&candle))
            .map(|long| long.time().get() / 60_000)
            .collect();
        assert_eq!((found.as_slice(), resampler.incomplete()), (made, incomplete), "{minutes:?}");
    }

    #[test]
    fn a_long_candle_with_a_hole_is_not_made_but_counted() {
        check(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[0, 5], 0);
        check(&[0, 1, 3, 4, 5, 6, 7, 8, 9], &[5], 1);
        check(&[0, 1, 2, 3, 5, 6, 7, 8, 9], &[5], 1);
        check(&[0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], &[0, 10], 1);
    }

    #[test]
    fn one_that_the_candles_begin_or_end_in_does_not_count_nor_one_that_is_missing_whole() {
        check(&[2, 3, 4, 5, 6, 7, 8, 9], &[5], 0);
        check(&[0, 1, 2, 3, 4, 5, 6], &[0], 0);
        check(&[0, 1, 2, 3, 4, 10, 11, 12, 13, 14], &[0, 10], 0);
        check(&[4], &[], 0);
    }

    #[test]
    fn lengths_that_do_not_divide_are_refused() {
        let error = Resampler::new("30s".parse().unwrap(), "45s".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "45s is not a multiple of 30s");
    }
}
