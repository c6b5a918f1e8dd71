//! Probability of ruin by number of trades.

use crate::binomial::binomial_density;

/// Cumulative probability of ruin within 1, 2, 3, ... trades.
#[derive(Clone, Debug, PartialEq)]
pub struct RuinCurve {
    within: Vec<f64>,
    error: f64,
}

impl RuinCurve {
    pub(super) fn new(within: Vec<f64>, error: f64) -> Self {
        Self { within, error }
    }

    pub(super) fn add_error(mut self, more: f64) -> Self {
        self.error += more;
        self
    }

    pub fn probability(&self) -> f64 {
        self.within.last().copied().unwrap_or(0.0)
    }

    pub fn risk_within(&self, trades: u32) -> f64 {
        match self.within.len().min(trades as usize) {
            0 => 0.0,
            at => self.within[at - 1],
        }
    }

    /// Returns the maximum error of a probability, due to rounding and dropped paths.
    /// For ladders on a coarse lattice, it is an estimate: the difference from a lattice twice as coarse.
    pub const fn error(&self) -> f64 {
        self.error
    }

    pub fn trades_until_risk(&self, probability: f64) -> Option<u32> {
        let before = self.within.partition_point(|within| *within < probability);
        (before < self.within.len()).then(|| before as u32 + 1)
    }

    /// Returns the mean number of trades until ruin, over paths that are ruined within the horizon.
    pub fn mean_trades_until_ruin(&self) -> Option<f64> {
        let ruined = self.probability();
        // sum(n (R(n) - R(n - 1))) = n R(n) - sum(R(k), k < n)
        let earlier: f64 = self.within.iter().rev().skip(1).sum();
        (ruined > 0.0).then(|| self.within.len() as f64 - earlier / ruined)
    }

    /// Converts a curve over decided trades into a curve over all trades, of which `draw_share` are draws.
    pub(super) fn with_draws(self, draw_share: f64) -> Self {
        if draw_share == 0.0 {
            return self;
        }
        let decided = |trades: u64| -> f64 {
            if draw_share == 1.0 {
                return 0.0;
            }
            let mean = trades as f64 * (1.0 - draw_share);
            let reach = 10.0 * (mean * draw_share).sqrt() + 10.0;
            let (from, to) = ((mean - reach).max(1.0) as u64, ((mean + reach) as u64).min(trades));
            (from..=to)
                .map(|m| self.within[m as usize - 1] * binomial_density(m, trades, 1.0 - draw_share))
                .sum()
        };
        let within = (1..=self.within.len() as u64).map(decided).collect();
        Self { within, error: self.error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_agrees_with_hand_computed_values() {
        let ruin = RuinCurve::new(vec![0.0, 0.25, 0.25, 0.5], 0.0);
        assert_eq!(ruin.probability(), 0.5);
        assert_eq!([ruin.risk_within(0), ruin.risk_within(2), ruin.risk_within(9)], [0.0, 0.25, 0.5]);
        assert_eq!(
            [0.1, 0.25, 0.3, 0.6].map(|at| ruin.trades_until_risk(at)),
            [Some(2), Some(2), Some(4), None]
        );
        assert_eq!(ruin.mean_trades_until_ruin(), Some(3.0)); // (2 x 0.25 + 4 x 0.25) / 0.5
        assert_eq!(RuinCurve::new(vec![0.0; 3], 0.0).mean_trades_until_ruin(), None);
    }

    #[test]
    fn draws_delay_ruin() {
        // Certain ruin at the first decided trade: P(not all are draws). At the third: P(at least three are decided).
        let trades = 500_u32;
        let at = |decided: usize| {
            let mut within = vec![0.0; decided - 1];
            within.resize(trades as usize, 1.0);
            RuinCurve::new(within, 0.0)
        };
        assert_eq!(at(1).with_draws(1.0).probability(), 0.0);
        for draw_share in [9e-8, 0.02, 0.5, 0.99] {
            let (first, third) = (at(1).with_draws(draw_share), at(3).with_draws(draw_share));
            for n in [1, 2, 3, 10, 100, trades] {
                let q: f64 = draw_share;
                let (all, p) = (f64::from(n), 1.0 - q);
                let none = q.powf(all);
                let few =
                    none + all * p * q.powf(all - 1.0) + all * (all - 1.0) / 2.0 * p * p * q.powf(all - 2.0);
                for (found, expected) in
                    [(first.risk_within(n), 1.0 - none), (third.risk_within(n), 1.0 - few)]
                {
                    assert!((found - expected).abs() < 1e-11, "{q} of {n}: {found}, not {expected}");
                }
            }
        }
    }
}
