//! Whether a ledger is whole: each line names a hash of those before it, and a receipt elsewhere knows how many there were.

use serde::{Deserialize, Serialize};
use std::fs::{create_dir_all, read, write};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A hash of all whole lines so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chain {
    /// How many.
    pub(super) lines: u64,
    /// Their hash.
    pub(super) hash: String,
}

/// A file that knows how long a ledger was when it was last written, so that a missing, an emptied and a shortened one are noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Receipt(PathBuf);

impl Chain {
    /// Of no line.
    pub(super) fn start() -> Self {
        Self { lines: 0, hash: String::new() }
    }

    /// The same with one more line.
    pub(super) fn add(&mut self, line: &str) {
        let whole = format!("{}\n{line}", self.hash);
        blake3::hash(whole.as_bytes()).to_hex()[..16].clone_into(&mut self.hash);
        self.lines += 1;
    }
}

impl Receipt {
    /// Of a ledger, in a folder that stays.
    pub(super) fn of(folder: &Path, ledger: &Path) -> Self {
        let whole = std::path::absolute(ledger).unwrap_or_else(|_| ledger.to_owned());
        let name = blake3::hash(whole.as_os_str().as_encoded_bytes()).to_hex();
        Self(folder.join(format!("variants-{}.json", &name[..16])))
    }

    /// What it says; nothing where there is none.
    pub(super) fn read(&self) -> io::Result<Option<Chain>> {
        match read(&self.0) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            // A kill may have cut it short: it then knows nothing.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        }
    }

    /// Keeps how long the ledger is now.
    pub(super) fn keep(&self, chain: &Chain) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            create_dir_all(folder)?;
        }
        let (text, new) = (serde_json::to_vec(chain)?, self.0.with_extension("new"));
        write(&new, text)?;
        std::fs::rename(new, &self.0)
    }
}
