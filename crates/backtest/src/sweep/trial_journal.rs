//! The trials that have run, line by line in a file that only grows: a sweep that is killed goes on from there.

use super::Figures;
use crate::BacktestError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What became of one trial on one rung.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The trial's place in the search, from 0.
    pub trial: u64,
    /// The rung on which it ran, from 0; always 0 without halving.
    pub rung: u32,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran.
    Figures(Box<Figures>),
    /// The strategy refused the parameters, for this reason.
    Refused(String),
}

/// An open journal, held by this process alone.
#[derive(Debug)]
pub struct TrialJournal {
    file: File,
    path: PathBuf,
}

impl TrialJournal {
    /// Opens the journal of a sweep, or begins it. `identity` says everything that decides its trials; those that
    /// have run come along. A last line that a kill cut short is dropped: its trial runs again.
    ///
    /// # Errors
    /// [`BacktestError::ChooseFolder`] when it is another sweep's, [`BacktestError::AwaitSweep`] when another process
    /// has it open, [`BacktestError::CheckPath`] when the disk does not do.
    pub fn open(path: &Path, identity: &Value) -> Result<(Self, Vec<Record>), BacktestError> {
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(|source| unusable(path, "open", source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(BacktestError::AwaitSweep { path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(path, "lock", source)),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|source| unusable(path, "read", source))?;
        let first = json!({ "sweep": identity }).to_string();
        let (records, sound) = read(&text, &first).ok_or_else(|| BacktestError::ChooseFolder {
            path: path.to_owned(),
            problem: difference(&text, identity),
        })?;
        let mut journal = Self { file, path: path.to_owned() };
        journal.cut(sound)?;
        if sound == 0 {
            journal.append(&first)?;
        }
        Ok((journal, records))
    }

    /// Adds a trial.
    ///
    /// # Errors
    /// [`BacktestError::CheckPath`] when the disk does not do.
    pub fn record(&mut self, record: &Record) -> Result<(), BacktestError> {
        self.append(&json!(record).to_string())
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// [`BacktestError::CheckPath`] when the disk does not do.
    pub fn sync(&self) -> Result<(), BacktestError> {
        self.file.sync_data().map_err(|source| unusable(&self.path, "write", source))
    }

    /// In one call, so that a kill leaves at most one line that is not whole.
    fn append(&mut self, line: &str) -> Result<(), BacktestError> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|source| unusable(&self.path, "write", source))
    }

    fn cut(&mut self, length: u64) -> Result<(), BacktestError> {
        let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
        cut.map(|_| ()).map_err(|source| unusable(&self.path, "write", source))
    }
}

/// The records up to the first line that is none, and how many bytes they take with the first line; `None` when
/// the first line is another one.
fn read(text: &[u8], first: &str) -> Option<(Vec<Record>, u64)> {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let Some(header) = lines.next() else {
        // Cut short while it was begun, or not begun: or no journal at all, which must not be overwritten.
        return format!("{first}\n").as_bytes().starts_with(text).then(|| (Vec::new(), 0));
    };
    if header.strip_suffix(b"\n") != Some(first.as_bytes()) {
        // A sweep of which nothing ran, as one that found no set to try, has nothing to lose.
        let has_nothing = header.len() == text.len() && identity_of(header).is_some();
        return has_nothing.then(|| (Vec::new(), 0));
    }
    let mut records = Vec::new();
    let mut sound = header.len();
    for line in lines {
        let Ok(record) = serde_json::from_slice(line) else { break };
        records.push(record);
        sound += line.len();
    }
    Some((records, sound as u64))
}

/// In what another sweep differs, as far as that can be told.
fn difference(text: &[u8], identity: &Value) -> String {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let (Some(theirs), Some(ours)) = (identity_of(line), identity.as_object()) else {
        return "it is not the journal of a sweep".to_owned();
    };
    let keys =
        ours.iter().filter(|(key, value)| theirs.get(*key) != Some(value)).map(|(key, _)| key.as_str());
    format!("it holds the trials of another sweep, which differs in: {}", keys.collect::<Vec<_>>().join(", "))
}

/// What a first line says of its sweep.
fn identity_of(line: &[u8]) -> Option<Map<String, Value>> {
    let header: Value = serde_json::from_slice(line).ok()?;
    header.get("sweep")?.as_object().cloned()
}

fn unusable(path: &Path, action: &'static str, source: io::Error) -> BacktestError {
    BacktestError::CheckPath { path: path.to_owned(), action, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(trial: u64) -> Record {
        Record { trial, rung: 0, outcome: Outcome::Refused(format!("no {trial}\n")) }
    }

    fn reopened(path: &Path) -> Vec<u64> {
        let (_, records) = TrialJournal::open(path, &json!({"seed": 1})).unwrap();
        records.iter().map(|record| record.trial).collect()
    }

    #[test]
    fn whatever_byte_a_kill_stops_at_the_whole_lines_before_it_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        let (mut journal, records) = TrialJournal::open(&path, &json!({"seed": 1})).unwrap();
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
            assert_eq!(reopened(&path), [2, 0, 1][..kept], "cut at {length}");
            let (mut journal, _) = TrialJournal::open(&path, &json!({"seed": 1})).unwrap();
            journal.record(&record(9)).unwrap();
            drop(journal);
            assert_eq!(reopened(&path).last(), Some(&9), "cut at {length}");
        }
    }

    #[test]
    fn another_sweeps_journal_and_any_other_file_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        let (mut journal, _) = TrialJournal::open(&path, &json!({"seed": 2})).unwrap();
        journal.record(&record(0)).unwrap();
        drop(journal);
        let other = std::fs::read_to_string(&path).unwrap();
        for (text, told) in [
            (other.as_str(), "differs in: seed"),
            ("my notes", "not the journal"),
            ("my\nnotes\n", "not the journal"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = TrialJournal::open(&path, &json!({"seed": 1})).unwrap_err();
            assert!(matches!(error, BacktestError::ChooseFolder { .. }), "{error}");
            assert!(error.to_string().contains(told), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_sweep_of_which_nothing_ran_makes_room_for_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        drop(TrialJournal::open(&path, &json!({"seed": 2, "longer": true})).unwrap());
        drop(TrialJournal::open(&path, &json!({"seed": 1})).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"sweep\":{\"seed\":1}}\n");
    }

    #[test]
    fn two_sweeps_at_once_do_not_share_a_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        let held = TrialJournal::open(&path, &json!({"seed": 1})).unwrap();
        assert!(matches!(
            TrialJournal::open(&path, &json!({"seed": 1})),
            Err(BacktestError::AwaitSweep { .. })
        ));
        drop(held);
        assert!(TrialJournal::open(&path, &json!({"seed": 1})).is_ok());
    }
}
