//! Whether a ledger is whole: each line names a hash of those before it, and a receipt elsewhere knows how many there were.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, create_dir_all, read, read_dir, remove_file, rename};
use std::io::{self, ErrorKind, Write};
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
pub(super) struct Receipt {
    path: PathBuf,
    ledger: PathBuf,
}

/// What a receipt says of its ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing: there is none.
    #[default]
    Nothing,
    /// How long it was.
    Lines(Chain),
    /// It is there, and cannot be understood: why.
    Unreadable(String),
}

/// How it stands in the file.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(flatten)]
    chain: Chain,
    /// Older ones do not say.
    #[serde(default)]
    ledger: PathBuf,
    /// The strategies that it has lines of; older ones do not say.
    #[serde(default)]
    strategies: Option<BTreeSet<String>>,
}

/// A ledger that has a receipt in the same folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OtherLedger {
    pub(super) path: PathBuf,
    /// The strategies that it has lines of, where its receipt says so.
    strategies: Option<BTreeSet<String>>,
}

impl OtherLedger {
    /// Whether it may have lines of a strategy.
    pub(super) fn may_know(&self, strategy: &str) -> bool {
        self.strategies.as_ref().is_none_or(|known| known.contains(strategy))
    }
}

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
        let ledger = std::path::absolute(ledger).unwrap_or_else(|_| ledger.to_owned());
        let name = blake3::hash(ledger.as_os_str().as_encoded_bytes()).to_hex();
        Self { path: folder.join(format!("variants-{}.json", &name[..16])), ledger }
    }

    /// Where it lies.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// What it says.
    pub(super) fn read(&self) -> io::Result<Seen> {
        match read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Seen::Nothing),
            Err(error) => Err(error),
            Ok(bytes) => Ok(match serde_json::from_slice::<Written>(&bytes) {
                Ok(written) => Seen::Lines(written.chain),
                Err(error) => {
                    Seen::Unreadable(format!("its receipt {} cannot be read: {error}", self.path.display()))
                }
            }),
        }
    }

    /// Keeps how long the ledger is now and of which strategies, on the disk when it comes back.
    pub(super) fn keep(&self, chain: &Chain, mut strategies: BTreeSet<String>) -> io::Result<()> {
        create_dir_all(self.folder())?;
        // What was in it stays known when it is lost.
        let before = read(&self.path).ok().and_then(|bytes| serde_json::from_slice::<Written>(&bytes).ok());
        strategies.extend(before.and_then(|written| written.strategies).unwrap_or_default());
        let (chain, ledger, strategies) = (chain.clone(), self.ledger.clone(), Some(strategies));
        let written = Written { chain, ledger, strategies };
        let (text, new) = (serde_json::to_vec(&written)?, self.path.with_extension("new"));
        let replaced = (|| {
            let mut file = File::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            rename(&new, &self.path)
        })();
        if replaced.is_err() {
            // A full disk gets back what half a file took; that it cannot be removed would be no news.
            let _ = remove_file(&new);
        }
        replaced?;
        // The name is on the disk when its folder is.
        #[cfg(unix)]
        File::open(self.folder())?.sync_all()?;
        Ok(())
    }

    /// The other ledgers that have receipts in its folder; a receipt that does not say whose it is comes back as itself.
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
            let written = serde_json::from_slice::<Written>(&read(&path)?).ok();
            let named = written.filter(|written| !written.ledger.as_os_str().is_empty());
            let other =
                named.map(|written| OtherLedger { path: written.ledger, strategies: written.strategies });
            others.push(other.ok_or(path));
        }
        others.sort_unstable();
        Ok(others)
    }
}
