//! Serialized format of the snapshots that a journal fold creates.

use super::{IntentDecision, RecoveredState, unreadable_entry};
use crate::audit::WalletAudit;
use crate::error::Result;
use candlewick_engine::{
    IntentId, IntentRow, JournalDecoder, Renumbering, Session, SessionNames, SessionSettings,
    SessionSnapshot, StoredCounts, StoredRow,
};
use candlewick_journal::{Head, IntentRows as _};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the snapshot format. Must be increased whenever the content or its meaning changes.
pub(super) const FORMAT: u32 = 4;
/// Format version of snapshots whose earlier parts use different bot and symbol numbers.
const RENUMBERED_FORMAT: u32 = 5;

pub(super) const INTENTS_PER_PART: u64 = 250;
/// Number of displayed lines that triggers a new part, even if there are few new intents.
const MIN_DISPLAYED_LINES: usize = 10_000;

/// Journal line of a snapshot: a permanent part, or the final piece with the state.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SnapshotPiece {
    /// Permanent part, to which later snapshots refer.
    SnapshotPart(SnapshotDelta),
    /// Final piece: the state, and the data that no part contains yet. No later snapshot refers to this piece.
    Snapshot(Box<WholeSnapshot>),
}

/// Changes since the previous part: intents that are new or revised or were unfinished then, and appended data.
#[derive(Serialize, Deserialize)]
pub(super) struct SnapshotDelta {
    /// Line number and hash of the previous part, `None` for the first part.
    pub(super) previous: Option<Head>,
    pub(super) intents: Vec<StoredIntent>,
    pub(super) unexplained: Vec<String>,
    pub(super) second_trades: Vec<String>,
    pub(super) alarms: Vec<String>,
    pub(super) found: Vec<String>,
    #[serde(rename = "told")]
    pub(super) displayed: Vec<u64>,
    /// Names to which the bot and symbol numbers in the previous parts refer. `None` if the numbers are unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) names_before: Option<Box<SessionNames>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredIntent {
    pub(super) kept: StoredRow,
    pub(super) sent: Option<Millis>,
    pub(super) doubted: Option<Millis>,
    pub(super) decided: Option<IntentDecision>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WholeSnapshot {
    pub(super) format: u32,
    pub(super) settings: String,
    pub(super) gain: SnapshotDelta,
    pub(super) session: SessionSnapshot,
    pub(super) decoder: Option<JournalDecoder>,
    pub(super) totals: StoredCounts,
    pub(super) wallet: WalletAudit,
    pub(super) is_halted: bool,
    pub(super) wallet_line: Option<u64>,
    pub(super) runs: u64,
    pub(super) began: Option<Millis>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct WrittenParts {
    pub(super) previous: Option<Head>,
    last: u64,
    open: Vec<IntentId>,
    unexplained: usize,
    second_trades: usize,
    revised: usize,
    displayed: usize,
    alarms: BTreeSet<String>,
    found: BTreeSet<String>,
    pub(super) names: Option<SessionNames>,
    pub(super) is_renumbered: bool,
}

impl StoredIntent {
    pub(super) const fn row(&self) -> &IntentRow {
        self.kept.row()
    }

    pub(super) fn renumbered(self, numbers: &Renumbering) -> Self {
        Self { kept: self.kept.renumbered(numbers), ..self }
    }

    fn new(past: &RecoveredState, intent: IntentId) -> Option<Self> {
        let kept = past.book.stored_row(intent)?;
        let (sent, doubted) = (past.sent.get(&intent).copied(), past.in_doubt_since.get(&intent).copied());
        let decided = past.decided.get(&intent).copied();
        Some(Self { kept, sent, doubted, decided })
    }
}

impl WrittenParts {
    pub(super) fn from_state(past: &RecoveredState, previous: Option<Head>) -> Self {
        let under_way = past.book.rows().iter().filter(|row| !row.is_finished());
        Self {
            previous,
            last: past.last_intent(),
            open: under_way.map(|row| row.approved.intent()).collect(),
            unexplained: past.unexplained.len(),
            second_trades: past.second_trades.len(),
            revised: past.revised.len(),
            displayed: past.displayed.len(),
            alarms: past.alarms.clone(),
            found: past.findings.clone(),
            names: None,
            is_renumbered: false,
        }
    }

    pub(super) fn next_part_end(&self, past: &RecoveredState, part: u64) -> Option<u64> {
        let (last, displayed) = (past.last_intent(), past.displayed.len());
        let is_due = last >= self.last + part || displayed >= self.displayed + MIN_DISPLAYED_LINES;
        is_due.then(|| last.min(self.last + part))
    }

    pub(super) fn unsaved_intents(&self, past: &RecoveredState, after: u64) -> u64 {
        past.last_intent().saturating_sub(self.last.max(after))
    }

    pub(super) fn add_part(&mut self, past: &RecoveredState, end: u64) -> Result<String, serde_json::Error> {
        let gain = self.collect_delta(past, end);
        self.names = None;
        let revised = self.intents_revised_since_part(past);
        self.open.extend(revised.into_iter().chain((self.last + 1..=end).map(IntentId::new)));
        self.open.retain(|intent| past.book.row(*intent).is_some_and(|row| !row.is_finished()));
        self.last = end;
        (self.unexplained, self.second_trades) = (past.unexplained.len(), past.second_trades.len());
        (self.revised, self.displayed) = (past.revised.len(), past.displayed.len());
        self.alarms.extend(gain.alarms.iter().cloned());
        self.found.extend(gain.found.iter().cloned());
        serde_json::to_string(&SnapshotPiece::SnapshotPart(gain))
    }

    pub(super) fn build_full_snapshot(
        &self,
        past: &RecoveredState,
        (settings, session, decoder): (&str, &Session, Option<&JournalDecoder>),
    ) -> Result<String, serde_json::Error> {
        serde_json::to_string(&SnapshotPiece::Snapshot(Box::new(WholeSnapshot {
            format: if self.is_renumbered { RENUMBERED_FORMAT } else { FORMAT },
            settings: settings.to_owned(),
            gain: self.collect_delta(past, past.last_intent()),
            session: session.snapshot(),
            decoder: decoder.cloned(),
            totals: past.book.stored_counts(),
            wallet: past.wallet.clone(),
            is_halted: past.is_halted,
            wallet_line: past.wallet_line,
            runs: past.runs,
            began: past.began,
        })))
    }

    fn collect_delta(&self, past: &RecoveredState, end: u64) -> SnapshotDelta {
        let new = (self.last + 1..=end).map(IntentId::new);
        let intents = self.open.iter().copied().chain(self.intents_revised_since_part(past)).chain(new);
        SnapshotDelta {
            previous: self.previous,
            intents: intents.filter_map(|intent| StoredIntent::new(past, intent)).collect(),
            unexplained: past.unexplained[self.unexplained..].to_vec(),
            second_trades: past.second_trades[self.second_trades..].to_vec(),
            alarms: past.alarms.difference(&self.alarms).cloned().collect(),
            found: past.findings.difference(&self.found).cloned().collect(),
            displayed: past.displayed[self.displayed..].to_vec(),
            names_before: self.names.clone().map(Box::new),
        }
    }

    pub(super) fn unsaved_revisions(&self, past: &RecoveredState) -> Vec<IntentId> {
        past.revised.get(self.revised..).unwrap_or_default().to_vec()
    }

    fn intents_revised_since_part(&self, past: &RecoveredState) -> BTreeSet<IntentId> {
        let since = self.unsaved_revisions(past).into_iter();
        since.filter(|intent| self.has_final_state(*intent)).collect()
    }

    pub(super) fn intents_revised_in_delta(&self, gain: &SnapshotDelta) -> Vec<IntentId> {
        let intents = gain.intents.iter().map(|intent| intent.row().approved.intent());
        intents.filter(|intent| self.has_final_state(*intent)).collect()
    }

    pub(super) fn part_end(&self, past: &RecoveredState, body: &str) -> Option<u64> {
        let SnapshotPiece::SnapshotPart(gain) = serde_json::from_str(body).ok()? else { return None };
        let last = gain.intents.last().map_or(0, |intent| intent.kept.row().approved.intent().number());
        Some(last.min(past.last_intent()).max(self.last))
    }

    pub(super) fn has_final_state(&self, intent: IntentId) -> bool {
        intent.number() <= self.last && !self.open.contains(&intent)
    }
}

#[derive(Deserialize)]
pub(super) struct PreviousLink {
    pub(super) previous: Option<Head>,
    pub(super) names_before: Option<SessionNames>,
}

pub(super) fn parse_link(body: &str) -> Result<PreviousLink, serde_json::Error> {
    #[derive(Deserialize)]
    struct SnapshotLink {
        gain: PreviousLink,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum PieceLink {
        SnapshotPart(PreviousLink),
        Snapshot(SnapshotLink),
    }
    Ok(match serde_json::from_str(body)? {
        PieceLink::SnapshotPart(part) => part,
        PieceLink::Snapshot(whole) => whole.gain,
    })
}

pub(super) fn parse_fingerprint(body: &str) -> Option<String> {
    let piece: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(piece.pointer("/snapshot/settings")?.as_str()?.to_owned())
}

pub(super) fn parse_format(body: &str) -> Option<u32> {
    let piece: serde_json::Value = serde_json::from_str(body).ok()?;
    u32::try_from(piece.pointer("/snapshot/format")?.as_u64()?).ok()
}

pub(super) const fn is_known_format(format: u32) -> bool {
    matches!(format, FORMAT | RENUMBERED_FORMAT)
}

pub(super) fn describe_format(found: u32) -> String {
    format!("its format is {found}, but this program reads formats {FORMAT} and {RENUMBERED_FORMAT}")
}

/// Hashes of a run's settings, as computed by this program version and by earlier versions.
pub(super) struct Fingerprints {
    pub(super) current: String,
    pub(super) earlier: String,
}

impl Fingerprints {
    pub(super) fn new(settings: &SessionSettings) -> Result<Self> {
        let unreadable = |error: serde_json::Error| unreadable_entry(0, &error.to_string());
        let own = settings.fingerprint().map_err(unreadable)?;
        Ok(Self { current: own, earlier: settings.legacy_fingerprint().map_err(unreadable)? })
    }

    pub(super) fn matches(&self, fingerprint: &str) -> bool {
        fingerprint == self.current || fingerprint == self.earlier
    }
}
