//! The file of an evidence ledger: hash-chained JSON Lines, written under a lock and synced before anything is shown.
//!
//! Each line contains the hash of the previous line. A second file, with `.head` added to the name, has the number of
//! lines and the hash of the last line. Edited, removed and truncated lines are therefore detected, unless both files are
//! replaced or deleted. A process that is killed while writing leaves at most a partial last line, which is ignored, or a head that is behind.

use super::{Entry, Evidence};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Error of an evidence ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("cannot use the evidence ledger {}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("the evidence ledger is damaged: {}:{line}: {problem}", path.display())]
    Damaged { path: PathBuf, line: usize, problem: &'static str },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceLedger {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Line {
    at: Millis,
    #[serde(flatten)]
    entry: Entry,
    /// Hash of the previous line; empty in the first line.
    after: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    lines: usize,
    hash: String,
}

/// A parsed ledger: evidence, head, and length of the complete lines.
#[derive(Default)]
struct Contents {
    evidence: Evidence,
    head: Head,
    bytes: u64,
}

impl EvidenceLedger {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the ledger. A ledger that does not exist is empty.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be read, or if lines were changed or removed.
    pub fn read(&self) -> Result<Evidence, LedgerError> {
        // A process that appends meanwhile makes the text longer than its head says, which is valid.
        let known = self.read_head()?;
        let text = match fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            text => text.map_err(|error| self.file_error(error))?,
        };
        Ok(self.parse(&text, known)?.evidence)
    }

    /// Appends the entries that `decide` returns, and returns its result once the entries are durable.
    ///
    /// The ledger stays locked meanwhile, so other processes decide before or after this one. `now` is the time of the
    /// entries.
    ///
    /// # Errors
    ///
    /// Fails like [`Self::read`], if `decide` fails, or if the entries cannot be written.
    pub fn update<T, E: From<LedgerError>>(
        &self,
        now: Millis,
        decide: impl FnOnce(&Evidence) -> Result<(Vec<Entry>, T), E>,
    ) -> Result<T, E> {
        let mut file = self.open().map_err(|error| self.file_error(error))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| self.file_error(error))?;
        let contents = self.parse(&text, self.read_head()?)?;
        let is_new = contents.head.lines == 0;
        let (entries, result) = decide(&contents.evidence)?;
        let entries: Vec<Entry> = is_new.then_some(Entry::Born).into_iter().chain(entries).collect();
        if !entries.is_empty() {
            self.append(&mut file, contents, entries, now).map_err(|error| self.file_error(error))?;
        }
        Ok(result)
    }

    fn open(&self) -> io::Result<File> {
        fs::create_dir_all(self.folder())?;
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)?;
        file.lock()?;
        Ok(file)
    }

    fn append(
        &self,
        file: &mut File,
        contents: Contents,
        entries: Vec<Entry>,
        now: Millis,
    ) -> io::Result<()> {
        let (mut head, mut text) = (contents.head, String::new());
        if head.lines == 0 {
            // A ledger with lines and without a head is damaged.
            self.write_head(&head)?;
        }
        for entry in entries {
            let line = serde_json::to_string(&Line { at: now, entry, after: head.hash.clone() })?;
            head.add(&line);
            text.push_str(&line);
            text.push('\n');
        }
        file.set_len(contents.bytes)?;
        file.seek(SeekFrom::Start(contents.bytes))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        self.write_head(&head)
    }

    fn write_head(&self, head: &Head) -> io::Result<()> {
        let new = self.head_path().with_extension("head.new");
        let mut head_file = File::create(&new)?;
        head_file.write_all(&serde_json::to_vec(head)?)?;
        head_file.sync_all()?;
        fs::rename(&new, self.head_path())?;
        // A rename is durable once its folder is synced.
        #[cfg(unix)]
        File::open(self.folder())?.sync_all()?;
        Ok(())
    }

    fn parse(&self, text: &[u8], known: Option<Head>) -> Result<Contents, LedgerError> {
        if known.is_none() && text.contains(&b'\n') {
            let (path, problem) = (self.path.clone(), "its head file is missing");
            return Err(LedgerError::Damaged { path, line: 1, problem });
        }
        let known = known.unwrap_or_default();
        let mut contents = Contents::default();
        for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let number = contents.head.lines + 1;
            let damaged = |problem| LedgerError::Damaged { path: self.path.clone(), line: number, problem };
            let json =
                str::from_utf8(&line[..line.len() - 1]).map_err(|_| damaged("the line is not text"))?;
            let Line { at, entry, after } =
                serde_json::from_str(json).map_err(|_| damaged("the line cannot be parsed"))?;
            if after != contents.head.hash {
                return Err(damaged("a line before it was changed or removed"));
            }
            contents.head.add(json);
            contents.evidence.apply(at, entry);
            contents.bytes += line.len() as u64;
            if contents.head.lines == known.lines && contents.head.hash != known.hash {
                return Err(damaged("the line was changed"));
            }
        }
        if contents.head.lines < known.lines {
            let (path, line) = (self.path.clone(), contents.head.lines + 1);
            return Err(LedgerError::Damaged { path, line, problem: "lines are missing" });
        }
        Ok(contents)
    }

    fn read_head(&self) -> Result<Option<Head>, LedgerError> {
        match fs::read(self.head_path()) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.file_error(error)),
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map(Some).map_err(|error| self.file_error(error.into()))
            }
        }
    }

    fn head_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".head");
        name.into()
    }

    fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn file_error(&self, source: io::Error) -> LedgerError {
        LedgerError::File { path: self.path.clone(), source }
    }
}

impl Head {
    fn add(&mut self, line: &str) {
        blake3::hash(line.as_bytes()).to_hex()[..32].clone_into(&mut self.hash);
        self.lines += 1;
    }
}
