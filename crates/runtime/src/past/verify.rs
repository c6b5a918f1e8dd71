//! Verifies a whole journal, including all its snapshots, in one pass.

use super::fold::JournalFold;
use super::read_header;
use super::snapshot::{
    Fingerprints, WrittenParts, describe_format, is_known_format, parse_fingerprint, parse_format, parse_link,
};
use super::tables::{TableVerifier, TablesCheck};
use crate::RuntimeError;
use crate::error::Result;
use candlewick_engine::{SessionNames, SessionSettings};
use candlewick_journal::{
    Compaction, JournalVerification, LineKind, Reader, StoredLine, Tables, is_snapshot,
};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalCheck {
    pub journal: JournalVerification,
    pub snapshots: SnapshotCheck,
    pub tables: TablesCheck,
    /// Data that was removed by compaction and cannot be verified. `None` if the journal is not compacted.
    pub compaction: Option<Compaction>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotCheck {
    pub verified: u64,
    /// Number of snapshots whose content could not be verified, by reason. Their hashes were verified.
    pub unverified: BTreeMap<String, u64>,
}

/// Verifies the hash chain, rebuilds each snapshot from the preceding lines, and checks the tables.
pub async fn check_journal(reader: &mut Reader) -> Result<JournalCheck> {
    let tables = reader.tables().await?;
    let mut verifier = Verifier::new(&reader.run_headers().await?, tables);
    // A broken chain is reported before the errors that it causes.
    let verified = reader.verify_each(|stored| verifier.check_line(stored)).await?;
    match verifier.fault {
        Some(fault) => Err(fault),
        None => Ok(JournalCheck {
            journal: verified,
            snapshots: verifier.found,
            tables: verifier.tables.finish()?,
            compaction: verifier.compaction,
        }),
    }
}

struct Verifier {
    folds: BTreeMap<String, JournalFold>,
    /// State after each snapshot part, by the part's line number. A later run may continue from any part.
    snapshot_parts: BTreeMap<u64, SnapshotPart>,
    fingerprints: BTreeMap<String, String>,
    found: SnapshotCheck,
    tables: TableVerifier,
    compaction: Option<Compaction>,
    fault: Option<RuntimeError>,
}

impl Verifier {
    /// Creates one fold for each distinct set of run settings. Skips settings that this program cannot read.
    fn new(headers: &[StoredLine], tables: Option<Tables>) -> Self {
        let settings = headers.iter().filter_map(|stored| {
            let header = read_header(stored.seq, &stored.line).ok()?;
            serde_json::from_value::<SessionSettings>(header.settings.get("session")?.clone()).ok()
        });
        let (mut folds, mut fingerprints) = (BTreeMap::new(), BTreeMap::new());
        for settings in settings {
            if let (Ok(Fingerprints { current, earlier }), Ok(fold)) =
                (Fingerprints::new(&settings), JournalFold::new(&settings, 0))
            {
                fingerprints.extend([(current.clone(), current.clone()), (earlier, current.clone())]);
                folds.entry(current).or_insert(fold);
            }
        }
        // The rows cannot be rebuilt without a fold.
        let tables = TableVerifier::new(tables.filter(|_| !folds.is_empty()));
        let (snapshot_parts, found) = (BTreeMap::new(), SnapshotCheck::default());
        Self { folds, snapshot_parts, fingerprints, found, tables, compaction: None, fault: None }
    }

    fn check_line(&mut self, stored: &StoredLine) {
        if stored.seq == 1 {
            self.compaction = Compaction::from_line(&stored.line);
        }
        if self.fault.is_some() {
            return;
        }
        if is_snapshot(&stored.line.body) {
            self.check_snapshot(stored);
        } else {
            for fold in self.folds.values_mut() {
                if let Err(error) = fold.fold(stored.seq, &stored.line) {
                    self.fault = Some(error);
                    return;
                }
            }
        }
        // Intents end the same way with all settings, so any fold can be used.
        if let (None, Some(fold)) = (&self.fault, self.folds.values().next()) {
            self.fault = self.tables.check_line(stored, fold.recovered()).err();
        }
    }

    fn check_snapshot(&mut self, stored: &StoredLine) {
        let body = &stored.line.body;
        if !is_whole_snapshot(stored) {
            // A part does not name its settings, so each fold is tried. The snapshot after it reveals a mismatch.
            for fold in self.folds.values_mut() {
                if matches_rebuild(fold, &self.snapshot_parts, stored) {
                    let mut written = fold.written_parts_mut().clone();
                    written.previous = Some(stored.head());
                    let part = self.snapshot_parts.entry(stored.seq);
                    let part = part.or_insert(SnapshotPart { written, names: Vec::new() });
                    let names = fold.names();
                    if !part.names.contains(&names) {
                        part.names.push(names);
                    }
                }
            }
            return;
        }
        match parse_format(body) {
            Some(format) if is_known_format(format) => {}
            Some(format) => return self.record_unverified(describe_format(format)),
            None => return self.record_unverified("unknown format".to_owned()),
        }
        let fold = parse_fingerprint(body).and_then(|fingerprint| self.fingerprints.get(&fingerprint));
        let fold = fold.and_then(|fold| self.folds.get_mut(fold));
        let Some(fold) = fold else {
            let why = "settings of another version of this program";
            return self.record_unverified(why.to_owned());
        };
        if matches_rebuild(fold, &self.snapshot_parts, stored) {
            self.found.verified += 1;
        } else {
            self.fault = Some(RuntimeError::WrongSnapshot { seq: stored.seq });
        }
    }

    fn record_unverified(&mut self, why: String) {
        *self.found.unverified.entry(why).or_default() += 1;
    }
}

struct SnapshotPart {
    written: WrittenParts,
    names: Vec<SessionNames>,
}

fn matches_rebuild(fold: &mut JournalFold, parts: &BTreeMap<u64, SnapshotPart>, stored: &StoredLine) -> bool {
    let body = &stored.line.body;
    let Some(written) = parts_before(fold, parts, body) else { return false };
    *fold.written_parts_mut() = written;
    fold.rebuild_piece(body).is_some_and(|expected| expected == *body)
}

fn parts_before(fold: &JournalFold, parts: &BTreeMap<u64, SnapshotPart>, body: &str) -> Option<WrittenParts> {
    let link = parse_link(body).ok()?;
    let Some(head) = link.previous else { return Some(WrittenParts::default()) };
    let part = parts.get(&head.seq).filter(|part| part.written.previous == Some(head))?;
    let meant = link.names_before.clone().unwrap_or_else(|| fold.names());
    let is_meant = part.names.iter().any(|names| names.has_same_ids(&meant));
    let mut written = part.written.clone();
    written.is_renumbered |= link.names_before.is_some();
    written.names = link.names_before;
    Some(written).filter(|_| is_meant)
}

fn is_whole_snapshot(stored: &StoredLine) -> bool {
    stored.line.kind == LineKind::Note && stored.line.body.starts_with("{\"snapshot\":")
}
