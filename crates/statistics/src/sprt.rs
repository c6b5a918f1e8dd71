//! Sequential probability ratio test: fast, but only valid for independent trades.

use crate::statistics_error::check_payout;
use crate::{EdgeTestPlan, StatisticsError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtDecision {
    Edge,
    NoEdge,
    Undecided,
}

/// Wald's sequential test of the break-even rate against the edge of a plan. For information only.
///
/// A win adds `ln(p1 / p0)` to the log-likelihood ratio, and a loss adds `ln((1 - p1) / (1 - p0))`. Here
/// `p0 = 1 / (1 + b)` and `p1 = (1 + delta) / (1 + b)`. The answer is *edge* at `ln((1 - beta) / alpha)`, or *no edge*
/// at `ln(beta / (1 - alpha))`. The first answer is final. Draws are excluded.
///
/// The test assumes independent trades. With three bots that take the same trade, a nominal error rate of 5 % becomes
/// 26 % in measurements. Use [`crate::EdgeTest`] instead.
///
/// Source: A. Wald, *Sequential Tests of Statistical Hypotheses* (1945).
#[derive(Clone, Debug, PartialEq)]
pub struct Sprt {
    plan: EdgeTestPlan,
    log_ratio: f64,
    answer: SprtDecision,
}

impl Sprt {
    pub const fn new(plan: EdgeTestPlan) -> Self {
        Self { plan, log_ratio: 0.0, answer: SprtDecision::Undecided }
    }

    pub fn on_win(&mut self, payout_fraction: f64) -> Result<SprtDecision, StatisticsError> {
        let (null, alternative) = self.rates(payout_fraction)?;
        Ok(self.add((alternative / null).ln()))
    }

    pub fn on_loss(&mut self, payout_fraction: f64) -> Result<SprtDecision, StatisticsError> {
        let (null, alternative) = self.rates(payout_fraction)?;
        Ok(self.add(((1.0 - alternative) / (1.0 - null)).ln()))
    }

    pub const fn decision(&self) -> SprtDecision {
        self.answer
    }

    pub const fn log_ratio(&self) -> f64 {
        self.log_ratio
    }

    fn rates(&self, payout_fraction: f64) -> Result<(f64, f64), StatisticsError> {
        let b = check_payout(payout_fraction)?;
        let alternative = (1.0 + self.plan.delta()) / (1.0 + b);
        if alternative < 1.0 {
            Ok((1.0 / (1.0 + b), alternative))
        } else {
            Err(StatisticsError::NotAnEdge { value: self.plan.delta() })
        }
    }

    fn add(&mut self, log_ratio: f64) -> SprtDecision {
        self.log_ratio += log_ratio;
        let (alpha, beta) = (self.plan.alpha(), self.plan.beta());
        if self.answer == SprtDecision::Undecided {
            if self.log_ratio >= ((1.0 - beta) / alpha).ln() {
                self.answer = SprtDecision::Edge;
            } else if self.log_ratio <= (beta / (1.0 - alpha)).ln() {
                self.answer = SprtDecision::NoEdge;
            }
        }
        self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_wald_bounds_and_latches_the_answer() {
        // ln((1 - 0.2) / 0.05) = ln 16 needs 29.09 wins of ln 1.1, and ln(0.2 / 0.95) needs 14.79 losses of ln 0.9.
        let plan = EdgeTestPlan::new(0.05, 0.2, 0.1).unwrap();
        let (mut up, mut down) = (Sprt::new(plan), Sprt::new(plan));
        let wins: Vec<_> = (0..30).map(|_| up.on_win(1.0).unwrap()).collect();
        assert_eq!((wins[28], wins[29]), (SprtDecision::Undecided, SprtDecision::Edge));
        let losses: Vec<_> = (0..15).map(|_| down.on_loss(1.0).unwrap()).collect();
        assert_eq!((losses[13], losses[14]), (SprtDecision::Undecided, SprtDecision::NoEdge));
        (0..60).for_each(|_| assert_eq!(up.on_loss(1.0), Ok(SprtDecision::Edge)));
    }

    #[test]
    fn rejects_payouts_below_the_edge() {
        let mut sprt = Sprt::new(EdgeTestPlan::default());
        assert!(sprt.on_win(0.0).is_err());
        assert_eq!(sprt.on_win(0.04), Err(StatisticsError::NotAnEdge { value: 0.04 }));
        assert_eq!(sprt.log_ratio(), 0.0);
    }
}
