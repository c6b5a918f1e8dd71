//! Every snapshot of a journal against the fold of the lines before it.

use super::fold::JournalFold;
use super::snapshot::{Written, previous_of, settings_of};
use super::{damaged, read_header};
use crate::RuntimeError;
use candlewick_engine::SessionSettings;
use candlewick_journal::{LineKind, Reader, StoredLine, is_snapshot};
use std::collections::BTreeMap;

/// Lines read at once.
const PAGE: u32 = 5_000;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotCheck {
    /// How many snapshots are what the lines before them come to.
    pub snapshots: u64,
}

/// Makes each snapshot of a journal again from the lines before it, and holds it against what was written.
///
/// # Errors
/// [`RuntimeError::WrongSnapshot`] at the first that differs; a journal that cannot be read or is not as it was written.
pub async fn check_snapshots(reader: &mut Reader) -> Result<SnapshotCheck, RuntimeError> {
    let mut checked = SnapshotCheck { snapshots: 0 };
    for (fingerprint, settings) in settings_of_snapshots(reader).await? {
        let mut check = Check::of(&settings, fingerprint)?;
        let mut walk = reader.walk(PAGE).await?;
        loop {
            let lines = walk.next().await?;
            if lines.is_empty() {
                break;
            }
            lines.iter().try_for_each(|stored| check.take(stored))?;
        }
        checked.snapshots += check.snapshots;
    }
    Ok(checked)
}

/// The settings under which there are snapshots, by their hashes.
async fn settings_of_snapshots(
    reader: &mut Reader,
) -> Result<BTreeMap<String, SessionSettings>, RuntimeError> {
    let (mut found, mut run): (BTreeMap<String, SessionSettings>, _) = (BTreeMap::new(), None);
    let mut walk = reader.walk(PAGE).await?;
    loop {
        let lines = walk.next().await?;
        if lines.is_empty() {
            return Ok(found);
        }
        for stored in &lines {
            if stored.line.kind == LineKind::Run {
                run = read_header(stored.seq, &stored.line)?.settings.get("session").cloned();
            }
            let fingerprint = if is_whole(stored) { settings_of(&stored.line.body) } else { None };
            let Some(fingerprint) = fingerprint.filter(|known| !found.contains_key(known)) else { continue };
            let settings = serde_json::from_value(run.clone().unwrap_or_default());
            let settings: SessionSettings =
                settings.map_err(|error| damaged(stored.seq, &error.to_string()))?;
            found.insert(fingerprint, settings);
        }
    }
}

/// A fold under the settings of some runs, beside the snapshots of these.
struct Check {
    fold: JournalFold,
    fingerprint: String,
    /// What the lines of snapshots held up to each of them, by its number: a later run goes on from any whole one.
    after: BTreeMap<u64, Written>,
    snapshots: u64,
}

impl Check {
    fn of(settings: &SessionSettings, fingerprint: String) -> Result<Self, RuntimeError> {
        let fold = JournalFold::new(settings, 0).map_err(|error| damaged(0, &error.to_string()))?;
        Ok(Self { fold, fingerprint, after: BTreeMap::new(), snapshots: 0 })
    }

    fn take(&mut self, stored: &StoredLine) -> Result<(), RuntimeError> {
        let body = &stored.line.body;
        if !is_snapshot(body) {
            return self.fold.fold(stored.seq, &stored.line);
        }
        let is_whole = is_whole(stored);
        if is_whole && settings_of(body).as_ref() != Some(&self.fingerprint) {
            return Ok(());
        }
        let is_same = self.written_before(body).is_some_and(|written| {
            *self.fold.written() = written;
            self.fold.piece().is_ok_and(|(expected, _)| expected == *body)
        });
        if is_same {
            self.fold.written().previous = Some(stored.head());
            self.after.insert(stored.seq, self.fold.written().clone());
            self.snapshots += u64::from(is_whole);
        } else if is_whole {
            return Err(RuntimeError::WrongSnapshot { seq: stored.seq });
        }
        // A part does not say of which settings it is: one that is wrong is not known to the whole that continues it.
        Ok(())
    }

    /// What was written before a piece, by the line that it continues.
    fn written_before(&self, body: &str) -> Option<Written> {
        match previous_of(body).ok()? {
            None => Some(Written::default()),
            Some(head) => self.after.get(&head.seq).filter(|written| written.previous == Some(head)).cloned(),
        }
    }
}

fn is_whole(stored: &StoredLine) -> bool {
    stored.line.kind == LineKind::Note && stored.line.body.starts_with("{\"snapshot\":")
}
