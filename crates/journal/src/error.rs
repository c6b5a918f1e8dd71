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
    /// There is no journal to read: name another, or begin one by running bots.
    #[error("there is no journal at {url}: name another, or begin one by running bots")]
    NotFound {
        /// Where it was looked for.
        url: String,
    },
    /// It lies on a server, whose own tools copy it: `pg_dump`.
    #[error(
        "{url} lies on a server, which has a tool of its own for copies: pg_dump --format=custom --file=FILE {url}"
    )]
    OnServer {
        /// Where it lies.
        url: String,
    },
    /// It lies on a PostgreSQL server, and the program was built without the feature `postgres`.
    #[error(
        "{url} lies on a PostgreSQL server, and this program was built without PostgreSQL: \
         build it with `--features postgres`, or name a file: sqlite://FILE"
    )]
    WithoutPostgres {
        /// Where it lies.
        url: String,
    },
    /// The URL, the user, the password or the database's name is wrong.
    #[error("the journal's URL{} cannot be used: {reason}", after_space(url))]
    InvalidUrl {
        /// The URL, without its password. Empty if that cannot be told apart.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file or its folder cannot be written: make it writable, or name another.
    #[error("{} cannot be written", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The user may not write: grant the right, or name a database that may be written.
    #[error("{url} may not be written by this user, or is read-only")]
    PermissionDenied {
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
    /// The database is busy, restarting or gone: wait, and try again.
    #[error("{url} is not available")]
    Unavailable {
        /// Where the journal lies.
        url: String,
        /// What the database or the system says.
        source: Cause,
    },
    /// The file is not there any more: put it back, and writing is tried again.
    #[error("the journal file {} was deleted or moved while it was in use", path.display())]
    FileGone {
        /// The file.
        path: PathBuf,
    },
    /// What lies there is not a journal of this program: name another.
    #[error("{url} is not a journal: {reason}")]
    NotAJournal {
        /// Where it lies.
        url: String,
        /// How that shows.
        reason: String,
    },
    /// A newer program wrote it: use that one.
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
    /// It was last written by an older program, which takes no orders from it: give them where the bot runs.
    #[error("{url} was last written by an older program, which takes no orders from it")]
    OlderSchema {
        /// Where the journal lies.
        url: String,
    },
    /// Another process holds it, and one account is traded by one process: stop the other, or name another journal.
    #[error(
        "{url} is held by {who} for {} s now; its last sign of life is {} s old",
        held_for.get() / 1_000, silence.get() / 1_000
    )]
    HeldBy {
        /// Where the journal lies.
        url: String,
        /// Program, process and host.
        who: String,
        /// Since when, by the database's clock.
        since: Millis,
        /// How long that is.
        held_for: Millis,
        /// How old its last heartbeat is.
        silence: Millis,
    },
    /// Another process has taken the journal over: stop at once, nothing more is written.
    #[error("{url} has been taken over by {who}: this process writes nothing more")]
    LostLease {
        /// Where the journal lies.
        url: String,
        /// Program, process and host of who holds it now.
        who: String,
    },
    /// An entry is not as it was written: it was changed by hand, or a copy was restored. Do not trust the journal from it on.
    #[error("{url} is broken at entry {seq}: {reason}")]
    BrokenChain {
        /// Where the journal lies.
        url: String,
        /// The first entry that is not as it was written.
        seq: u64,
        /// How that shows.
        reason: String,
    },
    /// The database itself is damaged: restore a copy.
    #[error("{url} is damaged: restore a copy")]
    Damaged {
        /// Where the journal lies.
        url: String,
        /// What the database says.
        source: Cause,
    },
    /// An answer that should not happen: report it with its chain of causes.
    #[error("unexpected answer of {url}")]
    Unexpected {
        /// Where the journal lies.
        url: String,
        /// What the database says.
        source: Cause,
    },
}

/// A text after a space, nothing if it is empty.
fn after_space(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" {text}") }
}

impl JournalError {
    /// Whether the same call may succeed later with nothing lost: open nothing meanwhile, and try again.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unavailable { .. }
            | Self::FileGone { .. }
            | Self::DiskFull { .. }
            | Self::NotWritable { .. }
            | Self::PermissionDenied { .. } => true,
            Self::JournalExists { .. }
            | Self::NotFound { .. }
            | Self::OnServer { .. }
            | Self::WithoutPostgres { .. }
            | Self::InvalidUrl { .. }
            | Self::NotAJournal { .. }
            | Self::NewerSchema { .. }
            | Self::OlderSchema { .. }
            | Self::HeldBy { .. }
            | Self::LostLease { .. }
            | Self::BrokenChain { .. }
            | Self::Damaged { .. }
            | Self::Unexpected { .. } => false,
        }
    }
}
