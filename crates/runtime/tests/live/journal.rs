//! A journal in memory that tracks durable lines and fails on demand.

use crate::prelude::*;
use candlewick_engine::{ApprovedTrade, Control, Entry, Recorder};
use candlewick_journal::{Journal, JournalError};
use std::io;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Failing {
    #[default]
    Never,
    AfterEntries(usize),
    Durability,
    SilenceAfterEntries(usize),
    Snapshots,
}

#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) lines: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) durable: usize,
    /// Intents whose request the venue has not seen, with the number of lines up to theirs.
    pub(crate) unsent: Vec<(usize, ApprovedTrade)>,
    pub(crate) is_halted: bool,
    pub(crate) failing: Failing,
    pub(crate) delay: Duration,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryJournal(pub(crate) Arc<Mutex<Record>>);

impl Recorder for MemoryJournal {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        let mut record = self.0.lock().unwrap();
        if matches!(record.failing, Failing::AfterEntries(most) if record.lines.len() >= most) {
            return Err(io::Error::other("no room"));
        }
        record.lines.push(serde_json::to_string(&entry)?);
        match entry {
            Entry::Action(Action::Open(approved)) => {
                let lines = record.lines.len();
                record.unsent.push((lines, approved.clone()));
            }
            Entry::Event(Event { kind: EventKind::Control { control }, .. }) => {
                record.is_halted = matches!(control, Control::Halt | Control::Suspend);
            }
            Entry::Header(_) | Entry::Event(_) | Entry::Action(_) => {}
        }
        Ok(())
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn make_durable(&mut self) -> Result<(), JournalError> {
        let (delay, lines, failing) = {
            let record = self.0.lock().unwrap();
            (record.delay, record.lines.len(), record.failing)
        };
        if matches!(failing, Failing::SilenceAfterEntries(most) if lines > most) {
            return std::future::pending().await;
        }
        if delay > Duration::ZERO {
            tokio::time::sleep(delay).await;
        }
        let mut record = self.0.lock().unwrap();
        if failing == Failing::Durability {
            return Err(JournalError::DiskFull { url: "memory".to_owned(), source: "no room".into() });
        }
        record.durable = lines;
        Ok(())
    }

    fn is_snapshot_due(&self) -> bool {
        self.0.lock().unwrap().failing == Failing::Snapshots
    }

    async fn write_background_chunk(&mut self) {
        std::future::pending::<()>().await;
    }

    fn note(&mut self, _at: Millis, body: String) {
        self.0.lock().unwrap().notes.push(body);
    }

    fn pending_count(&self) -> usize {
        let record = self.0.lock().unwrap();
        record.lines.len() - record.durable
    }
}
