//! Confidence sequences for edge and win rate, updated in the order in which the Session received the updates.

use crate::judge::{DEFAULT_PAYOUT_FRACTION, UpdateKind, build_timeline};
use crate::{IntentId, IntentRow, JudgedTrade, to_trade_outcome};
use candlewick_sdk::{Outcome, Payout};
use candlewick_statistics::{ConfidenceSequence, OpenTrade};
use std::collections::BTreeMap;

/// The fields of an intent's row that the edge sequence needs.
/// These small rows can be stored instead of the full rows to save memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeRow {
    intent: IntentId,
    /// Update number that the book assigned to the decision.
    decided: u32,
    /// Update number that the book assigned to the end of the intent, 0 while the intent is unfinished.
    ended: u32,
    outcome: Option<Outcome>,
    payout: Option<Payout>,
}

/// A confidence sequence that is updated with each event and does not need the rows of finished trades.
#[derive(Clone, Debug, Default)]
pub struct RunningEdge {
    sequence: ConfidenceSequence,
    open: BTreeMap<IntentId, OpenTrade>,
    steps: Vec<SequenceStep>,
}

#[derive(Clone, Copy, Debug)]
enum SequenceStep {
    Decided(IntentId),
    /// End of a trade: its outcome, and its payout as a fraction of the stake.
    Ended(IntentId, Outcome, f64),
}

impl EdgeRow {
    /// Extracts the needed fields from the row of an intent.
    pub fn from_row(row: &IntentRow) -> Self {
        let JudgedTrade { payout, ended, .. } = JudgedTrade::from_row(row);
        Self {
            intent: row.approved.intent(),
            decided: row.sequence.decided,
            ended: row.sequence.end_update(),
            outcome: ended.map(|(_, outcome)| outcome),
            payout: row.sequence.settled_payout.or(payout),
        }
    }

    /// Returns the update number that the book assigned to the decision.
    pub const fn decision_number(&self) -> u32 {
        self.decided
    }

    /// Returns the payout of a win, `None` if unknown.
    pub const fn payout(&self) -> Option<Payout> {
        self.payout
    }

    /// Returns the update number that the book assigned to the latest change of the intent.
    pub const fn last_update(&self) -> u32 {
        if self.ended > self.decided { self.ended } else { self.decided }
    }
}

impl RunningEdge {
    /// Builds the sequence from all updates to the intents in `rows`.
    pub fn from_rows(rows: &[EdgeRow]) -> Self {
        let mut running = Self::default();
        running.add_updates(rows, (0, u32::MAX));
        running
    }

    /// Adds the updates from `rows` whose numbers are in `[from, before)`.
    /// All updates added earlier must have smaller numbers.
    pub fn add_updates(&mut self, rows: &[EdgeRow], (from, before): (u32, u32)) {
        let is_in_range = |number: u32| number > 0 && from <= number && number < before;
        let decisions = rows.iter().map(|row| (row.decided, UpdateKind::Decided, row));
        let ends = rows.iter().map(|row| (row.ended, UpdateKind::Ended, row));
        let mut news: Vec<_> = decisions.chain(ends).filter(|(number, ..)| is_in_range(*number)).collect();
        news.sort_unstable_by_key(|(number, news, _)| (*number, *news));
        for (_, news, row) in news {
            match news {
                UpdateKind::Decided => self.on_decided(row.intent),
                UpdateKind::Ended => self.on_end(row),
                UpdateKind::Answered => {}
            }
        }
    }

    /// Records the decision of an intent.
    pub fn on_decided(&mut self, intent: IntentId) {
        self.record_step(SequenceStep::Decided(intent));
    }

    /// Records an update to an intent. The book must have recorded the update first.
    pub fn on_update(&mut self, row: &IntentRow) {
        if row.sequence.end_update() > 0 {
            self.on_end(&EdgeRow::from_row(row));
        }
    }

    fn on_end(&mut self, row: &EdgeRow) {
        let Some(outcome) = row.outcome.filter(|_| self.open.contains_key(&row.intent)) else { return };
        let payout_fraction = row.payout.map_or(DEFAULT_PAYOUT_FRACTION, Payout::to_fraction);
        self.record_step(SequenceStep::Ended(row.intent, outcome, payout_fraction));
    }

    fn record_step(&mut self, step: SequenceStep) {
        self.apply(step);
        self.steps.push(step);
    }

    fn apply(&mut self, step: SequenceStep) {
        match step {
            SequenceStep::Decided(intent) => {
                self.open.insert(intent, self.sequence.on_open());
            }
            SequenceStep::Ended(intent, outcome, payout_fraction) => {
                if let Some(open) = self.open.remove(&intent) {
                    self.sequence.on_settled(open, to_trade_outcome(outcome), payout_fraction);
                }
            }
        }
    }

    /// Corrects the outcome of a settled trade, as if `right` had been reported from the start.
    pub fn correct_outcome(&mut self, intent: IntentId, right: Outcome) {
        let mut steps = std::mem::take(&mut self.steps);
        for step in &mut steps {
            if let SequenceStep::Ended(ended, outcome, _) = step
                && *ended == intent
            {
                *outcome = right;
            }
        }
        *self = Self::default();
        for step in &steps {
            self.apply(*step);
        }
        self.steps = steps;
    }

    /// Returns the current confidence sequence.
    pub const fn sequence(&self) -> &ConfidenceSequence {
        &self.sequence
    }
}

/// Builds the confidence sequence from the rows of a book.
/// The updates are applied in the order in which the Session received them, as in [`judge`](crate::judge).
pub fn edge_sequence<'a>(rows: impl IntoIterator<Item = &'a IntentRow>) -> ConfidenceSequence {
    edge_sequence_from_trades(&rows.into_iter().map(JudgedTrade::from_row).collect::<Vec<_>>())
}

/// Builds the confidence sequence from trades of any source, ordered as in [`judge_trades`](crate::judge_trades).
pub fn edge_sequence_from_trades(trades: &[JudgedTrade]) -> ConfidenceSequence {
    let mut sequence = ConfidenceSequence::new();
    let mut open: Vec<_> = trades.iter().map(|_| None).collect();
    for (_, _, news, place) in build_timeline(trades) {
        match news {
            UpdateKind::Decided => open[place] = Some(sequence.on_open()),
            UpdateKind::Answered => {}
            UpdateKind::Ended => {
                let JudgedTrade { payout, ended, sequence: order, .. } = trades[place];
                let payout = order.and_then(|order| order.settled_payout).or(payout);
                if let (Some(trade), Some((_, outcome))) = (open[place].take(), ended) {
                    let payout_fraction = payout.map_or(DEFAULT_PAYOUT_FRACTION, Payout::to_fraction);
                    sequence.on_settled(trade, to_trade_outcome(outcome), payout_fraction);
                }
            }
        }
    }
    sequence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolId;
    use candlewick_sdk::{Millis, Outcome};

    fn trade(decided: i64, ended: Option<(i64, Outcome)>, percent: Option<i64>) -> JudgedTrade {
        JudgedTrade {
            symbol: SymbolId::FIRST,
            decided: Millis::from_seconds(decided),
            answered: Some(Millis::from_seconds(decided + 1)),
            payout: percent.and_then(|percent| Payout::from_percent(percent.into()).ok()),
            ended: ended.map(|(at, outcome)| (Millis::from_seconds(at), outcome)),
            sequence: None,
        }
    }

    #[test]
    fn trades_count_in_the_order_of_their_updates() {
        let outcome = |place: i64| if place % 4 == 0 { Outcome::Lost } else { Outcome::Won };
        // Each trade ends after the next one has opened, and one never ends.
        let mut trades: Vec<JudgedTrade> = (0..120)
            .map(|place| trade(place * 60, Some((place * 60 + 90, outcome(place))), Some(85)))
            .collect();
        trades.push(trade(30, None, None));
        trades.push(trade(40, Some((50, Outcome::Cancelled)), None));
        let mut by_hand = ConfidenceSequence::new();
        let mut open = vec![by_hand.on_open()];
        let _lost = by_hand.on_open();
        let cancelled = by_hand.on_open();
        by_hand.on_settled(cancelled, candlewick_statistics::TradeOutcome::Cancelled, 0.85);
        for place in 1..=120 {
            if place < 120 {
                open.push(by_hand.on_open());
            }
            by_hand.on_settled(open.remove(0), to_trade_outcome(outcome(place - 1)), 0.85);
        }
        let found = edge_sequence_from_trades(&trades);
        assert_eq!(found.settled(), 120);
        assert_eq!(found.edge(0.95), by_hand.edge(0.95));
        assert_eq!(found.win_rate(0.95), by_hand.win_rate(0.95));
        trades.reverse();
        assert_eq!(edge_sequence_from_trades(&trades).edge(0.95), by_hand.edge(0.95));
    }

    #[test]
    fn corrected_sequence_equals_that_of_the_right_outcome() {
        use Outcome::{Cancelled, Draw, Lost, Won};
        let after = |third: Outcome| {
            let mut running = RunningEdge::default();
            for number in 1..=300 {
                running.on_decided(IntentId::new(number));
                let outcome = if number % 4 == 0 { Outcome::Lost } else { Outcome::Won };
                let outcome = if number == 3 { third } else { outcome };
                running.record_step(SequenceStep::Ended(IntentId::new(number), outcome, 0.85));
            }
            running
        };
        for (first, right) in [(Won, Lost), (Cancelled, Won), (Lost, Draw)] {
            let (mut corrected, expected) = (after(first), after(right));
            assert_ne!(corrected.sequence().edge(0.95), expected.sequence().edge(0.95));
            corrected.correct_outcome(IntentId::new(3), right);
            assert_eq!(corrected.sequence().edge(0.95), expected.sequence().edge(0.95), "{first} {right}");
            assert_eq!(corrected.sequence().win_rate(0.95), expected.sequence().win_rate(0.95));
            assert_eq!(corrected.sequence().settled(), expected.sequence().settled());
        }
    }
}
