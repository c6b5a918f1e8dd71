//! Journal errors.

use crate::JournalUrl;
use candlewick_sdk::Millis;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Error of an underlying library. Its message never contains a credential.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

pub(crate) type Result<T, E = JournalError> = std::result::Result<T, E>;

pub(crate) fn unavailable(url: &impl fmt::Display, source: impl Into<Cause>) -> JournalError {
    JournalError::Unavailable { url: url.to_string(), source: source.into() }
}

pub(crate) fn broken(url: &JournalUrl, seq: u64, reason: &str) -> JournalError {
    JournalError::BrokenChain { url: url.to_string(), seq, reason: reason.to_owned() }
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{} exists already: name another file, or move it away", path.display())]
    JournalExists { path: PathBuf },
    #[error("there is no journal at {url}: name another, or begin one by running bots")]
    NotFound { url: String },
    #[error(
        "{url} lies on a server, which has a tool of its own for copies: pg_dump --format=custom --file=FILE {url}"
    )]
    OnServer { url: String },
    #[error(
        "{url} lies on a PostgreSQL server, and this program was built without PostgreSQL: \
         build it with `--features postgres`, or name a file: sqlite://FILE"
    )]
    WithoutPostgres { url: String },
    #[error("the journal's URL{} cannot be used: {reason}", after_space(url))]
    InvalidUrl {
        /// The URL without its password, empty if the password cannot be located.
        url: String,
        reason: String,
    },
    #[error("{} cannot be written", path.display())]
    NotWritable { path: PathBuf, source: io::Error },
    #[error("{url} may not be written by this user, or is read-only")]
    PermissionDenied { url: String, source: Cause },
    /// Nothing is lost: writes are retried.
    #[error("the disk of {url} is full: make room")]
    DiskFull { url: String, source: Cause },
    #[error("{url} is not available")]
    Unavailable { url: String, source: Cause },
    #[error("the journal file {} was deleted or moved while it was in use", path.display())]
    FileGone { path: PathBuf },
    #[error("{url} is not a journal: {reason}")]
    NotAJournal { url: String, reason: String },
    #[error(
        "{url} was written by a newer program (schema {found}, this one knows {known}): use the newer program"
    )]
    NewerSchema { url: String, found: i64, known: i64 },
    #[error("{url} was last written by an older program, which takes no orders from it")]
    OlderSchema { url: String },
    #[error(
        "{url} is held by {who} for {} s now; its last sign of life is {} s old",
        held_for.get() / 1_000, silence.get() / 1_000
    )]
    HeldBy {
        url: String,
        who: String,
        /// Start of the lease, by the database's clock.
        since: Millis,
        held_for: Millis,
        silence: Millis,
    },
    /// Another process has taken over. The caller must stop at once.
    #[error("{url} has been taken over by {who}: this process writes nothing more")]
    LostLease { url: String, who: String },
    #[error("{url} is broken at entry {seq}: {reason}")]
    BrokenChain { url: String, seq: u64, reason: String },
    #[error("{url} is damaged: restore a copy")]
    Damaged { url: String, source: Cause },
    #[error("unexpected answer of {url}")]
    Unexpected { url: String, source: Cause },
}

fn after_space(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" {text}") }
}

impl JournalError {
    /// Returns whether a retry may succeed with nothing lost. Open no trades before.
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
