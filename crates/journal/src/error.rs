//! Why a journal cannot be used.

use candlewick_sdk::Millis;
use std::io;
use std::path::PathBuf;

/// What a library below says; its words never hold a credential.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file exists already, and a journal is never written over: name another file, or move the old one away.
    #[error("{} exists already: name another file, or move it away", path.display())]
    JournalExists {
        /// The file.
        path: PathBuf,
    },
    /// Name a journal that exists: there is none to read.
    #[error("there is no journal at {url}: name another, or begin one by running bots")]
    NameExisting {
        /// Where it was looked for.
        url: String,
    },
    /// Correct the URL, the user, the password or the database's name.
    #[error("the journal's URL {url} cannot be used: {reason}")]
    CorrectUrl {
        /// The URL, without its password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Make the file and its folder writable, or name another.
    #[error("{} cannot be written", path.display())]
    MakeWritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Grant the user the right to write, or name the database that may be written.
    #[error("{url} may not be written by this user, or is read-only")]
    GrantWriting {
        /// Where the journal lies.
        url: String,
        /// What the database says.
        source: Cause,
    },
    /// The disk is full. Nothing is lost: make room, and writing is tried again.
    #[error("the disk of {url} is full: make room")]
    DiskFull {
        /// Where the journal lies.
        url: String,
        /// What the database says.
        source: Cause,
    },
    /// Wait, and try again: the database is busy, restarting or gone.
    #[error("{url} is not available")]
    Unavailable {
        /// Where the journal lies.
        url: String,
        /// What the database or the system says.
        source: Cause,
    },
    /// Name another: what lies there is not a journal of this program.
    #[error("{url} is not a journal: {reason}")]
    NotAJournal {
        /// Where it lies.
        url: String,
        /// How that shows.
        reason: String,
    },
    /// Use the newer program that wrote it.
    #[error(
        "{url} was written by a newer program (schema {found}, this one knows {known}): use the newer program"
    )]
    NewerSchema {
        /// Where the journal lies.
        url: String,
        /// Its schema.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// Stop the other process, or name another journal: one account is traded by one process.
    #[error("{url} is held by {who}; its last sign of life is {heartbeat_age} ms old")]
    HeldBy {
        /// Where the journal lies.
        url: String,
        /// Program, process and host.
        who: String,
        /// Since when, in real time.
        since: Millis,
        /// How old its last heartbeat is.
        heartbeat_age: Millis,
    },
    /// Stop at once: another process has taken the journal over, and nothing more is written.
    #[error("{url} has been taken over by {who}: this process writes nothing more")]
    LostLease {
        /// Where the journal lies.
        url: String,
        /// Program, process and host of who holds it now.
        who: String,
    },
    /// Do not trust the journal from this entry on: it was changed by hand, or restored.
    #[error("{url} is broken at entry {seq}: {reason}")]
    BrokenChain {
        /// Where the journal lies.
        url: String,
        /// The first entry that is not as it was written.
        seq: u64,
        /// How that shows.
        reason: String,
    },
    /// Restore a copy: the database itself is damaged.
    #[error("{url} is damaged: restore a copy")]
    Restore {
        /// Where the journal lies.
        url: String,
        /// What the database says.
        source: Cause,
    },
    /// Report it with its chain: it should not happen.
    #[error("unexpected answer of {url}")]
    Report {
        /// Where the journal lies.
        url: String,
        /// What the database says.
        source: Cause,
    },
}

impl JournalError {
    /// Whether the same call may succeed later with nothing lost: open nothing meanwhile, and try again.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unavailable { .. }
            | Self::DiskFull { .. }
            | Self::MakeWritable { .. }
            | Self::GrantWriting { .. } => true,
            Self::JournalExists { .. }
            | Self::NameExisting { .. }
            | Self::CorrectUrl { .. }
            | Self::NotAJournal { .. }
            | Self::NewerSchema { .. }
            | Self::HeldBy { .. }
            | Self::LostLease { .. }
            | Self::BrokenChain { .. }
            | Self::Restore { .. }
            | Self::Report { .. } => false,
        }
    }
}
