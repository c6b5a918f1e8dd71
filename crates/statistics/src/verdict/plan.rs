//! Plan of an edge test, fixed before its first trade.

use crate::StatisticsError;
use crate::statistics_error::check_error_rate;
use serde::{Deserialize, Serialize};

/// Error rates of a verdict and the edge that it tests for.
///
/// Write the plan down (journal it) before the first trade: a verdict with a plan chosen later
/// proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeTestPlan {
    alpha: f64,
    beta: f64,
    delta: f64,
    watch_trades: u64,
}

impl EdgeTestPlan {
    const WATCH_TRADES: u64 = 10_000;

    /// Creates a plan from the maximum error rates and the edge.
    ///
    /// `alpha` is the maximum probability of a wrong *edge shown*, `beta` that of a wrong *no
    /// edge*. `delta` is the smallest edge worth finding as a return per unit of stake: 0.04 for
    /// four cents per unit.
    pub fn new(alpha: f64, beta: f64, delta: f64) -> Result<Self, StatisticsError> {
        if !(delta > 0.0 && delta <= 1.0) {
            return Err(StatisticsError::NotAnEdge { value: delta });
        }
        let (alpha, beta) = (check_error_rate(alpha)?, check_error_rate(beta)?);
        Ok(Self { alpha, beta, delta, watch_trades: Self::WATCH_TRADES })
    }

    pub const fn alpha(self) -> f64 {
        self.alpha
    }

    pub const fn beta(self) -> f64 {
        self.beta
    }

    pub const fn delta(self) -> f64 {
        self.delta
    }

    /// Returns the mean number of trades to a false alarm that a shown edge has ended.
    ///
    /// 0 disables the watch. See [`ChangeDetector`](crate::ChangeDetector).
    pub const fn watch_trades(self) -> u64 {
        self.watch_trades
    }

    #[must_use]
    pub const fn watching(self, watch_trades: u64) -> Self {
        Self { watch_trades, ..self }
    }
}

impl Default for EdgeTestPlan {
    /// Five percent for either error, and an edge of 0.04 per unit of stake: 2.2 points at payout
    /// 85.
    fn default() -> Self {
        Self { alpha: 0.05, beta: 0.05, delta: 0.04, watch_trades: Self::WATCH_TRADES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plans_that_can_err_and_can_find_are_accepted() {
        assert_eq!(EdgeTestPlan::new(0.05, 0.05, 0.04), Ok(EdgeTestPlan::default()));
        for (alpha, beta, delta) in [
            (0.0, 0.05, 0.04),
            (1.0, 0.05, 0.04),
            (f64::NAN, 0.05, 0.04),
            (0.05, 0.0, 0.04),
            (0.05, 1.5, 0.04),
            (0.05, 0.05, 0.0),
            (0.05, 0.05, 1.1),
            (0.05, 0.05, f64::NAN),
        ] {
            assert!(EdgeTestPlan::new(alpha, beta, delta).is_err(), "{alpha} {beta} {delta}");
        }
    }

    #[test]
    fn what_is_watched_for_is_as_set_and_all_else_as_before() {
        let plan = EdgeTestPlan::new(0.01, 0.02, 0.03).unwrap().watching(7);
        assert_eq!((plan.alpha(), plan.beta(), plan.delta(), plan.watch_trades()), (0.01, 0.02, 0.03, 7));
    }
}
