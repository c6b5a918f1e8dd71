//! Recorders that use no database: a JSON Lines file, a null recorder and a tee.

use crate::private_file::NewFile;
use crate::{Journal, JournalError};
use async_trait::async_trait;
use candlewick_engine::{Entry, Recorder};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Journal that is written to a new JSON Lines file. The file gets its final name only when it is complete.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    new: NewFile,
    writer: BufWriter<File>,
    pending: usize,
}

impl FileJournal {
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let (new, file) = NewFile::create(path)?;
        Ok(Self { path: path.to_owned(), new, writer: BufWriter::with_capacity(1 << 16, file), pending: 0 })
    }

    pub fn finish(&mut self) -> Result<(), JournalError> {
        self.sync()?;
        self.new.publish()
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        let synced = self.writer.flush().and_then(|()| self.writer.get_ref().sync_data());
        synced.map_err(|source| JournalError::NotWritable { path: self.path.clone(), source })?;
        self.pending = 0;
        Ok(())
    }
}

impl Recorder for FileJournal {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.pending += 1;
        serde_json::to_writer(&mut self.writer, &entry)?;
        self.writer.write_all(b"\n")
    }
}

#[async_trait]
impl Journal for FileJournal {
    async fn make_durable(&mut self) -> Result<(), JournalError> {
        self.sync()
    }

    async fn close(&mut self) -> Result<(), JournalError> {
        self.finish()
    }

    fn pending_count(&self) -> usize {
        self.pending
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NullJournal;

impl Recorder for NullJournal {
    fn record(&mut self, _entry: Entry<'_>) -> io::Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Journal for NullJournal {
    async fn make_durable(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    fn pending_count(&self) -> usize {
        0
    }
}

pub struct TeeRecorder<'a> {
    pub first: &'a mut dyn Recorder,
    pub second: &'a mut dyn Recorder,
}

impl Recorder for TeeRecorder<'_> {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.first.record(entry)?;
        self.second.record(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{Control, Event, EventKind, Header, IntentId, Origin, Rejection, SeriesId};
    use candlewick_sdk::{Candle, Interval, Millis, Ohlcv, Text};
    use serde_json::{Value, json};

    async fn lines(kinds: &[EventKind]) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let mut journal = FileJournal::create(&path).unwrap();
        let header = Header { format: 1, settings: json!({"a": 1}), strategies: Vec::new(), data_hash: None };
        journal.record(Entry::Header(&header)).unwrap();
        for kind in kinds {
            let event = Event { at: Millis::new(7), received: Millis::new(8), kind: *kind };
            journal.record(Entry::Event(&event)).unwrap();
        }
        journal.make_durable().await.unwrap();
        assert!(!path.exists(), "it is not complete");
        journal.close().await.unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(matches!(FileJournal::create(&path), Err(JournalError::JournalExists { .. })));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn unfinished_journal_leaves_no_file_and_overwrites_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let event = Event {
            at: Millis::new(7),
            received: Millis::new(8),
            kind: EventKind::Control { control: Control::Halt },
        };
        let mut journal = FileJournal::create(&path).unwrap();
        journal.record(Entry::Event(&event)).unwrap();
        drop(journal);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut journal = FileJournal::create(&path).unwrap();
        journal.record(Entry::Event(&event)).unwrap();
        std::fs::write(&path, "mine").unwrap();
        assert!(matches!(journal.finish(), Err(JournalError::JournalExists { .. })));
        drop(journal);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn writes_entries_as_json_lines_in_order() {
        let numbers = Ohlcv { open: 1.5, high: 2.0, low: 1.0, close: 1.25, volume: 0.0 };
        let candle = Candle::new(Millis::ZERO, Interval::MINUTE, numbers).unwrap();
        let rejection = Rejection::Other(Text::truncated("too small"));
        let lines_read = lines(&[
            EventKind::Candle { series: SeriesId::FIRST, candle, origin: Origin::Live },
            EventKind::Rejected { intent: IntentId::new(1), rejection },
            EventKind::Control { control: Control::Halt },
        ])
        .await;
        assert_eq!(lines_read[0]["settings"], json!({"a": 1}));
        assert_eq!(
            lines_read[1],
            json!({"at": 7, "received": 8, "event": "candle", "series": 0, "origin": "live",
                   "candle": {"time": 0, "open": 1.5, "high": 2.0, "low": 1.0, "close": 1.25, "volume": 0.0}})
        );
        assert_eq!(lines_read[2]["rejection"], json!({"other": "too small"}));
        assert_eq!(lines_read[3]["control"], "halt");
    }
}
