//! Number of trades needed to find an edge.

use crate::statistics_error::{check_error_rate, check_payout, check_probability};
use crate::{
    EdgeTestPlan, PathBatch, StatisticsError, StreamDependence, TradeStream, VerdictRates, WinRate,
    binomial_p_value,
};
use statrs::distribution::{ContinuousCDF, Normal};

pub const MAX_PLANNED_TRADES: u64 = 200_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TradePlan {
    payout_fraction: f64,
    null: f64,
    win_probability: f64,
    alpha: f64,
    power: f64,
}

impl TradePlan {
    /// Creates a plan to detect an edge of `points` percentage points above the break-even rate of `payout_fraction`. A
    /// one-sided test with error rate `alpha` must detect the edge with a probability of `power`.
    pub fn new(payout_fraction: f64, points: f64, alpha: f64, power: f64) -> Result<Self, StatisticsError> {
        let null = 1.0 / (1.0 + check_payout(payout_fraction)?);
        let win_probability = check_probability("win rate", null + points / 100.0)?;
        if win_probability <= null {
            return Err(StatisticsError::NotAnEdge { value: points });
        }
        let (alpha, power) = (check_error_rate(alpha)?, check_error_rate(power)?);
        Ok(Self { payout_fraction, null, win_probability, alpha, power })
    }

    /// Returns the required number of trades by the normal approximation. The result is a few percent too low.
    ///
    /// Formula, rounded to the nearest trade: `((z_alpha sqrt(p0 q0) + z_power sqrt(p1 q1)) / (p1 - p0))^2` (J. L.
    /// Fleiss, B. Levin and M. C. Paik, *Statistical Methods for Rates and Proportions* (2003), section 2.5).
    pub fn approximate_trades_needed(&self) -> u64 {
        let (p0, p1) = (self.null, self.win_probability);
        let z = |probability| Normal::standard().inverse_cdf(probability);
        let sigma = z(1.0 - self.alpha) * (p0 * (1.0 - p0)).sqrt() + z(self.power) * (p1 * (1.0 - p1)).sqrt();
        (sigma / (p1 - p0)).powi(2).round().max(1.0) as u64
    }

    /// Returns the required number of trades for the exact one-sided binomial test.
    /// Larger numbers also suffice: the power drops where one more win is required, but not below the planned power.
    pub fn exact_trades_needed(&self) -> Result<u64, StatisticsError> {
        // The win rates differ by one win per 1 / (p1 - p0) trades. The power drops about once in twice as many trades.
        let tooth = 1.0 / (self.win_probability - self.null);
        let start = self.approximate_trades_needed() + (6.0 * tooth) as u64 + 50;
        if start > MAX_PLANNED_TRADES {
            return Err(StatisticsError::TooManyTrades { trades: start, most: MAX_PLANNED_TRADES });
        }
        let mut critical = self.critical_wins(start, 0)?;
        for trades in (1..=start).rev() {
            // With one trade fewer, the test requires the same number of wins or one fewer.
            critical = self.critical_wins(trades, critical.saturating_sub(2))?;
            let has_power = critical <= trades
                && binomial_p_value(WinRate::new(critical, trades - critical)?, self.win_probability)?
                    >= self.power;
            if !has_power {
                return Ok(trades + 1);
            }
        }
        Ok(1)
    }

    fn critical_wins(&self, trades: u64, from: u64) -> Result<u64, StatisticsError> {
        let is_significant = |won: u64| {
            WinRate::new(won, trades - won)
                .and_then(|rate| binomial_p_value(rate, self.null))
                .map(|p| p <= self.alpha)
        };
        let (mut below, mut reached) = (from.min(trades), trades + 1);
        while below < reached {
            let middle = below.midpoint(reached);
            if middle <= trades && !is_significant(middle)? {
                below = middle + 1;
            } else {
                reached = middle;
            }
        }
        Ok(reached)
    }

    /// Simulates the number of trades until [`crate::EdgeTest`] reaches a verdict on trades with the planned edge.
    /// Checks the verdict after every trade, on `paths` paths of at most `most_trades` trades. The test's
    /// error rates and `delta` come from `plan`.
    pub fn simulate_verdicts(
        &self,
        plan: EdgeTestPlan,
        seed: u64,
        paths: u64,
        most_trades: u64,
    ) -> Result<VerdictRates, StatisticsError> {
        let points = 100.0 * (self.win_probability - self.null);
        let stream = TradeStream::new(StreamDependence::Independent, &[self.payout_fraction], points, 0.0)?;
        let range = PathBatch { seed, first_path: 0, paths, trades: most_trades };
        Ok(VerdictRates::simulate(plan, &stream, range))
    }

    pub const fn win_probability(&self) -> f64 {
        self.win_probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::rows;

    #[test]
    fn plans_equal_the_reference_figures() {
        for [payout, points, alpha, power, normal, exact] in rows(include_str!("../reference/planner.csv")) {
            let plan = TradePlan::new(payout / 100.0, points, alpha, power).unwrap();
            let found = (plan.approximate_trades_needed(), plan.exact_trades_needed());
            assert_eq!(found, (normal as u64, Ok(exact as u64)), "{payout} {points} {alpha} {power}");
        }
    }

    #[test]
    fn verdict_needs_more_trades_than_a_single_test() {
        let plan = TradePlan::new(0.85, 10.0, 0.05, 0.8).unwrap();
        // Ten points at payout 85 are 0.185 of the stake.
        let verdict = EdgeTestPlan::new(0.05, 0.05, 0.185).unwrap();
        let exact = plan.exact_trades_needed().unwrap();
        let trades =
            plan.simulate_verdicts(verdict, 1, 400, 2_000).unwrap().trades_until_edge_shown(0.8).unwrap();
        assert!(trades > exact && trades < 3 * exact, "{trades} against {exact}");
        assert_eq!(plan.simulate_verdicts(verdict, 1, 100, 20).unwrap().trades_until_edge_shown(0.8), None);
    }

    #[test]
    fn rejects_invalid_plans_of_trades() {
        for (payout, points, alpha, power) in [
            (0.0, 2.0, 0.05, 0.8),
            (0.85, 0.0, 0.05, 0.8),
            (0.85, -2.0, 0.05, 0.8),
            (0.85, 50.0, 0.05, 0.8),
            (0.85, f64::NAN, 0.05, 0.8),
            (0.85, 2.0, 0.0, 0.8),
            (0.85, 2.0, 0.05, 1.0),
        ] {
            let found = TradePlan::new(payout, points, alpha, power);
            assert!(found.is_err(), "{payout} {points} {alpha} {power}");
        }
        // `make_figures.py` for 0.2785755 points: 197797 by the normal formula, 198466 exactly. The search adds six
        // wins, each worth 358.97 trades, and 50 trades. Its range then ends at 200000.
        let most = TradePlan::new(0.85, 0.278_575_5, 0.05, 0.8).unwrap();
        assert_eq!(most.exact_trades_needed(), Ok(198_466));
        let more = TradePlan::new(0.85, 0.278_574_5, 0.05, 0.8).unwrap();
        let error = Err(StatisticsError::TooManyTrades { trades: 200_001, most: 200_000 });
        assert_eq!(more.exact_trades_needed(), error);
    }

    #[test]
    fn five_wins_are_the_minimum_for_significance() {
        // At payout 85, four wins of four have a probability of 8.5 % by chance, five of five 4.6 %. At a win rate of
        // 94 %, five wins of five have a probability of 73 %. Eight trades require eight wins: 62 %. Nine trades allow
        // one loss.
        let plan = TradePlan::new(0.85, 40.0, 0.05, 0.5).unwrap();
        assert!((plan.win_probability() - (1.0 / 1.85 + 0.4)).abs() < 1e-12);
        assert_eq!(plan.exact_trades_needed(), Ok(5));
    }
}
