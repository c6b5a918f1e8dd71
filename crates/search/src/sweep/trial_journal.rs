//! Append-only journal of finished trials, from which an interrupted sweep resumes.

use super::Figures;
use crate::SearchError;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "RecordLine")]
pub struct Record {
    pub trial: u64,
    /// 0-based halving rung; always 0 without halving.
    pub rung: u32,
    pub outcome: TrialEnd,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TrialEnd {
    Figures(Box<Figures>),
    Refused(String),
}

/// JSON form of a record. Exactly one of `figures` and `refused` is set.
#[derive(Serialize, Deserialize)]
struct RecordLine<'a> {
    trial: u64,
    rung: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    figures: Option<Cow<'a, Figures>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<Cow<'a, str>>,
}

/// An open journal, exclusively locked by this process.
#[derive(Debug)]
pub struct TrialJournal {
    file: File,
    path: PathBuf,
    length: u64,
    may_have_partial_line: bool,
}

const READ_CHUNK_BYTES: u64 = 64 * 1_024;

impl Record {
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let mut line = Vec::with_capacity(2_048); // Enough for almost every line.
        serde_json::to_writer(&mut line, self).expect("numbers and strings serialize to JSON");
        line.push(b'\n');
        line
    }
}

impl TrialJournal {
    /// Opens or creates the journal and returns the finished trials. `identity` contains everything that
    /// determines the trials. A partial last line is dropped.
    pub fn open(path: &Path, identity: &Value) -> Result<(Self, Vec<Record>), SearchError> {
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(|source| file_error(path, "open", source))?;
        check_lock(path, file.try_lock())?;
        let (records, sound) = read_journal(path, &file, identity)?;
        let mut journal = Self { file, path: path.to_owned(), length: sound, may_have_partial_line: false };
        journal.truncate(sound)?;
        if sound == 0 {
            journal.append(format!("{}\n", header_line(identity)).as_bytes())?;
        }
        Ok((journal, records))
    }

    pub fn read_records(path: &Path, identity: &Value) -> Result<Vec<Record>, SearchError> {
        let file = File::open(path).map_err(|source| file_error(path, "open", source))?;
        check_lock(path, file.try_lock_shared())?;
        Ok(read_journal(path, &file, identity)?.0)
    }

    pub fn read_identity(path: &Path) -> Result<Option<Map<String, Value>>, SearchError> {
        let mut line = Vec::new();
        let read = File::open(path).and_then(|file| BufReader::new(file).read_until(b'\n', &mut line));
        read.map_err(|source| file_error(path, "read", source))?;
        Ok(parse_identity(&line))
    }

    pub fn record(&mut self, record: &Record) -> Result<(), SearchError> {
        self.append(&record.to_line())
    }

    pub(crate) const fn length(&self) -> u64 {
        self.length
    }

    /// Passes each record after the byte offset `from` to `take`, so that a run need not keep records in memory.
    pub(crate) fn read_back(&mut self, from: u64, mut take: impl FnMut(Record)) -> Result<(), SearchError> {
        let mut read = || {
            self.file.seek(SeekFrom::Start(from))?;
            let mut rest = (&self.file).take(self.length - from);
            let mut text = Vec::with_capacity(2 * READ_CHUNK_BYTES as usize);
            while (&mut rest).take(READ_CHUNK_BYTES).read_to_end(&mut text)? > 0 {
                let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
                let lines: Vec<&[u8]> = text[..whole].split_inclusive(|byte| *byte == b'\n').collect();
                let records = lines.par_iter().map(|line| serde_json::from_slice(line));
                records.collect::<Result<Vec<Record>, _>>()?.into_iter().for_each(&mut take);
                text.drain(..whole);
            }
            self.file.seek(SeekFrom::Start(self.length))?;
            if text.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        };
        read().map_err(|source| file_error(&self.path, "read", source))
    }

    pub fn sync(&self) -> Result<(), SearchError> {
        self.file.sync_data().map_err(|source| file_error(&self.path, "write", source))
    }

    /// Appends a complete line in one write.
    ///
    /// A killed process or a full disk may leave a partial line, which the next append removes first. If the removal
    /// fails, nothing is appended: readers stop at the first invalid line and would miss all later records.
    pub(crate) fn append(&mut self, line: &[u8]) -> Result<(), SearchError> {
        if self.may_have_partial_line {
            self.truncate_partial_line()?;
        }
        if let Err(source) = self.file.write_all(line) {
            self.may_have_partial_line = true;
            // If this fails, the next append tries again. The write error is reported.
            let _ = self.truncate_partial_line();
            return Err(file_error(&self.path, "write", source));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    fn truncate_partial_line(&mut self) -> Result<(), SearchError> {
        self.truncate(self.length)?;
        self.may_have_partial_line = false;
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> Result<(), SearchError> {
        let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
        cut.map(|_| ()).map_err(|source| file_error(&self.path, "write", source))
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (figures, refused) = match &self.outcome {
            TrialEnd::Figures(figures) => (Some(Cow::Borrowed(&**figures)), None),
            TrialEnd::Refused(problem) => (None, Some(Cow::Borrowed(problem.as_str()))),
        };
        RecordLine { trial: self.trial, rung: self.rung, figures, refused }.serialize(serializer)
    }
}

impl TryFrom<RecordLine<'_>> for Record {
    type Error = &'static str;

    fn try_from(written: RecordLine<'_>) -> Result<Self, Self::Error> {
        let outcome = match (written.figures, written.refused) {
            (Some(figures), None) => TrialEnd::Figures(Box::new(figures.into_owned())),
            (None, Some(problem)) => TrialEnd::Refused(problem.into_owned()),
            _ => return Err("a trial must have either `figures` or `refused`"),
        };
        Ok(Self { trial: written.trial, rung: written.rung, outcome })
    }
}

fn check_lock(path: &Path, locked: Result<(), TryLockError>) -> Result<(), SearchError> {
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => SearchError::SweepLocked { path: path.to_owned() },
        TryLockError::Error(source) => file_error(path, "lock", source),
    })
}

fn header_line(identity: &Value) -> String {
    json!({ "sweep": identity }).to_string()
}

fn read_journal(path: &Path, file: &File, identity: &Value) -> Result<(Vec<Record>, u64), SearchError> {
    let known = read_all(file, &header_line(identity)).map_err(|source| file_error(path, "read", source))?;
    known.map_err(|other| SearchError::OtherSweep {
        path: path.to_owned(),
        problem: describe_difference(&other, identity),
    })
}

/// Returns the records up to the first invalid line, and the length in bytes of all valid lines.
/// If the file is not the journal of this sweep, the inner error contains the first line of the file.
#[allow(clippy::type_complexity, reason = "the outer error is the disk's, the inner one a foreign file")]
fn read_all(file: &File, first: &str) -> io::Result<Result<(Vec<Record>, u64), Vec<u8>>> {
    let mut text = BufReader::new(file);
    let mut line = Vec::new();
    text.read_until(b'\n', &mut line)?;
    let Some(header) = line.strip_suffix(b"\n") else {
        // The line is an unfinished header of this sweep, or part of a foreign file, which must not be overwritten.
        let is_begun = format!("{first}\n").as_bytes().starts_with(&line);
        return Ok(if is_begun { Ok((Vec::new(), 0)) } else { Err(line) });
    };
    if header != first.as_bytes() {
        // A journal without records may be overwritten.
        let has_nothing = text.fill_buf()?.is_empty() && parse_identity(header).is_some();
        return Ok(if has_nothing { Ok((Vec::new(), 0)) } else { Err(line) });
    }
    let mut records = Vec::new();
    let mut sound = line.len();
    loop {
        line.clear();
        text.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            break;
        }
        let Ok(record) = serde_json::from_slice(&line) else { break };
        records.push(record);
        sound += line.len();
    }
    Ok(Ok((records, sound as u64)))
}

fn describe_difference(line: &[u8], identity: &Value) -> String {
    let (Some(theirs), Some(ours)) = (parse_identity(line), identity.as_object()) else {
        return "this file is not a sweep journal".to_owned();
    };
    let keys = ours.iter().filter(|(key, own)| theirs.get(*key) != Some(own)).map(|(key, _)| key.as_str());
    format!("the journal belongs to another sweep; differences: {}", keys.collect::<Vec<_>>().join(", "))
}

fn parse_identity(line: &[u8]) -> Option<Map<String, Value>> {
    let header: Value = serde_json::from_slice(line).ok()?;
    header.get("sweep")?.as_object().cloned()
}

fn file_error(path: &Path, action: &'static str, source: io::Error) -> SearchError {
    SearchError::UnusableFile { path: path.to_owned(), action, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::figures;

    struct Fixture(tempfile::TempDir);

    impl Fixture {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self) -> PathBuf {
            self.0.path().join("trials.jsonl")
        }

        fn open(&self) -> (TrialJournal, Vec<Record>) {
            TrialJournal::open(&self.path(), &json!({"seed": 1})).unwrap()
        }

        fn trials(&self) -> Vec<u64> {
            self.open().1.iter().map(|record| record.trial).collect()
        }
    }

    fn record(trial: u64) -> Record {
        Record { trial, rung: 0, outcome: TrialEnd::Refused(format!("no {trial}\n")) }
    }

    #[test]
    fn kill_at_any_byte_keeps_the_complete_lines() {
        let fixture = Fixture::new();
        let path = fixture.path();
        let (mut journal, records) = fixture.open();
        assert!(records.is_empty());
        for trial in [2, 0, 1] {
            journal.record(&record(trial)).unwrap();
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let ends: Vec<usize> =
            whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(end, _)| end + 1).collect();
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let kept = ends.iter().filter(|end| **end <= length).count().saturating_sub(1);
            assert_eq!(fixture.trials(), [2, 0, 1][..kept], "cut at {length}");
            fixture.open().0.record(&record(9)).unwrap();
            assert_eq!(fixture.trials().last(), Some(&9), "cut at {length}");
        }
    }

    #[test]
    fn appends_nothing_after_a_partial_line() {
        let fixture = Fixture::new();
        let path = fixture.path();
        let (mut journal, _) = fixture.open();
        journal.record(&record(0)).unwrap();
        let sound = std::fs::read(&path).unwrap();
        // The disk accepts half a line, then rejects the rest and the truncation.
        let line = record(1).to_line();
        journal.file.write_all(&line[..line.len() / 2]).unwrap();
        let disk = std::mem::replace(&mut journal.file, File::open(&path).unwrap());
        for trial in [1, 2] {
            let error = journal.record(&record(trial)).unwrap_err();
            assert!(matches!(error, SearchError::UnusableFile { action: "write", .. }), "{error}");
        }
        assert_eq!(std::fs::read(&path).unwrap().len(), sound.len() + line.len() / 2);
        // The disk has space again.
        journal.file = disk;
        for trial in [3, 4] {
            journal.record(&record(trial)).unwrap();
        }
        drop(journal);
        assert_eq!(fixture.trials(), [0, 3, 4]);
    }

    #[test]
    fn reads_back_new_records_only() {
        let fixture = Fixture::new();
        fixture.open().0.record(&record(0)).unwrap();
        let (mut journal, _) = fixture.open();
        let begin = journal.length();
        let figures = |share: f64, timeline: &Value| {
            TrialEnd::Figures(Box::new(figures(json!({
                "refused": u64::MAX, "win_rate": 0.1 + share, "edge_lower": -share, "pnl": -3.25,
                "p_value": f64::MIN_POSITIVE, "sharpe": 1e300, "max_drawdown_percent": 1.0 / 3.0,
                "timeline": timeline
            }))))
        };
        // Enough lines for several reads, with and without decided trades.
        let timelines =
            [json!({"longest_parts": 1, "parts": [0, 7]}), json!({"longest_parts": 3, "parts": []})];
        let outcome = |trial: u64| match timelines.get(trial as usize % 3) {
            Some(timeline) => figures(1.0 / (trial + 1) as f64, timeline),
            None => record(trial).outcome,
        };
        let written = (1..150).map(|trial| Record { trial, rung: 2, outcome: outcome(trial) });
        let written: Vec<Record> = written.collect();
        for (count, record) in written.iter().enumerate() {
            if count == 100 {
                journal.read_back(begin, |_| {}).unwrap(); // later appends continue at the end
            }
            journal.record(record).unwrap();
        }
        let mut read = Vec::new();
        journal.read_back(begin, |record| read.push(record)).unwrap();
        assert_eq!(read, written);
        drop(journal);
        assert_eq!(fixture.open().1[1..], written);
    }

    #[test]
    fn foreign_journal_content_gives_no_rows() {
        let fixture = Fixture::new();
        let path = fixture.path();
        let (mut journal, _) = fixture.open();
        let begin = journal.length();
        journal.record(&record(0)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let error = journal.read_back(begin, |_| panic!("there is no whole line")).unwrap_err();
        assert!(matches!(error, SearchError::UnusableFile { action: "read", .. }), "{error}");
        let both = r#"{"trial":0,"rung":0,"refused":"no","figures":null}"#;
        assert!(serde_json::from_str::<Record>(both).is_ok());
        assert!(serde_json::from_str::<Record>(r#"{"trial":0,"rung":0}"#).is_err());
    }

    #[test]
    fn never_overwrites_journals_of_other_sweeps_or_other_files() {
        let fixture = Fixture::new();
        let path = fixture.path();
        let mut journal = TrialJournal::open(&path, &json!({"seed": 2})).unwrap().0;
        journal.record(&record(0)).unwrap();
        drop(journal);
        let other = std::fs::read_to_string(&path).unwrap();
        for (text, problem) in [
            (other.as_str(), "differences: seed"),
            ("my notes", "is not a sweep journal"),
            ("my\nnotes\n", "is not a sweep journal"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = TrialJournal::open(&path, &json!({"seed": 1})).unwrap_err();
            assert!(matches!(error, SearchError::OtherSweep { .. }), "{error}");
            assert!(error.to_string().contains(problem), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn empty_sweep_journal_may_be_overwritten() {
        let fixture = Fixture::new();
        let path = fixture.path();
        drop(TrialJournal::open(&path, &json!({"seed": 2, "longer": true})).unwrap());
        drop(fixture.open());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"sweep\":{\"seed\":1}}\n");
    }

    #[test]
    fn concurrent_sweeps_do_not_share_a_journal() {
        let fixture = Fixture::new();
        let held = fixture.open();
        let second = TrialJournal::open(&fixture.path(), &json!({"seed": 1}));
        assert!(matches!(second, Err(SearchError::SweepLocked { .. })));
        drop(held);
        drop(fixture.open());
    }
}
