//! Updates the tables from the entries in small pieces while nothing waits for the journal.

use super::record::IntentRecord;
use super::write::RowsToWrite;
use crate::{Head, JournalError, JournalUrl, LineKind, Reader, Store, StoredLine};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

const ROWS: usize = 250;
const INTENTS: u64 = 500;
const ENTRIES: u64 = 20_000;
/// Maximum backlog for which entries are scanned; beyond it, intents are.
const FEW_ENTRIES: u64 = 200_000;
const WORTH: u64 = 50_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunNames {
    pub bots: Vec<(String, String)>,
    /// Number of the wallet's smallest units per unit of currency.
    pub unit: i64,
}

pub trait IntentRows: Send + Sync {
    fn last_intent(&self) -> u64;

    /// Returns the run that decided an intent, `None` if it was evicted.
    ///
    /// An evicted intent is final: its row stays the same, except for the number of its last entry.
    fn run_of(&self, intent: u64) -> Option<u64>;

    fn names_of(&self, header: &StoredLine) -> Option<RunNames>;

    fn record(&self, intent: u64, seq: u64, names: &RunNames) -> Option<IntentRecord>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectionEnd {
    More,
    Complete(Head),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    Unknown,
    Entries(u64),
    Intents(u64),
    Done,
}

/// Projects changes of intents into the tables of a journal.
///
/// It receives every line in order from some moment on, and finds earlier changes missing in the
/// tables by itself.
pub struct Projector {
    before: Head,
    seen: Head,
    last_before: Option<u64>,
    search: Search,
    clears: bool,
    changed: BTreeMap<u64, u64>,
    names: BTreeMap<u64, RunNames>,
    complete: Option<u64>,
}

impl Projector {
    pub fn after(head: Head) -> Self {
        Self {
            before: head,
            seen: head,
            last_before: None,
            search: Search::Unknown,
            clears: false,
            changed: BTreeMap::new(),
            names: BTreeMap::new(),
            complete: None,
        }
    }

    pub fn anew(head: Head) -> Self {
        Self { clears: true, search: Search::Intents(1), ..Self::after(head) }
    }

    /// Receives the next durable line. `source` must have received it before.
    pub fn take(&mut self, stored: &StoredLine, source: &dyn IntentRows) {
        self.seen = stored.head();
        match (stored.line.kind, stored.line.intent) {
            (LineKind::Event | LineKind::Action, Some(intent)) => {
                self.changed.insert(intent, stored.seq);
            }
            (LineKind::Run, _) => {
                self.names.extend(source.names_of(stored).map(|names| (stored.line.run, names)));
            }
            _ => {}
        }
    }

    pub fn is_due(&self) -> bool {
        let behind = self.complete.map_or(u64::MAX, |complete| self.seen.seq.saturating_sub(complete));
        self.search != Search::Done || !self.changed.is_empty() || behind >= WORTH
    }

    pub fn is_catching_up(&self) -> bool {
        self.clears || self.search != Search::Done || self.changed.len() > ROWS
    }

    pub fn is_behind(&self) -> bool {
        self.clears || self.complete != Some(self.seen.seq)
    }

    /// Writes the next piece. If the future is dropped, the piece is written again.
    pub async fn keep_piece(
        &mut self,
        store: &mut Store,
        source: &dyn IntentRows,
    ) -> Result<ProjectionEnd, JournalError> {
        let url = store.url.clone();
        self.look(&url, source).await?;
        if self.clears {
            store.write_rows(&RowsToWrite { clears: true, intents: Vec::new(), up_to: None }).await?;
            self.clears = false;
            return Ok(ProjectionEnd::More);
        }
        let changed: Vec<(u64, u64)> =
            self.changed.iter().take(ROWS).map(|(intent, seq)| (*intent, *seq)).collect();
        let mut intents = Vec::with_capacity(changed.len());
        for (intent, seq) in &changed {
            let Some(run) = source.run_of(*intent) else {
                let row = Reader::row_of(&url, *intent).await?;
                intents.extend(row.map(|row| IntentRecord { seq: *seq, ..row }));
                continue;
            };
            if let Entry::Vacant(vacant) = self.names.entry(run) {
                let mut reader = Reader::open(&url).await?;
                let header = reader.run_header(run).await?;
                reader.close().await;
                vacant.insert(header.and_then(|header| source.names_of(&header)).unwrap_or_default());
            }
            intents.extend(self.names.get(&run).and_then(|names| source.record(*intent, *seq, names)));
        }
        let is_all = self.search == Search::Done && changed.len() == self.changed.len();
        let up_to = is_all.then_some(self.seen);
        store.write_rows(&RowsToWrite { clears: false, intents, up_to }).await?;
        for (intent, _) in changed {
            self.changed.remove(&intent);
        }
        self.complete = up_to.map(|head| head.seq);
        Ok(up_to.map_or(ProjectionEnd::More, ProjectionEnd::Complete))
    }

    async fn look(&mut self, url: &JournalUrl, source: &dyn IntentRows) -> Result<(), JournalError> {
        if self.search == Search::Done || self.clears {
            return Ok(());
        }
        let mut reader = Reader::open(url).await?;
        let last = *self.last_before.get_or_insert_with(|| source.last_intent());
        if self.search == Search::Unknown {
            let begin = self.begin(&mut reader).await?;
            self.clears |= begin.is_none();
            self.search = begin.unwrap_or(Search::Intents(1));
        }
        while !self.clears && self.changed.len() < ROWS {
            let (found, next) = match self.search {
                Search::Entries(from) => {
                    let to = (from + ENTRIES).min(self.before.seq + 1);
                    let is_end = to > self.before.seq;
                    let next = if is_end { Search::Done } else { Search::Entries(to) };
                    (reader.intents_of_entries(from, to).await?, next)
                }
                Search::Intents(from) => {
                    let to = from + INTENTS;
                    let next = if to > last { Search::Done } else { Search::Intents(to) };
                    (reader.stale_intents(from, to).await?, next)
                }
                Search::Unknown | Search::Done => break,
            };
            for (intent, seq) in found {
                let known = self.changed.entry(intent).or_insert(seq);
                *known = seq.max(*known);
            }
            self.search = next;
        }
        reader.close().await;
        Ok(())
    }

    async fn begin(&self, reader: &mut Reader) -> Result<Option<Search>, JournalError> {
        let Some(progress) = reader.progress().await? else { return Ok(None) };
        let Head { seq, .. } = progress.up_to;
        // Of another journal, or of entries that were there once.
        let is_ours = seq == 0 || reader.line_at(progress.up_to).await?.is_some();
        if !is_ours || seq > self.before.seq {
            return Ok(None);
        }
        Ok(Some(if seq == self.before.seq && progress.is_complete {
            Search::Done
        } else if self.before.seq - seq <= FEW_ENTRIES && progress.is_complete {
            Search::Entries(seq + 1)
        } else {
            Search::Intents(1)
        }))
    }
}
