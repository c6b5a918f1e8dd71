//! Journal notes: audit findings, alarms, foreign trades and reloads.

use candlewick_engine::{Halt, ReloadNote, Reloaded};
use candlewick_journal::StoredLine;
use candlewick_runtime::control::SignalTally;
use candlewick_sdk::Millis;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use utoipa::ToSchema;

const KEPT: usize = 30;

/// An alarm, or what an audit found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Note {
    /// The number of its line.
    pub(crate) seq: u64,
    /// Venue time, in milliseconds.
    #[schema(value_type = i64)]
    pub(crate) at: Millis,
    /// `alarm`, `unexplained`, or the audit's name.
    pub(crate) kind: String,
    /// What it says.
    pub(crate) text: String,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) last: VecDeque<Note>,
    pub(crate) findings: BTreeMap<String, u64>,
    pub(crate) halt: Option<Halt>,
    pub(crate) alarms: u64,
    pub(crate) reloaded: Option<Reloaded>,
    pub(crate) signals: Option<(u64, SignalTally)>,
}

impl Notes {
    pub(crate) fn take(&mut self, stored: &StoredLine) -> Option<ReloadNote> {
        if let Ok(Some(note)) = ReloadNote::of_text(&stored.line.body) {
            self.reloaded = Some(note.reloaded.clone());
            return Some(note);
        }
        if let Some(signals) = SignalTally::of_note(&stored.line.body) {
            self.signals = Some((stored.line.run, signals));
            return None;
        }
        let note: Value = serde_json::from_str(&stored.line.body).unwrap_or_default();
        let text = |name: &str| note[name].as_str().map(str::to_owned);
        let (kind, text) = if let Some(alarm) = text("alarm") {
            self.alarms += 1;
            self.halt = Halt::from_alarm(&alarm, stored.line.at).or(self.halt.take());
            ("alarm".to_owned(), alarm)
        } else if let Some(audit) = text("audit") {
            *self.findings.entry(audit.clone()).or_default() += 1;
            (audit, text("finding").unwrap_or_default())
        } else if let Some(id) = text("unexplained") {
            let what = note["second_of"].as_u64().map_or_else(
                || "explained by no intent".to_owned(),
                |intent| format!("a second one of trade #{intent}"),
            );
            ("unexplained".to_owned(), format!("trade {id}: {what}"))
        } else {
            return None;
        };
        self.last.push_back(Note { seq: stored.seq, at: stored.line.at, kind, text });
        if self.last.len() > KEPT {
            self.last.pop_front();
        }
        None
    }
}
