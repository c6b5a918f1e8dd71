//! How stakes follow each other.

use super::{MAX_MONEY, RuinQuestion};
use crate::StatisticsError;
use crate::statistics_error::check_probability;

/// How stakes follow each other; money in the smallest unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StakePlan {
    /// The same stake every time.
    Flat {
        /// The stake.
        stake: u64,
    },
    /// A share of the balance, rounded down to a step.
    Share {
        /// The share, 0.02 for 2 %.
        fraction: f64,
        /// The step of stakes, at least 1.
        step: u64,
    },
    /// A fraction of the Kelly stake for a win rate that is believed in, rounded down to a step.
    Kelly {
        /// The fraction of the full Kelly stake.
        fraction: f64,
        /// The win rate that the stake is made for; the question holds the true one.
        believed_win_probability: f64,
        /// The step of stakes, at least 1.
        step: u64,
    },
    /// After a loss the next level, after a win or a loss at the top the first.
    Martingale {
        /// The stake of the first level.
        base: u64,
        /// How much larger each level is than the one before, at least 1; stakes are rounded down to the step.
        factor: f64,
        /// How many levels, the first included, 1 to 64.
        levels: u32,
        /// No stake is larger.
        most_stake: u64,
        /// The step of stakes, at least 1.
        step: u64,
    },
    /// After a win its profit is added to the stake; after so many wins in a row, or a loss, it starts anew.
    Soros {
        /// The stake of the first level.
        base: u64,
        /// How many wins in a row are staked again, at most 64.
        wins: u32,
        /// The step of stakes, at least 1; what a stake was rounded down by counts for the next one.
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
                check_probability("fraction of Kelly", fraction).and(stake(step))
            }
            Self::Martingale { base, factor, levels, most_stake, step: rounding } => {
                check_levels(levels, 1)?;
                if !(1.0..=100.0).contains(&factor) {
                    return Err(StatisticsError::NotAStake { value: factor });
                }
                stake(base).and(stake(most_stake)).and(stake(rounding))
            }
            Self::Soros { base, wins, step: rounding } => {
                check_levels(wins, 0).and(stake(base)).and(stake(rounding))
            }
        }
    }

    /// The stakes of a ladder's levels, each after what came before it; of other plans none.
    ///
    /// # Errors
    /// A plan that means nothing, or more money in all than can be counted.
    pub fn stakes(&self, question: &RuinQuestion) -> Result<Vec<u64>, StatisticsError> {
        self.check()?;
        let stakes: Vec<u64> = match *self {
            Self::Flat { .. } | Self::Share { .. } | Self::Kelly { .. } => Vec::new(),
            Self::Martingale { base, factor, levels, most_stake, step } => (0..levels)
                .map(|level| (base as f64 * factor.powi(level.cast_signed())) as u64)
                .map(|stake| stake.min(most_stake))
                .map(|stake| stake - stake % step)
                .collect(),
            Self::Soros { base, wins, step } => {
                let placed = |wanted: u64| wanted - wanted % step;
                let next = |wanted: &u64| Some(wanted.saturating_add(question.profit(placed(*wanted))));
                std::iter::successors(Some(base), next).map(placed).take(wins as usize + 1).collect()
            }
        };
        let total = stakes.iter().fold(0_u64, |sum, stake| sum.saturating_add(*stake));
        if total > MAX_MONEY { Err(StatisticsError::TooMuchMoney { most: MAX_MONEY }) } else { Ok(stakes) }
    }
}

/// A ladder has a bound that keeps its stakes finite.
fn check_levels(levels: u32, fewest: u32) -> Result<(), StatisticsError> {
    if (fewest..=64).contains(&levels) { Ok(()) } else { Err(StatisticsError::NotALadder { levels }) }
}
