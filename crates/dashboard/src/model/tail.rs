//! The last lines of a journal, as people read along.

use candlewick_journal::StoredLine;
use candlewick_sdk::Millis;
use serde::Serialize;
use std::collections::VecDeque;
use utoipa::ToSchema;

/// Lines that are kept at hand; earlier ones are read from the journal.
const KEPT: usize = 300;
/// Letters of a line's text that are shown.
const LETTERS: usize = 600;

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct TailLine {
    /// Its number in the journal.
    pub(crate) seq: u64,
    /// The run that wrote it; 0 for what a person wrote while no bot ran.
    pub(crate) run: u64,
    /// `run`, `event`, `action` or `note`.
    pub(crate) kind: &'static str,
    /// The intent that it is about.
    pub(crate) intent: Option<u64>,
    /// Venue time of the fact, in milliseconds.
    #[schema(value_type = i64)]
    pub(crate) at: Millis,
    /// Its text, a JSON document; cut where it is long.
    pub(crate) text: String,
}

impl TailLine {
    pub(crate) fn of(stored: &StoredLine) -> Self {
        let line = &stored.line;
        let mut text: String = line.body.chars().take(LETTERS).collect();
        if text.len() < line.body.len() {
            text.push('…');
        }
        Self {
            seq: stored.seq,
            run: line.run,
            kind: line.kind.as_str(),
            intent: line.intent,
            at: line.at,
            text,
        }
    }
}

/// The last lines, without candles.
#[derive(Debug, Default)]
pub(crate) struct Tail(VecDeque<TailLine>);

impl Tail {
    pub(crate) fn push(&mut self, line: TailLine) {
        self.0.push_back(line);
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// Those after this number, at most so many of the last.
    pub(crate) fn after(&self, seq: u64, most: usize) -> Vec<TailLine> {
        let first = self.0.partition_point(|line| line.seq <= seq);
        let first = first.max(self.0.len().saturating_sub(most));
        self.0.iter().skip(first).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_journal::{ChainHash, Line, LineKind};

    #[test]
    fn a_line_is_told_once_and_a_long_one_is_cut_between_letters() {
        let mut tail = Tail::default();
        for seq in 1..=1_000 {
            let body = if seq == 1_000 { "é".repeat(5_000) } else { "{}".to_owned() };
            let line = Line {
                run: 1,
                kind: LineKind::Note,
                intent: None,
                at: Millis::ZERO,
                received: Millis::ZERO,
                body,
            };
            let hash = ChainHash::GENESIS;
            tail.push(TailLine::of(&StoredLine { seq, line, hash }));
        }
        let numbers = |after, most| tail.after(after, most).iter().map(|line| line.seq).collect::<Vec<_>>();
        assert_eq!(numbers(997, 10), [998, 999, 1_000]);
        assert_eq!(numbers(0, 2), [999, 1_000]);
        assert_eq!(numbers(1_000, 10), [0; 0]);
        assert_eq!(tail.after(0, 9_999).len(), KEPT);
        assert_eq!(tail.after(999, 1)[0].text.chars().count(), LETTERS + 1);
    }
}
