//! The longest rows of wins and of losses, and how much of a surprise they are.

use crate::Summary;
use candlewick_engine::{IntentRow, to_trade_outcome};
use candlewick_sdk::Outcome;
use candlewick_statistics::{longest_streaks, streak_probability};
use serde::Serialize;

/// Losses in a row, and the most of them; draws and cancellations neither add nor end a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct LosingStreaks {
    row: u64,
    longest: u64,
}

impl LosingStreaks {
    /// None yet.
    pub const NONE: Self = Self { row: 0, longest: 0 };

    /// Takes the next outcome.
    #[inline]
    pub fn settle(&mut self, outcome: Outcome) {
        // Without a jump: how a trade ends is what no processor can guess.
        let with_this = self.row + u64::from(outcome == Outcome::Lost);
        self.row = if outcome == Outcome::Won { 0 } else { with_this };
        self.longest = self.longest.max(self.row);
    }

    /// The most so far.
    pub const fn longest(&self) -> u64 {
        self.longest
    }
}

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
    /// Of settled trades in the order in which they became known.
    pub fn of(settled: &[&IntentRow], summary: &Summary) -> Self {
        let longest = longest_streaks(settled.iter().filter_map(|row| row.outcome).map(to_trade_outcome));
        let streak = |length: u64, rate: Option<f64>| Streak {
            length,
            probability: rate.and_then(|rate| {
                let trades = u32::try_from(summary.won + summary.lost).ok()?;
                streak_probability(u32::try_from(length).ok()?, trades, rate).ok()
            }),
        };
        Self {
            won: streak(longest.won, summary.win_rate),
            lost: streak(longest.lost, summary.win_rate.map(|rate| 1.0 - rate)),
        }
    }
}
