//! Journal errors.

use crate::JournalUrl;
use candlewick_sdk::Millis;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Error from an underlying library. The message never contains a credential.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

pub(crate) type Result<T, E = JournalError> = std::result::Result<T, E>;

pub(crate) fn unavailable_error(url: &impl fmt::Display, source: impl Into<Cause>) -> JournalError {
    JournalError::Unavailable { url: url.to_string(), source: source.into() }
}

pub(crate) fn chain_error(url: &JournalUrl, seq: u64, reason: &str) -> JournalError {
    JournalError::BrokenChain { url: url.to_string(), seq, reason: reason.to_owned() }
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{} already exists: choose another name, or move the file away", path.display())]
    JournalExists { path: PathBuf },
    #[error("no journal found at {url}: check the URL, or run a bot to create it")]
    NotFound { url: String },
    #[error("{url} is on a PostgreSQL server: copy it with pg_dump --format=custom --file=FILE {url}")]
    OnServer { url: String },
    #[error(
        "this program was built without PostgreSQL support and cannot open {url}: \
        rebuild it with `--features postgres`, or use a file (sqlite://FILE)"
    )]
    WithoutPostgres { url: String },
    #[error("invalid journal URL{}: {reason}", prepend_space(url))]
    InvalidUrl {
        /// URL without the password. Empty if the password cannot be separated from the rest of the URL.
        url: String,
        reason: String,
    },
    #[error("{} cannot be written", path.display())]
    NotWritable { path: PathBuf, source: io::Error },
    #[error("{url} is read-only, or this user may not write it")]
    PermissionDenied { url: String, source: Cause },
    /// The disk is full. No entry is lost, because the journal retries the writes.
    #[error("the disk of {url} is full: free some space")]
    DiskFull { url: String, source: Cause },
    #[error("{url} is not available")]
    Unavailable { url: String, source: Cause },
    #[error("the journal file {} was deleted or moved while it was in use", path.display())]
    FileGone { path: PathBuf },
    #[error("{url} is not a journal: {reason}")]
    NotAJournal { url: String, reason: String },
    #[error("{url} has schema {found}, but this program supports schemas up to {known}: use a newer program")]
    NewerSchema { url: String, found: i64, known: i64 },
    #[error("{url} was last written by an older program, which accepts no orders through it")]
    OlderSchema { url: String },
    #[error(
        "{url} has been held by {who} for {} s; the last heartbeat was {} s ago",
        held_for.get() / 1_000, heartbeat_age.get() / 1_000
    )]
    HeldBy {
        url: String,
        who: String,
        /// Time at which the lease began, by the clock of the database.
        since: Millis,
        held_for: Millis,
        heartbeat_age: Millis,
    },
    /// Another process has taken over the journal. The caller must stop immediately.
    #[error("{url} was taken over by {who}: this process stops writing to it")]
    LostLease { url: String, who: String },
    #[error("{url} is broken at entry {seq}: {reason}")]
    BrokenChain { url: String, seq: u64, reason: String },
    #[error("{url} is damaged: restore it from a backup")]
    Damaged { url: String, source: Cause },
    #[error("unexpected answer from {url}")]
    Unexpected { url: String, source: Cause },
}

fn prepend_space(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" {text}") }
}

impl JournalError {
    /// Returns whether a retry may succeed without data loss. Until a retry succeeds, the caller must open no trades.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. }
                | Self::FileGone { .. }
                | Self::DiskFull { .. }
                | Self::NotWritable { .. }
                | Self::PermissionDenied { .. }
        )
    }
}
