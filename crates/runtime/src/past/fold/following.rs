//! Keeps the fold up to date with a running writer, and has its snapshots stored.

use super::JournalFold;
use crate::least_remembered;
use crate::past::Past;
use candlewick_engine::IntentId;
use candlewick_journal::{Follower, Head, IntentRows, JournalError, LineKind, StoredLine};
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

/// Retention of settled rows for corrections, by age and number.
const CORRECTED_FOR: Millis = Millis::DAY;
const MAX_CORRECTED: usize = 20_000;

/// Fraction of the snapshot interval (1/n) from which a snapshot at the end of a run is worthwhile.
const WORTH_AT_END: u64 = 10;

/// Number of unsaved parts from which a snapshot is worthwhile, however few lines were added.
///
/// Until then, the fold retains these intents and the next start reads their lines.
const WORTH_PARTS: u64 = 4;

impl JournalFold {
    fn forget_rows(&mut self) {
        let Self { past, before, written, every, .. } = self;
        let is_recent = recent_settlements(past);
        // Without snapshots nothing waits for one. What the last piece holds may have to be written again.
        // The parts hold what was revised since then as it was before.
        let revised = before.not_rewritten(past);
        let is_held = |intent: IntentId| {
            let is_in_parts = || written.holds_for_good(intent) && before.holds_for_good(intent);
            !is_recent.contains(&intent) && (*every == 0 || is_in_parts() && !revised.contains(&intent))
        };
        let worth = past.book.rows().len() / 2;
        let over = past.book.rows().iter().filter(|row| row.is_over() && is_held(row.approved.intent()));
        if over.count() > worth {
            past.forget(is_held);
        }
    }

    /// Returns whether to write a piece now. Never before the run's header, which determines the
    /// settings.
    fn has_piece(&self, is_end: bool) -> bool {
        !self.is_broken && self.header.is_some() && (self.is_writing || self.is_worth(is_end))
    }

    fn is_worth(&self, is_end: bool) -> bool {
        let lines = if is_end { (self.every / WORTH_AT_END).max(1) } else { self.every };
        let has_parts = self.written.lacks(&self.past, self.tried) >= self.part * WORTH_PARTS;
        self.every > 0 && (self.since >= lines || has_parts)
    }
}

fn recent_settlements(past: &Past) -> BTreeSet<IntentId> {
    let since = past.last_received - least_remembered().unwrap_or(CORRECTED_FOR);
    let rows = past.book.rows().iter().rev().filter(|row| row.settled_at.is_some_and(|at| at > since));
    rows.take(MAX_CORRECTED).map(|row| row.approved.intent()).collect()
}

impl Follower for JournalFold {
    fn take(&mut self, stored: &StoredLine) {
        if self.is_broken {
            return;
        }
        if let Err(error) = self.fold(stored.seq, &stored.line) {
            tracing::warn!(
                "no snapshot and no table is written any more, and the next start reads the journal as a whole: {error}"
            );
            self.is_broken = true;
        }
        if self.past.lacks_settlement && !self.is_broken {
            tracing::warn!(
                "no snapshot is written any more, and the next start reads the journal as a whole"
            );
            self.is_broken = true;
        }
        if stored.line.kind == LineKind::Run {
            self.header = Some(stored.seq);
        }
    }

    fn is_due(&self) -> bool {
        self.has_piece(false)
    }

    fn next_piece(&mut self, is_end: bool) -> Option<String> {
        if !self.has_piece(is_end) {
            return None;
        }
        self.before = self.written.clone();
        match self.piece() {
            Ok((body, is_whole)) => {
                self.is_writing = !is_whole;
                if is_whole {
                    self.since = 0;
                }
                Some(body)
            }
            Err(error) => {
                tracing::warn!("no snapshot is written any more: {error}");
                self.is_broken = true;
                None
            }
        }
    }

    fn recorded(&mut self, head: Head) {
        // Nothing goes on from a whole one.
        if self.is_writing {
            self.written.previous = Some(head);
        }
    }

    fn not_recorded(&mut self, why: &str) {
        if !std::mem::replace(&mut self.has_failed, true) {
            tracing::warn!(
                "a snapshot of the journal was not kept; trading goes on, and the next start reads more: {why}"
            );
        }
        self.written = self.before.clone();
        // Not again before as many lines or intents as usual: what is wrong may last.
        (self.is_writing, self.since, self.tried) = (false, 0, self.past.last_intent());
    }

    fn rows(&self) -> Option<&dyn IntentRows> {
        (!self.is_broken).then_some(&self.past as &dyn IntentRows)
    }

    fn rows_complete(&mut self) {
        self.forget_rows();
    }

    fn rows_not_written(&mut self, error: &JournalError) {
        self.row_failures += 1;
        if self.row_failures == 1 {
            tracing::warn!(
                "the journal's tables are not up to date; trading goes on, and it is tried again: {error}"
            );
        }
    }
}
