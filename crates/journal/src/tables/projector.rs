//! Keeps the tables up with the entries: what has changed is written in small pieces, while nobody waits for the journal.

use super::record::IntentRecord;
use super::write::RowsToWrite;
use crate::{Head, JournalError, JournalUrl, LineKind, Reader, Store, StoredLine};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Intents of one piece.
const ROWS: usize = 250;
/// Intents, and entries, that are looked through at once for what the tables do not have.
const INTENTS: u64 = 500;
const ENTRIES: u64 = 20_000;
/// Behind by no more entries than this, the entries are looked through; else the intents.
const FEW_ENTRIES: u64 = 200_000;
/// So many entries without any intent among them are worth a piece that only says how far the tables are.
const WORTH: u64 = 50_000;

/// The names that the header of a run gives to what its entries number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunNames {
    /// Name and pair of each bot, in their order.
    pub bots: Vec<(String, String)>,
    /// How many of the wallet's smallest unit are 1.
    pub unit: i64,
}

/// Who knows what the entries so far come to: the rows of the tables are made of that.
pub trait IntentRows: Send + Sync {
    /// The number of the last intent; 0 for none.
    fn last_intent(&self) -> u64;

    /// The run in which an intent was decided. None of one that it has forgotten: that is over, and its row in the tables stays but
    /// for the number of its last entry.
    fn run_of(&self, intent: u64) -> Option<u64>;

    /// What the header of a run names.
    fn names_of(&self, header: &StoredLine) -> Option<RunNames>;

    /// The row of an intent, which `seq` is the last entry about.
    fn record(&self, intent: u64, seq: u64, names: &RunNames) -> Option<IntentRecord>;
}

/// What the tables came to with a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectionEnd {
    /// More is to follow.
    More,
    /// They hold all up to this entry.
    Complete(Head),
}

/// Where it stands in finding out what the tables do not have of the entries before it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// How far they are is not known.
    Unknown,
    /// Entries from this number on are to be looked through, up to the last one before.
    Entries(u64),
    /// Intents from this number on.
    Intents(u64),
    /// All is found.
    Done,
}

/// Writes what changes of intents into the tables of a journal. It takes every line in its order, from a moment on; what came before and
/// is not in the tables it finds by itself.
pub struct Projector {
    /// The last line before those that it was handed.
    before: Head,
    /// The last line that it was handed.
    seen: Head,
    /// The last intent that was decided before.
    last_before: Option<u64>,
    search: Search,
    /// The tables are emptied with the next piece.
    clears: bool,
    /// Intents whose rows are not written yet, each with the last entry about it.
    changed: BTreeMap<u64, u64>,
    names: BTreeMap<u64, RunNames>,
    /// Up to where the tables are known to be complete.
    complete: Option<u64>,
}

impl Projector {
    /// For the lines that follow this one.
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

    /// The same, which makes the tables anew.
    pub fn anew(head: Head) -> Self {
        Self { clears: true, search: Search::Intents(1), ..Self::after(head) }
    }

    /// Takes the next line, once it is durable; before its rows are asked for, their source has taken it too.
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

    /// Whether there is anything to write, or to look for.
    pub fn is_due(&self) -> bool {
        let behind = self.complete.map_or(u64::MAX, |complete| self.seen.seq.saturating_sub(complete));
        self.search != Search::Done || !self.changed.is_empty() || behind >= WORTH
    }

    /// Whether it is still finding out what the tables do not have.
    pub fn is_catching_up(&self) -> bool {
        self.clears || self.search != Search::Done || self.changed.len() > ROWS
    }

    /// Whether the tables are not known to hold all that it was handed.
    pub fn is_behind(&self) -> bool {
        self.clears || self.complete != Some(self.seen.seq)
    }

    /// Writes the next piece. Dropped on the way, it is written again.
    ///
    /// # Errors
    /// The journal cannot be read or written; it may be tried again.
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

    /// Looks through the next part of what came before for what the tables do not have, as long as there is room for it.
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

    /// Where to look; none where the tables are to be made anew.
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
