//! Finding: wins and losses are not in random order, so the win rate changes over time.

use super::super::apart::apart;
use super::{Finding, FindingKind, Severity};
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::Outcome;
use candlewick_statistics::runs_test;
use std::collections::BTreeMap;

/// False positive rate for a run with a constant win rate.
const ALPHA: f64 = 0.01;

pub(super) fn find(settled: &[&IntentRow], bots: &[BotSettings]) -> Option<Finding> {
    let mut symbols: BTreeMap<&str, Vec<&IntentRow>> = BTreeMap::new();
    for row in settled.iter().filter(|row| matches!(row.outcome, Some(Outcome::Won | Outcome::Lost))) {
        if let Some(bot) = bots.get(row.approved.bot().index()) {
            symbols.entry(bot.symbol.as_str()).or_default().push(row);
        }
    }
    let outcomes = |rows: Vec<&IntentRow>| -> Vec<bool> {
        apart(rows).iter().map(|row| row.outcome == Some(Outcome::Won)).collect()
    };
    let outcomes: Vec<Vec<bool>> = symbols.into_values().map(outcomes).collect();
    judge(outcomes.iter().map(|outcomes| &outcomes[..]))
}

fn judge<'a>(sequences: impl Iterator<Item = &'a [bool]>) -> Option<Finding> {
    let test = runs_test(sequences).filter(|test| test.p_value <= ALPHA)?;
    let (what, why) = if (test.runs as f64) < test.expected {
        ("streaks", "chances change from time to time")
    } else {
        ("turns", "a win tells that a loss comes next, and a loss a win")
    };
    Some(Finding {
        kind: FindingKind::Regimes,
        severity: Severity::Warning,
        text: format!(
            "Wins and losses come in {what}: {} where a random order has about {:.0} (p-value {:.4}; trades that do not overlap). It may be \
             that {why}; the verdict's error rate is for chances that what came before does not tell.",
            test.runs, test.expected, test.p_value
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_in_streaks_and_in_turns_are_reported_and_those_in_random_order_are_not() {
        let long: Vec<bool> = (0..400).map(|place| place / 10 % 2 == 0).collect();
        let turns: Vec<bool> = (0..400).map(|place| place % 2 == 0).collect();
        // The bits of SplitMix64.
        let random: Vec<bool> = (0..400_u64).map(coin).collect();
        let text = |outcomes: &[bool]| judge([outcomes].into_iter()).map(|finding| finding.text);
        assert!(
            text(&long).unwrap().starts_with("Wins and losses come in streaks: 40 where"),
            "{:?}",
            text(&long)
        );
        assert!(text(&turns).unwrap().starts_with("Wins and losses come in turns: 400 where"));
        assert_eq!(text(&random), None);
    }

    /// A coin by a mixed number.
    fn coin(place: u64) -> bool {
        let mixed = (place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 27) >> 40 & 1 == 1
    }
}
