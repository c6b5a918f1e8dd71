//! Successive halving: every set runs on the first part of the candles, the best of them on more, the last on all.
//!
//! Source: K. Jamieson, A. Talwalkar, *Non-stochastic Best Arm Identification and Hyperparameter Optimization*,
//! AISTATS (2016); the resource is the length of the candles.

use crate::SearchError;
use candlewick_sdk::Millis;
use std::ops::Range;

/// How hard and how often a field is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halving {
    /// One of so many goes on; each rung has so many times the candles of the one before.
    keep_one_in: u32,
    /// Runs of the last ones standing.
    rungs: u32,
}

impl Halving {
    /// Without any cut: one rung, of all candles.
    pub const NONE: Self = Self { keep_one_in: 1, rungs: 1 };

    /// Keeps one in so many on each of so many rungs, the last of which has all candles.
    ///
    /// # Errors
    /// [`SearchError::InvalidSearch`] unless one in 2 to 10 is kept, on 2 to 8 rungs.
    pub fn new(keep_one_in: u32, rungs: u32) -> Result<Self, SearchError> {
        if (2..=10).contains(&keep_one_in) && (2..=8).contains(&rungs) {
            return Ok(Self { keep_one_in, rungs });
        }
        let problem = format!(
            "halving that keeps one in {keep_one_in} on {rungs} rungs: keep one in 2 to 10, on 2 to 8 rungs"
        );
        Err(SearchError::InvalidSearch { problem })
    }

    /// How many rungs there are.
    pub const fn rungs(self) -> u32 {
        self.rungs
    }

    /// One of so many goes on.
    pub const fn keep_one_in(self) -> u32 {
        self.keep_one_in
    }

    /// How many of so many goes on from a rung: at least one.
    pub(crate) fn kept(self, of: usize) -> usize {
        of.div_ceil(self.keep_one_in as usize)
    }

    /// What part of the candles a rung has.
    pub(crate) fn share(self, rung: u32) -> f64 {
        1.0 / f64::from(self.keep_one_in).powi((self.rungs - 1).saturating_sub(rung) as i32)
    }

    /// Where the candles of a rung end.
    pub(crate) fn until(self, rung: u32, span: &Range<Millis>) -> Millis {
        if rung + 1 >= self.rungs {
            return Millis::MAX;
        }
        let length = (span.end - span.start).get() as f64;
        span.start + Millis::new((length * self.share(rung)) as i64)
    }

    /// How many decided trades count as enough on a rung, when so many do in the end.
    pub(crate) fn min_trades(self, rung: u32, in_the_end: u64) -> u64 {
        (in_the_end as f64 * self.share(rung)).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rung_has_fewer_sets_and_more_candles() {
        let halving = Halving::new(3, 3).unwrap();
        let span = Millis::new(1_000)..Millis::new(10_000);
        let untils: Vec<i64> = (0..3).map(|rung| halving.until(rung, &span).get()).collect();
        assert_eq!(untils, [2_000, 4_000, i64::MAX]);
        assert_eq!([halving.kept(27), halving.kept(9), halving.kept(10), halving.kept(1)], [9, 3, 4, 1]);
        assert_eq!([0, 1, 2].map(|rung| halving.min_trades(rung, 30)), [4, 10, 30]);
    }

    #[test]
    fn without_halving_there_is_one_rung_of_everything() {
        let span = Millis::new(1_000)..Millis::new(10_000);
        assert_eq!((Halving::NONE.until(0, &span), Halving::NONE.kept(7)), (Millis::MAX, 7));
        assert!(Halving::NONE.share(0) == 1.0 && Halving::NONE.min_trades(0, 30) == 30);
    }

    #[test]
    fn a_cut_that_is_none_or_leaves_nothing_is_refused() {
        for (keep_one_in, rungs) in [(1, 3), (11, 3), (3, 1), (3, 9)] {
            assert!(Halving::new(keep_one_in, rungs).is_err(), "{keep_one_in} {rungs}");
        }
    }
}
