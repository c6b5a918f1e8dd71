//! The longest rows of wins and of losses, and how much of a surprise they are.

use crate::Summary;
use candlewick_statistics::streak_probability;
use serde::Serialize;

/// A streak and its probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Streak {
    /// Trades in a row; draws and cancelled trades neither add to it nor end it.
    pub length: u64,
    /// The probability that so many trades at this run's win rate hold one as long, if they are independent. Small: wins
    /// and losses come in clusters. Nothing without a decided trade.
    pub probability: Option<f64>,
}

/// The longest streaks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Streaks {
    /// Of wins.
    pub won: Streak,
    /// Of losses.
    pub lost: Streak,
}

impl Streaks {
    /// Of a run.
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
