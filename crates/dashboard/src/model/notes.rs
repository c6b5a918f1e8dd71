//! Journal notes (audit findings, alarms, foreign trades and reloads), and the latest journal lines.

use candlewick_engine::{Halt, ReloadNote, SettingsReload};
use candlewick_journal::StoredLine;
use candlewick_runtime::control::SignalTally;
use candlewick_sdk::Millis;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use utoipa::ToSchema;

const MAX_NOTES: usize = 30;
const MAX_TAIL_LINES: usize = 300;
const MAX_TEXT_CHARS: usize = 600;

/// An alarm, an audit finding or a foreign trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Note {
    /// Line number in the journal.
    pub(crate) seq: u64,
    /// Venue time of the note, in milliseconds since 1970.
    #[schema(value_type = i64)]
    pub(crate) at: Millis,
    /// Kind of note: `alarm`, `unexplained` (a foreign trade), or the name of the audit.
    pub(crate) kind: String,
    pub(crate) text: String,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) latest: VecDeque<Note>,
    pub(crate) finding_counts: BTreeMap<String, u64>,
    pub(crate) last_halt: Option<Halt>,
    pub(crate) alarm_count: u64,
    pub(crate) last_reload: Option<SettingsReload>,
    pub(crate) signal_tally: Option<(u64, SignalTally)>,
}

impl Notes {
    pub(crate) fn add(&mut self, stored: &StoredLine) -> Option<ReloadNote> {
        if let Ok(Some(note)) = ReloadNote::parse(&stored.line.body) {
            self.last_reload = Some(note.reloaded.clone());
            return Some(note);
        }
        if let Some(signals) = SignalTally::from_note(&stored.line.body) {
            self.signal_tally = Some((stored.line.run, signals));
            return None;
        }
        let note: Value = serde_json::from_str(&stored.line.body).unwrap_or_default();
        let text = |name: &str| note[name].as_str().map(str::to_owned);
        let (kind, text) = if let Some(alarm) = text("alarm") {
            self.alarm_count += 1;
            self.last_halt = Halt::from_alarm_text(&alarm, stored.line.at).or(self.last_halt.take());
            ("alarm".to_owned(), alarm)
        } else if let Some(audit) = text("audit") {
            *self.finding_counts.entry(audit.clone()).or_default() += 1;
            (audit, text("finding").unwrap_or_default())
        } else if let Some(id) = text("unexplained") {
            let what = note["second_of"].as_u64().map_or_else(
                || "unknown trade at the venue".to_owned(),
                |intent| format!("duplicate of trade #{intent}"),
            );
            ("unexplained".to_owned(), format!("trade {id}: {what}"))
        } else {
            return None;
        };
        self.latest.push_back(Note { seq: stored.seq, at: stored.line.at, kind, text });
        if self.latest.len() > MAX_NOTES {
            self.latest.pop_front();
        }
        None
    }
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct TailLine {
    /// Line number in the journal.
    pub(crate) seq: u64,
    /// Number of the run that wrote the line, 0 for a manual entry between two runs.
    pub(crate) run: u64,
    /// Kind of line: `run`, `event`, `action` or `note`.
    pub(crate) kind: &'static str,
    /// Number of the trade that the line is about, null if there is none.
    pub(crate) intent: Option<u64>,
    /// Venue time of the line, in milliseconds since 1970.
    #[schema(value_type = i64)]
    pub(crate) at: Millis,
    /// JSON text of the line, truncated after 600 characters.
    pub(crate) text: String,
}

impl TailLine {
    pub(crate) fn from_stored(stored: &StoredLine) -> Self {
        let line = &stored.line;
        let mut text: String = line.body.chars().take(MAX_TEXT_CHARS).collect();
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

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct NewLines {
    pub(crate) missed: u64,
    pub(crate) lines: Vec<TailLine>,
    #[serde(skip)]
    pub(crate) total: u64,
}

#[derive(Debug, Default)]
pub(crate) struct JournalTail {
    last: VecDeque<TailLine>,
    count: u64,
}

impl JournalTail {
    pub(crate) fn push(&mut self, line: TailLine) {
        self.count += 1;
        self.last.push_back(line);
        if self.last.len() > MAX_TAIL_LINES {
            self.last.pop_front();
        }
    }

    pub(crate) fn lines_after(&self, sent: Option<u64>, limit: usize) -> NewLines {
        let sent = sent.filter(|sent| *sent <= self.count);
        let new = self.count - sent.unwrap_or(0);
        let shown = self.last.len().min(limit).min(usize::try_from(new).unwrap_or(usize::MAX));
        let lines = self.last.iter().skip(self.last.len() - shown).cloned().collect();
        NewLines { missed: sent.map_or(0, |_| new - shown as u64), lines, total: self.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_journal::{ChainHash, Line, LineKind};

    #[test]
    fn sends_each_line_once_and_truncates_long_ones() {
        let mut tail = JournalTail::default();
        for seq in 1..=1_000 {
            let body = if seq == 1_000 { "é".repeat(5_000) } else { "{}".to_owned() };
            let (at, hash) = (Millis::ZERO, ChainHash::GENESIS);
            let line = Line { run: 1, kind: LineKind::Note, intent: None, at, received: at, body };
            tail.push(TailLine::from_stored(&StoredLine { seq, line, hash }));
        }
        let told = |told, most| {
            let news = tail.lines_after(told, most);
            (news.missed, news.lines.iter().map(|line| line.seq).collect::<Vec<_>>())
        };
        assert_eq!(told(Some(997), 10), (0, vec![998, 999, 1_000]));
        assert_eq!(told(Some(1_000), 10), (0, vec![]));
        assert_eq!(told(Some(990), 2), (8, vec![999, 1_000]));
        assert_eq!(told(None, 2), (0, vec![999, 1_000]));
        assert_eq!(told(Some(1_001), 1), (0, vec![1_000]), "a line count from another journal");
        let all = tail.lines_after(Some(0), 9_999);
        assert_eq!((all.missed, all.lines.len(), all.total), (700, 300, 1_000));
        assert_eq!(tail.lines_after(None, 1).lines[0].text.chars().count(), MAX_TEXT_CHARS + 1);
    }
}
