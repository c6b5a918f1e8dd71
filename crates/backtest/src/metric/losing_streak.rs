//! The most losses in a row.

use candlewick_sdk::Outcome;

/// The most losses in a row; draws and cancellations neither add nor end a row.
pub fn longest_losing_streak(outcomes: impl Iterator<Item = Outcome>) -> u64 {
    let (mut row, mut longest) = (0, 0);
    for outcome in outcomes {
        match outcome {
            Outcome::Lost => row += 1,
            Outcome::Won => row = 0,
            Outcome::Draw | Outcome::Cancelled => {}
        }
        longest = longest.max(row);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Cancelled, Draw, Lost, Won};

    #[test]
    fn draws_and_cancellations_neither_add_nor_end_a_row() {
        for (outcomes, expected) in [
            (&[][..], 0),
            (&[Won, Won], 0),
            (&[Lost, Draw, Lost, Cancelled, Lost, Won, Lost], 3),
            (&[Lost, Won, Lost, Lost], 2),
        ] {
            assert_eq!(longest_losing_streak(outcomes.iter().copied()), expected, "{outcomes:?}");
        }
    }
}
