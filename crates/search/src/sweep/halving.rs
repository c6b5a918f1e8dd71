//! Successive halving: each rung runs the best sets on more candles, the last one on all.
//!
//! Source: K. Jamieson, A. Talwalkar, *Non-stochastic Best Arm Identification and Hyperparameter
//! Optimization*, AISTATS (2016). The resource is the length of the candles.

use crate::SearchError;
use candlewick_sdk::Millis;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halving {
    /// One in this many sets survives a rung, and the candles grow by the same factor.
    keep_one_in: u32,
    rungs: u32,
}

impl Halving {
    pub const NONE: Self = Self { keep_one_in: 1, rungs: 1 };

    /// Keeps one in 2 to 10 sets on each of 2 to 8 rungs.
    ///
    /// The last rung has all candles.
    pub fn new(keep_one_in: u32, rungs: u32) -> Result<Self, SearchError> {
        if (2..=10).contains(&keep_one_in) && (2..=8).contains(&rungs) {
            return Ok(Self { keep_one_in, rungs });
        }
        let problem = format!(
            "halving that keeps one in {keep_one_in} on {rungs} rungs: keep one in 2 to 10, on 2 to 8 rungs"
        );
        Err(SearchError::InvalidSearch { problem })
    }

    pub const fn rungs(self) -> u32 {
        self.rungs
    }

    pub const fn keep_one_in(self) -> u32 {
        self.keep_one_in
    }

    pub(crate) fn kept(self, of: usize) -> usize {
        of.div_ceil(self.keep_one_in as usize)
    }

    pub(crate) fn share(self, rung: u32) -> f64 {
        1.0 / f64::from(self.keep_one_in).powi((self.rungs - 1).saturating_sub(rung) as i32)
    }

    pub(crate) fn until(self, rung: u32, span: &Range<Millis>) -> Millis {
        if rung + 1 >= self.rungs {
            return Millis::MAX;
        }
        let length = (span.end - span.start).get() as f64;
        span.start + Millis::new((length * self.share(rung)) as i64)
    }

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
