//! How much an account stakes on a trade: a rule fixed beforehand, fed with what was known at the open.

use super::{EdgeTestPlan, Overlap};

/// The weight of the plan's own guess of the edge against the returns seen, in trades.
const PRIOR_TRADES: f64 = 400.0;

/// The most that is staked on one trade, whatever was seen.
const MAX_SHARE: f64 = 0.25;

/// The mean return of the settled trades, which both accounts stake by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeenReturns {
    count: u64,
    draws: u64,
    sum: f64,
}

impl SeenReturns {
    pub(super) const fn new() -> Self {
        Self { count: 0, draws: 0, sum: 0.0 }
    }

    pub(super) fn on_settled(&mut self, trade_return: f64) {
        self.count += 1;
        self.draws += u64::from(trade_return == 0.0);
        self.sum += trade_return;
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// The share of trades that were won or lost; 1 before the first.
    pub(super) fn decided_share(&self) -> f64 {
        if self.count == 0 { 1.0 } else { (self.count - self.draws) as f64 / self.count as f64 }
    }

    /// The mean return, drawn to `guess` as if `PRIOR_TRADES` independent trades had shown it.
    fn shrunk_mean(&self, guess: f64, variance_inflation: f64) -> f64 {
        let sum = guess.mul_add(PRIOR_TRADES, self.sum / variance_inflation);
        sum / (PRIOR_TRADES + self.count as f64 / variance_inflation)
    }

    /// lambda of the account that bets on an edge: the Kelly fraction `e / b` of the edge `e` that is believed in, and
    /// less by the variance inflation, since trades in step are one trade of their stakes together.
    ///
    /// No edge below half of delta is believed: nobody looks for it, and an account that stops staking learns nothing.
    pub(super) fn edge_share(&self, plan: EdgeTestPlan, payout_fraction: f64, overlap: &Overlap) -> f64 {
        let inflation = overlap.variance_inflation();
        let edge = self.shrunk_mean(plan.delta(), inflation).max(plan.delta() / 2.0);
        (edge / payout_fraction / inflation).min(MAX_SHARE)
    }

    /// lambda of the mirror account, which bets on a shortfall from delta: it wins `(1 + delta) / (b - delta)` per unit
    /// where the trade loses, so that the Kelly fraction of the shortfall `delta - e` is `(delta - e) / (1 + delta)`.
    ///
    /// A payout not above delta has no such bet: nothing is staked.
    pub(super) fn mirror_share(&self, plan: EdgeTestPlan, payout_fraction: f64, overlap: &Overlap) -> f64 {
        if payout_fraction <= plan.delta() {
            return 0.0;
        }
        let inflation = overlap.variance_inflation();
        let shortfall = (plan.delta() - self.shrunk_mean(0.0, inflation)).max(plan.delta() / 2.0);
        (shortfall / (1.0 + plan.delta()) / inflation).min(MAX_SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(returns: &[f64], payout_fraction: f64, expected: (f64, f64)) {
        let mut seen = SeenReturns::new();
        for trade_return in returns {
            seen.on_settled(*trade_return);
        }
        let (plan, overlap) = (EdgeTestPlan::default(), Overlap::new());
        let edge = seen.edge_share(plan, payout_fraction, &overlap);
        let mirror = seen.mirror_share(plan, payout_fraction, &overlap);
        let close = (edge - expected.0).abs() < 1e-12 && (mirror - expected.1).abs() < 1e-12;
        assert!(close, "{} returns: {edge} and {mirror}, not {expected:?}", returns.len());
    }

    #[test]
    fn shares_are_the_kelly_fractions_of_what_is_believed() {
        check(&[], 0.8, (0.05, 0.04 / 1.04));
        // (400 x 0.04 + 100 x 0.8) / 500 = 0.192 and, for the mirror, (0 + 80) / 500: more than delta.
        check(&[0.8; 100], 0.8, (0.24, 0.02 / 1.04));
        // (16 - 100) / 500 is below half of delta; (0 - 100) / 500 is 0.24 short of it.
        check(&[-1.0; 100], 0.8, (0.025, 0.24 / 1.04));
        check(&[0.8; 400], 0.8, (MAX_SHARE, 0.02 / 1.04));
        check(&[], 0.04, (MAX_SHARE, 0.0));
    }

    #[test]
    fn draws_are_seen_as_trades_that_decide_nothing() {
        let mut seen = SeenReturns::new();
        assert_eq!(seen.decided_share(), 1.0);
        for trade_return in [0.0, 0.8, -1.0, 0.0] {
            seen.on_settled(trade_return);
        }
        assert_eq!((seen.decided_share(), seen.count()), (0.5, 4));
    }
}
