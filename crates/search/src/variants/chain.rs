//! Integrity of ledgers: a hash chain over the lines, and a receipt with the number of lines.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, create_dir_all, read, read_dir, remove_file, rename};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chain {
    pub(super) lines: u64,
    pub(super) hash: String,
}

/// Receipt with the last known length of a ledger, to detect a missing or truncated ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    path: PathBuf,
    ledger: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ReceiptState {
    #[default]
    Nothing,
    Lines(Chain),
    Unreadable(String),
}

#[derive(Serialize, Deserialize)]
struct ReceiptJson {
    #[serde(flatten)]
    chain: Chain,
    /// Path of the ledger; empty in older receipts.
    #[serde(default)]
    ledger: PathBuf,
    /// Strategies in the ledger; `None` in older receipts.
    #[serde(default)]
    strategies: Option<BTreeSet<String>>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OtherLedger {
    pub(super) path: PathBuf,
    strategies: Option<BTreeSet<String>>,
}

impl OtherLedger {
    pub(super) fn may_contain(&self, strategy: &str) -> bool {
        self.strategies.as_ref().is_none_or(|known| known.contains(strategy))
    }
}

impl Chain {
    pub(super) fn start() -> Self {
        Self { lines: 0, hash: String::new() }
    }

    pub(super) fn add(&mut self, line: &str) {
        let whole = format!("{}\n{line}", self.hash);
        blake3::hash(whole.as_bytes()).to_hex()[..16].clone_into(&mut self.hash);
        self.lines += 1;
    }
}

impl Receipt {
    pub(super) fn new(folder: &Path, ledger: &Path) -> Self {
        let ledger = std::path::absolute(ledger).unwrap_or_else(|_| ledger.to_owned());
        let name = blake3::hash(ledger.as_os_str().as_encoded_bytes()).to_hex();
        Self { path: folder.join(format!("variants-{}.json", &name[..16])), ledger }
    }

    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    pub(super) fn read(&self) -> io::Result<ReceiptState> {
        match read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(ReceiptState::Nothing),
            Err(error) => Err(error),
            Ok(bytes) => Ok(match serde_json::from_slice::<ReceiptJson>(&bytes) {
                Ok(written) => ReceiptState::Lines(written.chain),
                Err(error) => {
                    let path = self.path.display();
                    ReceiptState::Unreadable(format!("the receipt {path} cannot be read: {error}"))
                }
            }),
        }
    }

    pub(super) fn save(&self, chain: &Chain, mut strategies: BTreeSet<String>) -> io::Result<()> {
        create_dir_all(self.folder())?;
        // The strategies of the previous receipt are retained, because the ledger may have been lost.
        let before = read(&self.path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        strategies.extend(before.and_then(|old: ReceiptJson| old.strategies).unwrap_or_default());
        let (chain, ledger, strategies) = (chain.clone(), self.ledger.clone(), Some(strategies));
        let written = ReceiptJson { chain, ledger, strategies };
        let (text, new) = (serde_json::to_vec(&written)?, self.path.with_extension("new"));
        let replaced = (|| {
            let mut file = File::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            rename(&new, &self.path)
        })();
        if replaced.is_err() {
            // Frees the space of a partial file. Best effort, because the write error is reported anyway.
            let _ = remove_file(&new);
        }
        replaced?;
        // The rename is durable once the folder is synced.
        #[cfg(unix)]
        File::open(self.folder())?.sync_all()?;
        Ok(())
    }

    /// Returns the ledgers that the other receipts in this folder name, or the path of a receipt that names none.
    pub(super) fn other_ledgers(&self) -> io::Result<Vec<Result<OtherLedger, PathBuf>>> {
        let entries = match read_dir(self.folder()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut others = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path == self.path || !name.starts_with("variants-") || !name.ends_with(".json") {
                continue;
            }
            let written = serde_json::from_slice::<ReceiptJson>(&read(&path)?).ok();
            let named = written.filter(|written| !written.ledger.as_os_str().is_empty());
            let other = named.map(|one| OtherLedger { path: one.ledger, strategies: one.strategies });
            others.push(other.ok_or(path));
        }
        others.sort_unstable();
        Ok(others)
    }
}
