//! The durable record of a Session's events and actions, in their order.
//!
//! An entry is a line of JSON: first the header, then every event that the Session was handed, each followed by the
//! actions that it answered. Folding the events again gives the Session again. An intent is durable before its
//! request leaves: the driver calls [`Journal::make_durable`] between the two.
//!
//! A [`Store`] keeps the lines in SQLite or PostgreSQL, chained by their hashes, for the one process that holds its
//! lease; a [`Reader`] reads them meanwhile. What they come to stands in tables beside them, which a [`Projector`] keeps up.

mod apart;
mod append;
mod backup;
mod chain;
mod compact;
mod database;
mod difference;
mod error;
mod exchange;
mod few_seals;
mod file;
mod follower;
mod held_writes;
mod holder;
mod kill_point;
mod lease;
mod line;
mod new_file;
mod null_journal;
mod orders;
mod point;
mod private_file;
mod process;
mod reader;
mod run_journal;
mod run_lines;
mod seal;
mod snapshot_lines;
mod store;
mod tables;
mod tee;
mod verify;
mod walk;

pub use backup::back_up;
pub use chain::{ChainHash, Head, StoredLine};
pub use compact::{CompactedCopy, Compaction, compact};
pub use database::JournalUrl;
pub use error::JournalError;
pub use exchange::{LoggedExchange, MAX_EXCHANGE_BYTES};
pub use file::FileJournal;
pub use follower::{Follower, is_snapshot};
pub use held_writes::{HeldWrites, hold_writes};
pub use holder::{Holder, Lease, LeaseTerms};
pub use line::{Line, LineKind};
pub use null_journal::NullJournal;
pub use orders::{OrderToken, StoredOrder, close_orders, give_order};
pub use reader::Reader;
pub use run_journal::RunJournal;
pub use seal::is_seal;
pub use store::{MAX_PENDING, Store};
pub use tables::{
    DayFigures, IntentRecord, IntentRows, ProjectionEnd, Projector, RunNames, Tables, figures_of,
};
pub use tee::Tee;
pub use verify::Verified;
pub use walk::Walk;

use async_trait::async_trait;
use candlewick_engine::{IntentId, Recorder};
use candlewick_sdk::Millis;

/// A recorder that can promise that what it has taken survives a crash.
#[async_trait]
pub trait Journal: Recorder + Send {
    /// Returns when every entry so far would survive a crash of the machine. Called now and then even when there is
    /// nothing new, so that a journal with a lease can renew it.
    ///
    /// # Errors
    /// When that cannot be promised. Nothing is lost: what was taken is kept, and this may be tried again unless
    /// [`JournalError::is_temporary`] says no.
    async fn make_durable(&mut self) -> Result<(), JournalError>;

    /// Makes everything durable and lets others have the journal. Nothing is taken any more.
    ///
    /// # Errors
    /// As [`Journal::make_durable`].
    async fn close(&mut self) -> Result<(), JournalError> {
        self.make_durable().await
    }

    /// How many entries were taken since it was last durable.
    fn pending(&self) -> usize;

    /// Keeps a request and its answer beside the entries, where the journal has room for that.
    fn record_exchange(&mut self, exchange: LoggedExchange) {
        let _ = exchange;
    }

    /// Keeps the answer to an order that lies in the journal's database, with the entries that were taken before it.
    fn answer_order(&mut self, order: OrderToken, answer: String) {
        let _ = (order, answer);
    }

    /// Whether [`Journal::keep_snapshot`] has something to do: a snapshot, or rows of the tables.
    fn is_snapshot_due(&self) -> bool {
        false
    }

    /// Whether the tables are far behind: while nothing else waits, their next piece may follow soon.
    fn is_catching_up(&self) -> bool {
        false
    }

    /// Keeps the next piece of a snapshot that is due, or of the tables. Nobody depends on it: called only while nothing else waits for the journal,
    /// it may be dropped on the way, and what goes wrong is said and counted by the journal itself.
    async fn keep_snapshot(&mut self) {}

    /// Keeps what is neither an event nor an action: an alarm, a finding.
    fn note(&mut self, at: Millis, body: String) {
        let _ = (at, body);
    }

    /// Keeps a note with an intent, to be found with what became of it.
    fn note_about(&mut self, at: Millis, intent: IntentId, body: String) {
        let _ = intent;
        self.note(at, body);
    }
}
