//! Streaks of wins and losses, and the runs test for their order.

use crate::statistics_error::check_probability;
use crate::{StatisticsError, TradeOutcome};
use statrs::distribution::{ContinuousCDF, Normal};

/// Numbers of consecutive wins and losses. Draws and cancelled trades neither extend nor end a streak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streaks {
    pub won: u32,
    pub lost: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct StreakTracker {
    current: Streaks,
    longest: Streaks,
}

impl Streaks {
    // Branch-free; see docs/performance.md.
    #[inline]
    #[must_use]
    pub const fn after_outcome(self, outcome: TradeOutcome) -> Self {
        let (has_won, has_lost) =
            (matches!(outcome, TradeOutcome::Won), matches!(outcome, TradeOutcome::Lost));
        let (won, lost) = (self.won + has_won as u32, self.lost + has_lost as u32);
        Self { won: if has_lost { 0 } else { won }, lost: if has_won { 0 } else { lost } }
    }
}

impl StreakTracker {
    pub const EMPTY: Self =
        Self { current: Streaks { won: 0, lost: 0 }, longest: Streaks { won: 0, lost: 0 } };

    #[inline]
    pub fn add_outcome(&mut self, outcome: TradeOutcome) {
        let current = self.current.after_outcome(outcome);
        let Streaks { won, lost } = self.longest;
        (self.current, self.longest) =
            (current, Streaks { won: won.max(current.won), lost: lost.max(current.lost) });
    }

    pub const fn longest(&self) -> Streaks {
        self.longest
    }
}

pub fn longest_streaks(outcomes: impl IntoIterator<Item = TradeOutcome>) -> Streaks {
    let mut fold = StreakTracker::EMPTY;
    outcomes.into_iter().for_each(|outcome| fold.add_outcome(outcome));
    fold.longest()
}

/// Returns the probability that `trades` independent trades contain a streak of at least `length`.
///
/// `probability` is the probability that a single trade has the streak's outcome, such as a loss. The recursion over
/// trades is `r(n) = r(n - 1) + (1 - r(n - length - 1)) (1 - p) p^length`, with `r(length) = p^length`.
///
/// Source: W. Feller, *An Introduction to Probability Theory and Its Applications* I (1968), XIII.7.
pub fn streak_probability(length: u32, trades: u32, probability: f64) -> Result<f64, StatisticsError> {
    const MAX_STREAK_TRADES: u32 = 10_000_000;
    let p = check_probability("probability that a trade continues the streak", probability)?;
    if trades > MAX_STREAK_TRADES {
        return Err(StatisticsError::TooManyTrades {
            trades: u64::from(trades),
            most: u64::from(MAX_STREAK_TRADES),
        });
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

/// Minimum number of wins and of losses for a normal approximation (Siegel, *Nonparametric Statistics*, ch. 4).
const MIN_WINS_AND_LOSSES: u64 = 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunsTest {
    pub runs: u64,
    pub expected_runs: f64,
    /// Probability that a random order deviates from `expected_runs` at least as much as `runs` does (two-sided).
    pub p_value: f64,
}

/// Performs a joint Wald-Wolfowitz runs test on several sequences of trades (`true` is a win). `None` with fewer than
/// 20 wins or 20 losses in total. Valid for any win rate if the trades of a sequence do not overlap.
pub fn runs_test<'a>(sequences: impl IntoIterator<Item = &'a [bool]>) -> Option<RunsTest> {
    let (mut runs, mut expected, mut variance) = (0, 0.0, 0.0);
    let [mut all_won, mut all_lost] = [0, 0];
    for sequence in sequences.into_iter().filter(|sequence| !sequence.is_empty()) {
        let won = sequence.iter().filter(|is_won| **is_won).count() as u64;
        let lost = sequence.len() as u64 - won;
        (all_won, all_lost) = (all_won + won, all_lost + lost);
        runs += 1 + sequence.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
        let (count, pairs) = (sequence.len() as f64, 2.0 * won as f64 * lost as f64);
        expected += 1.0 + pairs / count;
        if sequence.len() > 1 {
            variance += pairs * (pairs - count) / (count * count * (count - 1.0));
        }
    }
    if all_won.min(all_lost) < MIN_WINS_AND_LOSSES || variance <= 0.0 {
        return None;
    }
    // Continuity correction of one half.
    let distance = ((runs as f64 - expected).abs() - 0.5).max(0.0) / variance.sqrt();
    let p_value = 2.0 * (1.0 - Normal::standard().cdf(distance));
    Some(RunsTest { runs, expected_runs: expected, p_value: p_value.min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_close, rows};
    use TradeOutcome::{Cancelled, Draw, Lost, Won};

    #[test]
    fn draws_do_not_end_a_streak() {
        let streaks = longest_streaks([Won, Won, Draw, Won, Lost, Lost, Cancelled, Won, Lost]);
        assert_eq!(streaks, Streaks { won: 3, lost: 2 });
        assert_eq!(longest_streaks([]), Streaks::default());
    }

    #[test]
    fn streak_probabilities_equal_reference_figures() {
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
            (5, 9, 1.0, 1.0),
            (0, 10_000_000, 0.5, 1.0),
            (1, 9, 0.0, 0.0),
        ] {
            assert_eq!(streak_probability(length, trades, p), Ok(expected), "{length} in {trades} at {p}");
        }
        assert!(streak_probability(1, 1, 1.1).is_err() && streak_probability(0, 10_000_001, 0.5).is_err());
    }

    #[test]
    fn runs_test_combines_sequences() {
        let of_runs = |wanted: u64| {
            (0_u32..32)
                .filter(|bits| bits.count_ones() == 3)
                .map(|bits| (0..5).map(|place| bits >> place & 1 == 1).collect::<Vec<bool>>())
                .find(|order| 1 + order.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64 == wanted)
                .unwrap()
        };
        // Ten sequences have 34 runs on average, with a variance of 10 x (12.4 - 3.4^2) = 8.4. `of_two` sequences have
        // two runs each, the others four: (|20 - 34| - 1/2) / sqrt(8.4) and (|32 - 34| - 1/2) / sqrt(8.4).
        for (of_two, runs, p_value) in [(10, 20, 3.193_85e-6), (4, 32, 0.604_77)] {
            let orders: Vec<_> = (0..10).map(|place| of_runs(if place < of_two { 2 } else { 4 })).collect();
            // A single trade always has exactly one run.
            for alone in [&[][..], &[true][..]] {
                let all = orders.iter().map(Vec::as_slice).chain([alone]);
                let found = runs_test(all).unwrap();
                let more = alone.len() as u64;
                assert_eq!(found.runs, runs + more);
                assert!((found.expected_runs - (34.0 + more as f64)).abs() < 1e-9, "{}", found.expected_runs);
                assert!((found.p_value / p_value - 1.0).abs() < 1e-4, "{runs}: {}", found.p_value);
            }
        }
    }

    #[test]
    fn runs_test_needs_twenty_wins_and_losses() {
        let trades = |won, lost| [vec![true; won], vec![false; lost]].concat();
        assert_eq!(runs_test([&trades(30, 19)[..]]), None);
        assert_eq!(runs_test([&trades(19, 30)[..]]), None);
        assert!(runs_test([&trades(20, 20)[..]]).is_some());
        // Forty sequences of one trade each, then one sequence with only wins and one with only losses.
        assert_eq!(runs_test(trades(20, 20).chunks(1)), None);
        assert_eq!(runs_test(trades(20, 20).chunks(20)), None);
    }
}
