//! Journals: durable, ordered records of the events and actions of a trading session.
//!
//! A journal entry is a line of JSON. A run writes a header, then each event followed by its actions. A replay
//! of all entries restores the session. [`Journal::make_durable`] stores an intent before its request is sent.
//! A [`Store`] writes to SQLite or PostgreSQL under an exclusive lease, and links the lines in a hash chain.
//! A [`Reader`] can read at the same time. A [`Projector`] derives SQL tables from the entries.

mod append;
mod chain;
mod compact;
mod database;
mod difference;
mod error;
mod exchange;
mod file;
mod holder;
mod kill_point;
mod lease;
mod orders;
mod point;
mod private_file;
mod reader;
mod run_journal;
mod store;
mod tables;
mod walk;

pub use chain::{ChainHash, Head, Line, LineKind, StoredLine};
pub use compact::{CompactedCopy, Compaction, back_up, compact};
pub use database::JournalUrl;
pub use error::JournalError;
pub use exchange::{LoggedExchange, MAX_EXCHANGE_BYTES, is_seal, without_nul};
pub use file::{FileJournal, NullJournal, TeeRecorder};
pub use holder::{Holder, Lease, LeaseTerms};
pub use orders::{OperatorOrder, OrderToken, close_operator_orders, submit_operator_order};
pub use reader::Reader;
pub use run_journal::{JournalFollower, RunJournal, is_snapshot};
pub use store::{MAX_PENDING, Store};
pub use tables::{
    DayFigures, IntentRecord, IntentRows, ProjectionProgress, Projector, RunNames, Tables, daily_figures,
};
pub use walk::{JournalVerification, Walk};

use async_trait::async_trait;
use candlewick_engine::{IntentId, Recorder};
use candlewick_sdk::Millis;

#[async_trait]
pub trait Journal: Recorder + Send {
    /// Durably stores all entries recorded so far, so that they survive a crash of the machine.
    /// Call this method periodically even without new entries, so that the journal can renew its lease.
    /// After an error, the journal retains the entries. Retry if [`JournalError::is_temporary`].
    async fn make_durable(&mut self) -> Result<(), JournalError>;

    /// Makes all entries durable and releases the journal, which then accepts no more entries.
    async fn close(&mut self) -> Result<(), JournalError> {
        self.make_durable().await
    }

    fn pending_count(&self) -> usize;

    fn record_exchange(&mut self, exchange: LoggedExchange) {
        let _ = exchange;
    }

    /// Records the answer to an operator's order. The answer is committed together with the preceding entries.
    fn answer_order(&mut self, order: OrderToken, answer: String) {
        let _ = (order, answer);
    }

    fn is_snapshot_due(&self) -> bool {
        false
    }

    fn is_catching_up(&self) -> bool {
        false
    }

    /// Writes the next piece of a pending snapshot or table update. Best effort: errors are not returned.
    /// Call this only while nothing else waits for the journal. The future may be dropped at any time.
    async fn write_background_chunk(&mut self) {}

    fn note(&mut self, at: Millis, body: String) {
        let _ = (at, body);
    }

    fn note_about(&mut self, at: Millis, intent: IntentId, body: String) {
        let _ = intent;
        self.note(at, body);
    }
}
