//! Risk of ruin of a stake plan.

mod count_chain;
mod curve;
mod cycle;
mod lattice;
mod spacing;
mod stake_plan;

pub use curve::RuinCurve;
pub use stake_plan::StakePlan;

use crate::StatisticsError;
use crate::statistics_error::{check_payout, check_probability};
use cycle::Cycle;

pub const MAX_HORIZON_TRADES: u32 = 100_000;

/// Maximum amount of money in the smallest unit. An `f64` represents every integer up to this amount.
pub const MAX_MONEY: u64 = 1 << 50;

/// Parameters of a ruin calculation. Money is in the smallest unit (cents), probabilities are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuinParameters {
    pub balance: u64,
    /// Minimum stake that the venue accepts, at least 1.
    pub minimum_stake: u64,
    /// Probability that a decided trade is won.
    pub win_probability: f64,
    /// Profit of a win per unit of stake, such as 0.85.
    pub payout_fraction: f64,
    pub draw_share: f64,
    pub horizon_trades: u32,
}

/// Rounds a product down, or up if it is just below an integer, as in the engine: 100 times 2.3 is 230, although
/// `100.0 * 2.3` is 229.99999999999997.
pub(crate) fn scale_rounding_down(amount: u64, factor: f64) -> u64 {
    let inexact = amount as f64 * factor;
    (inexact + (inexact * 1e-13).min(1e-3)) as u64
}

impl RuinParameters {
    /// Returns the profit of a winning stake, rounded half to even in the smallest unit.
    pub(crate) fn profit(&self, stake: u64) -> u64 {
        (stake as f64 * self.payout_fraction).round_ties_even() as u64
    }

    pub(crate) fn check(&self) -> Result<(), StatisticsError> {
        check_probability("win probability", self.win_probability)?;
        check_probability("share of draws", self.draw_share)?;
        check_payout(self.payout_fraction)?;
        if self.minimum_stake == 0 {
            return Err(StatisticsError::NotAStake { value: 0.0 });
        }
        if self.balance > MAX_MONEY || self.payout_fraction > 100.0 {
            return Err(StatisticsError::TooMuchMoney { most: MAX_MONEY });
        }
        match self.horizon_trades {
            0 => Err(StatisticsError::NoTrades),
            1..=MAX_HORIZON_TRADES => Ok(()),
            trades => Err(StatisticsError::TooManyTrades {
                trades: u64::from(trades),
                most: u64::from(MAX_HORIZON_TRADES),
            }),
        }
    }
}

/// Returns the probability of ruin within each number of trades up to the horizon.
///
/// Ruin is the first time that the next stake is above the balance or below the minimum stake. One trade is open at a
/// time. All trades have the same win probability and payout.
///
/// # The chains
/// *Flat*, *share* and *Kelly*: after `n` decided trades, the balance only depends on the number of losses. The chain
/// counts losses, and each step adds the two ways to reach a count. Ruined paths are removed.
///
/// *Martingale* and *soros*: a cycle is the sequence of trades from one base stake to the next. It has few outcomes (a
/// win at each level, or a loss of the whole ladder), each with its number of trades, probability and change of
/// balance. The chain contains the balances at cycle starts, on the lattice of the greatest common divisor of all
/// changes. If that lattice is too fine, a coarser one is used, which still distinguishes the outcomes of a cycle. A
/// change between two of its points is split between them so that the mean is preserved, and the error is estimated by
/// comparison with a lattice twice as coarse. A horizon that would take too long is rejected, and the error names the
/// longest feasible horizon.
///
/// Draws only delay ruin. The number of decided trades among `n` trades has a binomial distribution, and the curve over
/// decided trades is averaged over this distribution.
///
/// # Measured
/// Compared with 400,000 simulated paths of each plan: flat, share, half Kelly, martingale with and without a cap,
/// soros. The simulations used whole cents, payout 85, 2 % draws, horizons of 100, 300 and 1,000 trades, and the
/// balance of [`required_balance`]. All 64 figures are within 2.8 standard errors of the chain. For a win rate of 50 %,
/// 1,000 trades and a base stake of 10, the chain gives 0.9689 for flat stakes with a balance of 300, 0.7126 for
/// doubling on 6 levels with a balance of 2,000, and 0.9763 for soros with 3 wins and a balance of 400.
/// `cargo run --release -p candlewick-statistics --example ruin_trials` prints the comparison. `docs/statistics.md` has
/// the table.
///
/// Source: W. Feller, *An Introduction to Probability Theory and Its Applications* I (1968),
/// chapter XIV, for ruin as absorption; J. G. Kemeny and J. L. Snell, *Finite Markov Chains*
/// (1960), chapter III.
pub fn ruin(question: &RuinParameters, plan: &StakePlan) -> Result<RuinCurve, StatisticsError> {
    question.check()?;
    plan.check()?;
    let decided = match *plan {
        StakePlan::Flat { stake } => count_chain::flat_stake_ruin(question, stake),
        StakePlan::Share { fraction, step } => count_chain::fractional_stake_ruin(question, fraction, step),
        StakePlan::Kelly { fraction, believed_win_probability, step } => {
            let kelly = crate::kelly_fraction(believed_win_probability, question.payout_fraction)?;
            count_chain::fractional_stake_ruin(question, fraction * kelly, step)
        }
        StakePlan::Martingale { .. } | StakePlan::Soros { .. } => {
            let cycle = Cycle::new(question, &plan.stakes(question)?, plan)?;
            lattice::ruin(question, &cycle)?
        }
    };
    Ok(decided.with_draws(question.draw_share))
}

/// Returns the minimum balance whose ruin probability does not exceed `max_probability`.
///
/// The result is accurate to 0.1 % and does not depend on `question.balance`. Ruin never becomes more likely with a
/// higher balance, so the minimum is found by bisection. `None` if even [`MAX_MONEY`] is not enough, or if computing
/// the ruin probability of a balance would take too long.
pub fn required_balance(
    question: &RuinParameters,
    plan: &StakePlan,
    max_probability: f64,
) -> Result<Option<u64>, StatisticsError> {
    RuinParameters { balance: 0, ..*question }.check()?;
    let most = check_probability("maximum ruin probability", max_probability)?;
    match search_balance(question, plan, most) {
        Err(StatisticsError::TooManyTrades { .. }) => Ok(None),
        found => found,
    }
}

fn search_balance(
    question: &RuinParameters,
    plan: &StakePlan,
    most: f64,
) -> Result<Option<u64>, StatisticsError> {
    let is_enough =
        |balance| ruin(&RuinParameters { balance, ..*question }, plan).map(|ruin| ruin.probability() <= most);
    let (mut too_little, mut enough) = (0, question.minimum_stake.clamp(1, MAX_MONEY));
    while !is_enough(enough)? {
        if enough == MAX_MONEY {
            return Ok(None);
        }
        (too_little, enough) = (enough, (2 * enough).min(MAX_MONEY));
    }
    while enough - too_little > 1 + enough / 1_000 {
        let middle = too_little.midpoint(enough);
        if is_enough(middle)? {
            enough = middle;
        } else {
            too_little = middle;
        }
    }
    Ok(Some(enough))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryGoal {
    Losses,
    LossesAndProfit,
}

/// Returns the cost of a fully lost ladder, as a multiple of the first stake.
///
/// The first stake is 1, and the payout fraction is `b`. A win at a later level exactly recovers all losses:
/// `s(k) = (s(1) + ... + s(k-1)) / b`. The total of `n` levels is `(1 + 1/b)^(n - 1)`.
/// With [`RecoveryGoal::LossesAndProfit`], a win also earns `b`, the profit of the first stake. Each stake is then
/// `1 + 1/b` times the previous stake, and the total is `((1 + 1/b)^n - 1) b`.
pub fn recovery_cost(
    payout_fraction: f64,
    levels: u32,
    recovery: RecoveryGoal,
) -> Result<f64, StatisticsError> {
    let b = check_payout(payout_fraction)?;
    if !(1..=64).contains(&levels) {
        return Err(StatisticsError::NotALadder { levels });
    }
    let growth = 1.0 + 1.0 / b;
    Ok(match recovery {
        RecoveryGoal::Losses => growth.powi(levels.cast_signed() - 1),
        RecoveryGoal::LossesAndProfit => (growth.powi(levels.cast_signed()) - 1.0) * b,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const QUESTION: RuinParameters = RuinParameters {
        balance: 10,
        minimum_stake: 1,
        win_probability: 0.5,
        payout_fraction: 1.0,
        draw_share: 0.0,
        horizon_trades: 2_000,
    };

    pub(super) const QUESTION_AT_80: RuinParameters =
        RuinParameters { balance: 10_000, payout_fraction: 0.8, horizon_trades: 100, ..QUESTION };

    /// Changes of 80, 60, 20 and -700 after 1, 2, 3 and 3 trades at payout 80.
    pub(super) const LADDER: StakePlan =
        StakePlan::Martingale { base: 100, factor: 2.0, levels: 3, most_stake: 1_000, step: 1 };

    pub(super) fn cycle_of(question: &RuinParameters, plan: &StakePlan) -> Cycle {
        Cycle::new(question, &plan.stakes(question).unwrap(), plan).unwrap()
    }

    fn assert_near(found: f64, expected: f64, case: &str) {
        assert!((found - expected).abs() < 1e-9, "{case}: {found}, not {expected}");
    }

    #[test]
    fn half_kelly_equals_its_share() {
        // At a payout of 100 %, a win rate of 0.6 stakes 0.6 - 0.4 = 0.2 of the balance.
        let question = RuinParameters { balance: 200, minimum_stake: 5, horizon_trades: 300, ..QUESTION };
        let kelly = StakePlan::Kelly { fraction: 0.5, believed_win_probability: 0.6, step: 1 };
        let share = StakePlan::Share { fraction: 0.1, step: 1 };
        let [kelly, share] = [kelly, share].map(|plan| ruin(&question, &plan).unwrap());
        assert!(share.probability() > 0.1);
        assert_near(kelly.probability(), share.probability(), "half Kelly");
    }

    #[test]
    fn share_rounding_error_agrees_with_hand_computation() {
        // Half of the balance in steps of 2, from 20 on. A step is 10 % of the minimum balance, so at least 0.4 is
        // staked.
        let plan = StakePlan::Share { fraction: 0.5, step: 2 };
        let found = |balance, horizon_trades| {
            let question = RuinParameters { balance, minimum_stake: 10, horizon_trades, ..QUESTION };
            let ruin = ruin(&question, &plan).unwrap();
            (ruin.probability(), ruin.error())
        };
        assert_near(found(20, 1).0, 0.5, "20");
        // A loss leaves 13.5 of 27, at best 16.2. A win and a loss leave 20.25, or 18.9 if the win staked 0.4.
        let (probability, error) = found(27, 2);
        assert_near(probability, 0.5, "27");
        assert_near(error, 0.25, "error of 27");
        // A loss leaves 17.5 of 35, or 21 if 0.4 was staked.
        let (probability, error) = found(35, 1);
        assert_near(probability, 0.5, "35");
        assert_near(error, 0.5, "error of 35");
    }

    #[test]
    fn balance_covering_all_losses_is_never_ruined() {
        // Nine losses of a ladder of 1 and 2 cost 13, and the next stake is 2.
        let ladder = StakePlan::Martingale { base: 1, factor: 2.0, levels: 2, most_stake: 9, step: 1 };
        let lost = |balance| {
            let question = RuinParameters { balance, horizon_trades: 10, ..QUESTION };
            ruin(&question, &ladder).unwrap().risk_within(9)
        };
        assert_near(lost(14), 0.5_f64.powi(9), "14");
        assert_near(lost(15), 0.0, "15");
        assert_eq!(lost(18), 0.0, "15 for ten losses, and a ladder more");
        let soros = StakePlan::Soros { base: 1, wins: 2, most_stake: MAX_MONEY, step: 1 };
        let question = RuinParameters { balance: 11, horizon_trades: 10, ..QUESTION };
        assert_eq!(ruin(&question, &soros).unwrap().probability(), 0.0);
    }

    #[test]
    fn required_balance_is_minimal() {
        let question = RuinParameters { win_probability: 0.6, ..QUESTION };
        assert_eq!(required_balance(&question, &StakePlan::Flat { stake: MAX_MONEY }, 0.01), Ok(None));
        // (2/3)^z <= 1 % first holds at z = 12. The search is accurate to 0.1 %.
        let found = required_balance(&question, &StakePlan::Flat { stake: 1_000 }, 0.01).unwrap().unwrap();
        assert!((12_000..=12_013).contains(&found), "{found}");
    }

    #[test]
    fn plan_without_affordable_stake_is_ruined() {
        let p = |question: &RuinParameters, plan| ruin(question, &plan).unwrap().probability();
        let poor = RuinParameters { balance: 2, minimum_stake: 2, ..QUESTION };
        assert_eq!(p(&poor, StakePlan::Flat { stake: 3 }), 1.0);
        assert_eq!(p(&poor, StakePlan::Flat { stake: 1 }), 1.0);
        assert_eq!(p(&poor, StakePlan::Share { fraction: 0.5, step: 1 }), 1.0);
        assert_eq!(p(&poor, StakePlan::Share { fraction: 0.0, step: 1 }), 0.0);
        assert_eq!(p(&poor, StakePlan::Kelly { fraction: 1.0, believed_win_probability: 0.5, step: 1 }), 0.0);
        assert_eq!(p(&poor, StakePlan::Soros { base: 1, wins: 2, most_stake: MAX_MONEY, step: 1 }), 1.0);
    }

    #[test]
    fn rejects_invalid_questions() {
        let flat = StakePlan::Flat { stake: 1 };
        let largest = RuinParameters { balance: MAX_MONEY, payout_fraction: 100.0, ..QUESTION };
        assert_eq!(largest.check(), Ok(()));
        for question in [
            RuinParameters { win_probability: f64::NAN, ..QUESTION },
            RuinParameters { win_probability: 1.1, ..QUESTION },
            RuinParameters { payout_fraction: 0.0, ..QUESTION },
            RuinParameters { payout_fraction: 100.1, ..largest },
            RuinParameters { draw_share: -0.1, ..QUESTION },
            RuinParameters { horizon_trades: 0, ..QUESTION },
            RuinParameters { horizon_trades: MAX_HORIZON_TRADES + 1, ..QUESTION },
            RuinParameters { minimum_stake: 0, ..QUESTION },
            RuinParameters { balance: MAX_MONEY + 1, ..largest },
        ] {
            assert!(ruin(&question, &flat).is_err(), "{question:?}");
        }
        for plan in [
            StakePlan::Flat { stake: 0 },
            StakePlan::Share { fraction: 1.1, step: 1 },
            StakePlan::Share { fraction: 0.1, step: 0 },
            StakePlan::Martingale { base: 1, factor: 0.5, levels: 2, most_stake: 1, step: 1 },
            StakePlan::Martingale { base: 1, factor: f64::NAN, levels: 2, most_stake: 1, step: 1 },
            StakePlan::Martingale { base: 1, factor: 2.0, levels: 0, most_stake: 1, step: 1 },
            StakePlan::Martingale { base: 1, factor: 2.0, levels: 64, most_stake: u64::MAX, step: 1 },
            StakePlan::Soros { base: 1_000_000, wins: 64, most_stake: MAX_MONEY, step: 1 },
            StakePlan::Soros { base: 1, wins: 65, most_stake: MAX_MONEY, step: 1 },
        ] {
            assert!(ruin(&QUESTION, &plan).is_err(), "{plan:?}");
        }
    }

    #[test]
    fn recovery_cost_equals_summed_stakes() {
        for (payout, levels) in [(0.85, 6_u32), (0.6, 3), (1.0, 1), (0.92, 10)] {
            for (recovery, profit) in [(RecoveryGoal::Losses, 0.0), (RecoveryGoal::LossesAndProfit, payout)] {
                let mut spent = 1.0;
                for _ in 1..levels {
                    // This stake wins `payout` times itself, which covers everything spent and the profit.
                    spent += (spent + profit) / payout;
                }
                let found = recovery_cost(payout, levels, recovery).unwrap();
                assert_near(found / spent, 1.0, &format!("{payout} {levels}"));
            }
        }
    }

    #[test]
    fn recovery_cost_rejects_ladders_without_levels() {
        for (payout, levels) in [(0.0, 3), (f64::NAN, 3), (0.85, 0), (0.85, 65)] {
            assert!(recovery_cost(payout, levels, RecoveryGoal::Losses).is_err(), "{payout} {levels}");
        }
    }
}
