//! Stake plans: flat stakes, fractions of the balance and ladders.

use super::{MAX_MONEY, RuinParameters, scale_rounding_down};
use crate::statistics_error::check_probability;
use crate::{StatisticsError, kelly_fraction};

/// Sequence of stakes. Money is in the smallest unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StakePlan {
    Flat {
        stake: u64,
    },
    Share {
        /// Fraction of the balance, 0.02 for 2 %.
        fraction: f64,
        step: u64,
    },
    Kelly {
        fraction: f64,
        /// Win rate used to compute the stake. [`RuinParameters`] has the true win rate.
        believed_win_probability: f64,
        step: u64,
    },
    /// Moves up a level after a loss. Restarts after a win, or after a loss at the top level.
    Martingale {
        base: u64,
        /// Ratio of each level to the previous one, at least 1. Stakes are rounded down.
        factor: f64,
        /// Number of levels including the first, 1 to 64.
        levels: u32,
        most_stake: u64,
        step: u64,
    },
    /// Adds the profit of a win to the next stake. Restarts after `wins` consecutive wins or a loss.
    Soros {
        base: u64,
        /// Number of consecutive wins whose profit is staked again, at most 64.
        wins: u32,
        most_stake: u64,
        step: u64,
    },
}

impl StakePlan {
    pub(crate) fn check(&self) -> Result<(), StatisticsError> {
        let stake = |stake: u64| match stake {
            0 => Err(StatisticsError::NotAStake { value: 0.0 }),
            1..=MAX_MONEY => Ok(()),
            _ => Err(StatisticsError::TooMuchMoney { most: MAX_MONEY }),
        };
        match *self {
            Self::Flat { stake: amount } => stake(amount),
            Self::Share { fraction, step } => {
                check_probability("share of balance", fraction).and(stake(step))
            }
            Self::Kelly { fraction, believed_win_probability, step } => {
                check_probability("believed win probability", believed_win_probability)?;
                check_probability("Kelly fraction", fraction).and(stake(step))
            }
            Self::Martingale { base, factor, levels, most_stake, step: rounding } => {
                check_levels(levels, 1)?;
                if !(1.0..=100.0).contains(&factor) {
                    return Err(StatisticsError::NotAStake { value: factor });
                }
                stake(base).and(stake(most_stake)).and(stake(rounding))
            }
            Self::Soros { base, wins, most_stake, step: rounding } => {
                check_levels(wins, 0).and(stake(base)).and(stake(most_stake)).and(stake(rounding))
            }
        }
    }

    pub fn first_stake(&self, question: &RuinParameters) -> Result<u64, StatisticsError> {
        let stakes = self.stakes(question)?;
        let share = |share: f64, step: u64| scale_rounding_down(question.balance, share) / step * step;
        Ok(match *self {
            Self::Flat { stake } => stake,
            Self::Share { fraction, step } => share(fraction, step),
            Self::Kelly { fraction, believed_win_probability, step } => {
                share(fraction * kelly_fraction(believed_win_probability, question.payout_fraction)?, step)
            }
            Self::Martingale { .. } | Self::Soros { .. } => stakes.first().copied().unwrap_or_default(),
        })
    }

    pub fn stakes(&self, question: &RuinParameters) -> Result<Vec<u64>, StatisticsError> {
        self.check()?;
        let stakes: Vec<u64> = match *self {
            Self::Flat { .. } | Self::Share { .. } | Self::Kelly { .. } => Vec::new(),
            Self::Martingale { base, factor, levels, most_stake, step } => (0..levels)
                .map(|level| scale_rounding_down(base, factor.powi(level.cast_signed())))
                .map(|stake| stake.min(most_stake))
                .map(|stake| stake - stake % step)
                .collect(),
            Self::Soros { base, wins, most_stake, step } => {
                let placed = |wanted: u64| wanted.min(most_stake) - wanted.min(most_stake) % step;
                let next = |stake: &u64| Some(placed(stake.saturating_add(question.profit(*stake))));
                std::iter::successors(Some(placed(base)), next).take(wins as usize + 1).collect()
            }
        };
        let total = stakes.iter().fold(0_u64, |sum, stake| sum.saturating_add(*stake));
        if total > MAX_MONEY { Err(StatisticsError::TooMuchMoney { most: MAX_MONEY }) } else { Ok(stakes) }
    }
}

fn check_levels(levels: u32, fewest: u32) -> Result<(), StatisticsError> {
    if (fewest..=64).contains(&levels) { Ok(()) } else { Err(StatisticsError::NotALadder { levels }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruin::tests::QUESTION;

    fn doubling(base: u64, levels: u32) -> StakePlan {
        StakePlan::Martingale { base, factor: 2.0, levels, most_stake: MAX_MONEY, step: 1 }
    }

    fn soros(base: u64, wins: u32) -> StakePlan {
        StakePlan::Soros { base, wins, most_stake: MAX_MONEY, step: 1 }
    }

    #[test]
    fn rejects_zero_and_excessive_stakes() {
        let none = Err(StatisticsError::NotAStake { value: 0.0 });
        let too_much = Err(StatisticsError::TooMuchMoney { most: 1_125_899_906_842_624 });
        for (stake, expected) in [(0, none), (1, Ok(())), (1 << 50, Ok(())), ((1 << 50) + 1, too_much)] {
            let share = StakePlan::Share { fraction: 0.1, step: stake };
            for plan in [StakePlan::Flat { stake }, share, doubling(stake, 1), soros(stake, 0)] {
                assert_eq!(plan.check(), expected, "{plan:?}");
            }
        }
    }

    #[test]
    fn ladder_levels_are_exact_decimals() {
        // With decimals: 1.00, 2.30, 5.29, 12.167.
        let plan =
            StakePlan::Martingale { base: 100, factor: 2.3, levels: 4, most_stake: MAX_MONEY, step: 1 };
        assert_eq!(plan.stakes(&QUESTION), Ok(vec![100, 230, 529, 1_216]));
    }

    #[test]
    fn limits_ladders_to_64_levels() {
        for (levels, martingale, of_wins) in
            [(0, false, true), (1, true, true), (64, true, true), (65, false, false)]
        {
            for (plan, is_sound) in [(doubling(1, levels), martingale), (soros(1, levels), of_wins)] {
                let expected = if is_sound { Ok(()) } else { Err(StatisticsError::NotALadder { levels }) };
                assert_eq!(plan.check(), expected, "{plan:?}");
            }
        }
    }

    #[test]
    fn ladder_cost_is_limited_to_the_maximum_money() {
        // 1 + 2 + ... + 2^48 = 2^49 - 1, out of twice that amount and out of one more.
        assert_eq!(doubling(1, 49).stakes(&QUESTION).map(|stakes| stakes.iter().sum()), Ok((1 << 49) - 1));
        assert_eq!(soros(MAX_MONEY, 0).stakes(&QUESTION), Ok(vec![1 << 50]));
        let gale =
            |base, most_stake| StakePlan::Martingale { base, factor: 1.0, levels: 2, most_stake, step: 1 };
        assert_eq!(gale(1 << 49, 1 << 49).stakes(&QUESTION), Ok(vec![1 << 49; 2]));
        assert_eq!(
            gale((1 << 49) + 1, 1 << 50).stakes(&QUESTION),
            Err(StatisticsError::TooMuchMoney { most: 1 << 50 })
        );
    }
}
