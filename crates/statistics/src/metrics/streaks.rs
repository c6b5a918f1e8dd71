//! Longest streaks of wins and losses, and the probability of a streak.

use crate::statistics_error::check_probability;
use crate::{StatisticsError, TradeOutcome};

/// Consecutive wins and losses. Draws and cancelled trades neither end nor extend a streak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streaks {
    pub won: u32,
    pub lost: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct StreakFold {
    current: Streaks,
    longest: Streaks,
}

impl Streaks {
    // Without a branch: docs/performance.md.
    #[inline]
    #[must_use]
    pub const fn after(self, outcome: TradeOutcome) -> Self {
        let (has_won, has_lost) =
            (matches!(outcome, TradeOutcome::Won), matches!(outcome, TradeOutcome::Lost));
        let (won, lost) = (self.won + has_won as u32, self.lost + has_lost as u32);
        Self { won: if has_lost { 0 } else { won }, lost: if has_won { 0 } else { lost } }
    }
}

impl StreakFold {
    pub const NEW: Self = Self { current: Streaks { won: 0, lost: 0 }, longest: Streaks { won: 0, lost: 0 } };

    #[inline]
    pub fn settle(&mut self, outcome: TradeOutcome) {
        let current = self.current.after(outcome);
        let Streaks { won, lost } = self.longest;
        (self.current, self.longest) =
            (current, Streaks { won: won.max(current.won), lost: lost.max(current.lost) });
    }

    pub const fn longest(&self) -> Streaks {
        self.longest
    }
}

pub fn longest_streaks(outcomes: impl IntoIterator<Item = TradeOutcome>) -> Streaks {
    let mut fold = StreakFold::NEW;
    outcomes.into_iter().for_each(|outcome| fold.settle(outcome));
    fold.longest()
}

/// Returns the probability of a streak of at least `length` in `trades` independent trades.
///
/// `probability` is that of the streak's outcome in one trade, such as a loss. A streak is first
/// complete at trade `n` if none was complete `length + 1` trades earlier, followed by one other
/// outcome and `length` matching ones:
/// `r(n) = r(n - 1) + (1 - r(n - length - 1)) (1 - p) p^length`, `r(length) = p^length`. O(trades).
///
/// Source: W. Feller, *An Introduction to Probability Theory and Its Applications* I (1968),
/// section XIII.7.
pub fn streak_probability(length: u32, trades: u32, probability: f64) -> Result<f64, StatisticsError> {
    const MOST: u32 = 10_000_000;
    let p = check_probability("probability of a streak's trade", probability)?;
    if trades > MOST {
        return Err(StatisticsError::TooManyTrades { trades: u64::from(trades), most: u64::from(MOST) });
    }
    if length == 0 {
        return Ok(1.0);
    }
    if length > trades {
        return Ok(0.0);
    }
    let (length, trades) = (length as usize, trades as usize);
    let run = p.powi(length as i32);
    let mut complete = vec![0.0; trades + 1];
    complete[length] = run;
    for n in length + 1..=trades {
        complete[n] = complete[n - 1] + (1.0 - complete[n - length - 1]) * (1.0 - p) * run;
    }
    Ok(complete[trades])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, rows};
    use TradeOutcome::{Cancelled, Draw, Lost, Won};

    #[test]
    fn streaks_are_counted_over_draws() {
        let streaks = longest_streaks([Won, Won, Draw, Won, Lost, Lost, Cancelled, Won, Lost]);
        assert_eq!(streaks, Streaks { won: 3, lost: 2 });
        assert_eq!(longest_streaks([]), Streaks::default());
    }

    #[test]
    fn probabilities_of_streaks_equal_the_reference_figures() {
        for [length, trades, probability, expected] in rows(include_str!("../../reference/streaks.csv")) {
            let found = streak_probability(length as u32, trades as u32, probability).unwrap();
            assert_close(found, expected, 1e-11, &format!("{length} in {trades} at {probability}"));
        }
    }

    #[test]
    fn certain_and_impossible_streaks_are_distinguished() {
        for (length, trades, p, expected) in [
            (0, 0, 0.5, 1.0),
            (3, 2, 0.5, 0.0),
            (2, 2, 0.5, 0.25),
            (1, 3, 0.5, 0.875),
            (5, 9, 1.0, 1.0),
            (1, 9, 0.0, 0.0),
        ] {
            assert_eq!(streak_probability(length, trades, p), Ok(expected), "{length} in {trades} at {p}");
        }
        assert!(streak_probability(1, 1, 1.1).is_err() && streak_probability(1, u32::MAX, 0.5).is_err());
    }

    #[test]
    fn as_many_trades_as_said_are_taken() {
        assert_eq!(streak_probability(0, 10_000_000, 0.5), Ok(1.0));
        assert!(streak_probability(0, 10_000_001, 0.5).is_err());
    }
}
