//! A journal from its first line to its last, and every snapshot in it against the fold of the lines before it, in one walk.

use super::fold::JournalFold;
use super::read_header;
use super::snapshot::{Fingerprints, Written, format_of, is_known, link_of, other_format, settings_of};
use super::tables::{TablesCheck, TablesToCheck};
use crate::RuntimeError;
use candlewick_engine::{SessionNames, SessionSettings};
use candlewick_journal::{Compaction, LineKind, Reader, StoredLine, Tables, Verified, is_snapshot};
use std::collections::BTreeMap;

/// What came of a check of a whole journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalCheck {
    /// What its chain covers.
    pub verified: Verified,
    /// What came of its snapshots.
    pub snapshots: SnapshotCheck,
    /// What came of its tables.
    pub tables: TablesCheck,
    /// What was left out of it when it was made from another; that is not checked.
    pub compaction: Option<Compaction>,
}

/// What came of the snapshots of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotCheck {
    /// How many are what the lines before them come to.
    pub sound: u64,
    /// How many this program cannot check, by why that is so. Their place in the chain is checked as that of any line.
    pub not_checked: BTreeMap<String, u64>,
}

/// Computes the chain of a journal again, makes each of its snapshots again from the lines before it, and the rows of its tables from the lines
/// up to the one that they stand at.
///
/// # Errors
/// [`RuntimeError::Journal`] for a journal that cannot be read or is not as it was written, [`RuntimeError::WrongSnapshot`] at the
/// first snapshot that differs from what the lines before it come to, [`RuntimeError::WrongRow`] at the first such row of the tables,
/// [`RuntimeError::UnreadableEntry`] for a line that is no entry.
pub async fn check_journal(reader: &mut Reader) -> Result<JournalCheck, RuntimeError> {
    let tables = reader.tables().await?;
    let mut checks = Checks::of(&reader.run_headers().await?, tables);
    // The chain first: what is wrong there says more than what is made of it.
    let verified = reader.verify_each(|stored| checks.take(stored)).await?;
    match checks.fault {
        Some(fault) => Err(fault),
        None => Ok(JournalCheck {
            verified,
            snapshots: checks.found,
            tables: checks.tables.end()?,
            compaction: checks.compaction,
        }),
    }
}

/// The folds under all settings that runs had, each beside its snapshots.
struct Checks {
    /// By the hashes of the settings.
    folds: BTreeMap<String, JournalFold>,
    /// What the parts of snapshots held up to each of them, by its number: a later run may go on from any.
    after: BTreeMap<u64, Part>,
    /// Which of them a snapshot is of, by what it says of its settings.
    fingerprints: BTreeMap<String, String>,
    found: SnapshotCheck,
    tables: TablesToCheck,
    compaction: Option<Compaction>,
    /// The first that is wrong: nothing is folded after it.
    fault: Option<RuntimeError>,
}

impl Checks {
    /// Runs whose settings this program does not understand have snapshots that it cannot make again.
    fn of(headers: &[StoredLine], tables: Option<Tables>) -> Self {
        let settings = headers.iter().filter_map(|stored| {
            let header = read_header(stored.seq, &stored.line).ok()?;
            serde_json::from_value::<SessionSettings>(header.settings.get("session")?.clone()).ok()
        });
        let (mut folds, mut fingerprints) = (BTreeMap::new(), BTreeMap::new());
        for settings in settings {
            if let (Ok(Fingerprints { own, earlier }), Ok(fold)) =
                (Fingerprints::of(&settings), JournalFold::new(&settings, 0))
            {
                fingerprints.extend([(own.clone(), own.clone()), (earlier, own.clone())]);
                folds.entry(own).or_insert(fold);
            }
        }
        // No row can be made again without a fold.
        let tables = TablesToCheck::new(tables.filter(|_| !folds.is_empty()));
        let (after, found) = (BTreeMap::new(), SnapshotCheck::default());
        Self { folds, after, fingerprints, found, tables, compaction: None, fault: None }
    }

    fn take(&mut self, stored: &StoredLine) {
        if stored.seq == 1 {
            self.compaction = Compaction::of_line(&stored.line);
        }
        if self.fault.is_some() {
            return;
        }
        if is_snapshot(&stored.line.body) {
            self.take_snapshot(stored);
        } else {
            for fold in self.folds.values_mut() {
                if let Err(error) = fold.fold(stored.seq, &stored.line) {
                    self.fault = Some(error);
                    return;
                }
            }
        }
        // What becomes of intents is the same under all settings.
        if let (None, Some(fold)) = (&self.fault, self.folds.values().next()) {
            self.fault = self.tables.take(stored, fold.past()).err();
        }
    }

    fn take_snapshot(&mut self, stored: &StoredLine) {
        let body = &stored.line.body;
        if !is_whole(stored) {
            // A part does not say of which settings it is: one that is wrong is not known to the whole that continues it.
            for fold in self.folds.values_mut() {
                if is_same(fold, &self.after, stored) {
                    let mut written = fold.written().clone();
                    written.previous = Some(stored.head());
                    let part = self.after.entry(stored.seq);
                    let part = part.or_insert(Part { written, names: Vec::new() });
                    let names = fold.names();
                    if !part.names.contains(&names) {
                        part.names.push(names);
                    }
                }
            }
            return;
        }
        match format_of(body) {
            Some(format) if is_known(format) => {}
            Some(format) => return self.not_checked(other_format(format)),
            None => return self.not_checked("of a format that this program does not know".to_owned()),
        }
        let fold = settings_of(body).and_then(|fingerprint| self.fingerprints.get(&fingerprint));
        let fold = fold.and_then(|fold| self.folds.get_mut(fold));
        let Some(fold) = fold else {
            let why = "of settings that this program folds otherwise: another version of it wrote them";
            return self.not_checked(why.to_owned());
        };
        if is_same(fold, &self.after, stored) {
            self.found.sound += 1;
        } else {
            self.fault = Some(RuntimeError::WrongSnapshot { seq: stored.seq });
        }
    }

    fn not_checked(&mut self, why: String) {
        *self.found.not_checked.entry(why).or_default() += 1;
    }
}

/// A part of a snapshot that is what the lines before it come to.
struct Part {
    /// What it and the parts before it held: the same under all settings.
    written: Written,
    /// What its numbers of bots and symbols mean under the settings that it may be of.
    names: Vec<SessionNames>,
}

/// Whether this piece is what the fold comes to, behind the parts that it continues.
fn is_same(fold: &mut JournalFold, after: &BTreeMap<u64, Part>, stored: &StoredLine) -> bool {
    let body = &stored.line.body;
    let Some(written) = written_before(fold, after, body) else { return false };
    *fold.written() = written;
    fold.piece_like(body).is_some_and(|expected| expected == *body)
}

/// What was written before a piece, by the line that it continues and what it says of the numbers there.
fn written_before(fold: &JournalFold, after: &BTreeMap<u64, Part>, body: &str) -> Option<Written> {
    let link = link_of(body).ok()?;
    let Some(head) = link.previous else { return Some(Written::default()) };
    let part = after.get(&head.seq).filter(|part| part.written.previous == Some(head))?;
    let meant = link.names_before.clone().unwrap_or_else(|| fold.names());
    let is_meant = part.names.iter().any(|names| names.are_numbered_as(&meant));
    let mut written = part.written.clone();
    written.has_other_numbers |= link.names_before.is_some();
    written.names = link.names_before;
    Some(written).filter(|_| is_meant)
}

fn is_whole(stored: &StoredLine) -> bool {
    stored.line.kind == LineKind::Note && stored.line.body.starts_with("{\"snapshot\":")
}
