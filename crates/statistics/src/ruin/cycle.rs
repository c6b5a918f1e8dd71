//! Cycles of a stake ladder, from one base stake to the next.

use super::{RuinParameters, StakePlan};
use crate::StatisticsError;

/// All outcomes of a ladder cycle. Balances and their changes are in the smallest unit of money.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cycle {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) cutoffs: Vec<CycleCutoff>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) trades: u32,
    pub(super) probability: f64,
    pub(super) change: i64,
    /// Minimum initial balance with which every stake of the cycle can be placed.
    pub(super) required_balance: u64,
}

/// A cycle cut short because the next stake cannot be placed, for initial balances in `from..below`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CycleCutoff {
    pub(super) trades: u32,
    pub(super) probability: f64,
    pub(super) balance_start: u64,
    pub(super) balance_end: u64,
}

impl Cycle {
    pub(super) fn new(
        question: &RuinParameters,
        stakes: &[u64],
        plan: &StakePlan,
    ) -> Result<Self, StatisticsError> {
        let base = *stakes.first().ok_or(StatisticsError::NotALadder { levels: 0 })?;
        if base < question.minimum_stake {
            let never = CycleCutoff { trades: 0, probability: 1.0, balance_start: 0, balance_end: u64::MAX };
            return Ok(Self { outcomes: Vec::new(), cutoffs: vec![never] });
        }
        Ok(match plan {
            StakePlan::Soros { .. } => Self::soros(question, stakes),
            StakePlan::Flat { .. }
            | StakePlan::Share { .. }
            | StakePlan::Kelly { .. }
            | StakePlan::Martingale { .. } => Self::martingale(question, stakes),
        })
    }

    /// Builds a cycle whose outcomes are a win at level `k` after `k` losses, or a loss of the whole ladder.
    /// A win earns the profit of its stake minus the previous losses.
    fn martingale(question: &RuinParameters, stakes: &[u64]) -> Self {
        let (p, q) = (question.win_probability, 1.0 - question.win_probability);
        let mut cycle = Self { outcomes: Vec::new(), cutoffs: Vec::new() };
        let (mut spent, mut reached) = (0_u64, 1.0);
        for (trades, &stake) in (0..).zip(stakes) {
            cycle.cutoffs.push(CycleCutoff {
                trades,
                probability: reached,
                balance_start: spent,
                balance_end: spent + stake,
            });
            cycle.outcomes.push(Outcome {
                trades: trades + 1,
                probability: reached * p,
                change: question.profit(stake).cast_signed() - spent.cast_signed(),
                required_balance: spent + stake,
            });
            spent += stake;
            reached *= q;
        }
        let trades = stakes.len() as u32;
        let all_lost =
            Outcome { trades, probability: reached, change: -spent.cast_signed(), required_balance: spent };
        cycle.outcomes.push(all_lost);
        cycle
    }

    /// Builds a cycle whose outcomes are a loss at level `k` after `k` wins, or a win at every level.
    /// A loss costs the profits of the previous wins and the base stake.
    fn soros(question: &RuinParameters, stakes: &[u64]) -> Self {
        let (p, q) = (question.win_probability, 1.0 - question.win_probability);
        let needs = stakes[0];
        let mut outcomes = Vec::new();
        let (mut earned, mut reached) = (0_u64, 1.0);
        for (trades, &stake) in (1..).zip(stakes) {
            let change = earned.cast_signed() - stake.cast_signed();
            outcomes.push(Outcome { trades, probability: reached * q, change, required_balance: needs });
            earned += question.profit(stake);
            reached *= p;
        }
        let trades = stakes.len() as u32;
        outcomes.push(Outcome {
            trades,
            probability: reached,
            change: earned.cast_signed(),
            required_balance: needs,
        });
        Self {
            outcomes,
            cutoffs: vec![CycleCutoff { trades: 0, probability: 1.0, balance_start: 0, balance_end: needs }],
        }
    }

    /// Returns an initial balance that covers the worst case of this number of trades.
    pub(super) fn worst_case_balance(&self, trades: u32) -> f64 {
        let needs = self.outcomes.iter().map(|outcome| outcome.required_balance).max().unwrap_or(0);
        let lost = |outcome: &Outcome| -(outcome.change as f64) / f64::from(outcome.trades);
        let worst = self.outcomes.iter().map(lost).fold(0.0, f64::max);
        worst * f64::from(trades) + needs as f64
    }

    /// Returns the mean and variance of the balance change of a cycle, and its mean number of trades.
    /// Assumes a balance with which every stake can be placed.
    pub(super) fn moments(&self) -> (f64, f64, f64) {
        let sum = |of: &dyn Fn(&Outcome) -> f64| -> f64 {
            self.outcomes.iter().map(|outcome| outcome.probability * of(outcome)).sum()
        };
        let mean = sum(&|outcome| outcome.change as f64);
        let square = sum(&|outcome| (outcome.change as f64).powi(2));
        (mean, square - mean * mean, sum(&|outcome| f64::from(outcome.trades)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_MONEY;
    use crate::ruin::tests::{LADDER, QUESTION_AT_80, cycle_of};

    const QUESTION: RuinParameters = RuinParameters { minimum_stake: 100, ..QUESTION_AT_80 };

    #[test]
    fn stakes_are_rounded_down_to_the_step() {
        let stakes = |plan: StakePlan| plan.stakes(&QUESTION).unwrap();
        let third = StakePlan::Martingale { base: 100, factor: 1.5, levels: 4, most_stake: 1_000, step: 100 };
        // 100, 150, 225, 337.
        assert_eq!(stakes(third), [100, 100, 200, 300]);
        // At payout 80, a win adds to the stake: 107 stakes 100; 180: 180; 180 + 144 = 324: 320; 320 + 256 = 576.
        let soros = |most_stake| StakePlan::Soros { base: 107, wins: 3, most_stake, step: 10 };
        assert_eq!(stakes(soros(MAX_MONEY)), [100, 180, 320, 570]);
        // A maximum of 205 is rounded to 200; 200 + 160 = 360.
        assert_eq!(stakes(soros(205)), [100, 180, 200, 200]);
        let capped = StakePlan::Martingale { base: 100, factor: 3.0, levels: 3, most_stake: 250, step: 1 };
        assert_eq!(stakes(capped), [100, 250, 250]);
    }

    #[test]
    fn soros_cycle_matches_hand_computation() {
        // 100, then 180, then 324: each loss costs the base, and three wins earn 80 + 144 + 259.2, rounded.
        let plan = StakePlan::Soros { base: 100, wins: 2, most_stake: MAX_MONEY, step: 1 };
        let cycle = cycle_of(&QUESTION, &plan);
        let found: Vec<_> =
            cycle.outcomes.iter().map(|o| (o.trades, o.probability, o.change, o.required_balance)).collect();
        let expected =
            [(1, 0.5, -100, 100), (2, 0.25, -100, 100), (3, 0.125, -100, 100), (3, 0.125, 483, 100)];
        assert_eq!(found, expected);
        let found: Vec<_> =
            cycle.cutoffs.iter().map(|e| (e.trades, e.probability, e.balance_start, e.balance_end)).collect();
        assert_eq!(found, [(0, 1.0, 0, 100)]);
    }

    #[test]
    fn ladder_below_minimum_stake_never_starts() {
        let plan = StakePlan::Soros { base: 99, wins: 2, most_stake: MAX_MONEY, step: 1 };
        let cycle = cycle_of(&QUESTION, &plan);
        assert!(cycle.outcomes.is_empty() && cycle.cutoffs[0].balance_end == u64::MAX);
    }

    #[test]
    fn cycle_cost_and_moments_match_hand_computation() {
        let cycle = cycle_of(&QUESTION, &LADDER);
        // The whole ladder costs 700 in three trades. Another 700 cover the ladder in progress.
        let enough = cycle.worst_case_balance(9);
        assert!((enough - (3.0 * 700.0 + 700.0)).abs() < 1e-9, "{enough}");
        // 80 / 2 + 60 / 4 + 20 / 8 - 700 / 8 = -30; 6400 / 2 + 3600 / 4 + 400 / 8 + 490000 / 8 - 30^2 = 64500;
        // 1 / 2 + 2 / 4 + 3 / 8 + 3 / 8 trades.
        assert_eq!(cycle.moments(), (-30.0, 64_500.0, 1.75));
    }
}
