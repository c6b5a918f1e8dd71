//! The longest winning and losing streaks, and their probability.

use crate::Summary;
use candlewick_statistics::streak_probability;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Streak {
    /// Trades in a row. Draws and cancelled trades neither extend nor end a streak.
    pub length: u64,
    /// Probability of a streak of this length or more at the run's win rate, if trades are
    /// independent.
    ///
    /// A small value means that wins or losses cluster. `None` without a won or lost trade.
    pub probability: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Streaks {
    pub won: Streak,
    pub lost: Streak,
}

impl Streaks {
    pub fn of(summary: &Summary) -> Self {
        let streak = |length: u64, rate: Option<f64>| Streak {
            length,
            probability: rate.and_then(|rate| {
                let trades = u32::try_from(summary.won + summary.lost).ok()?;
                streak_probability(u32::try_from(length).ok()?, trades, rate).ok()
            }),
        };
        Self {
            won: streak(summary.longest_winning_streak, summary.win_rate),
            lost: streak(summary.longest_losing_streak, summary.win_rate.map(|rate| 1.0 - rate)),
        }
    }
}
