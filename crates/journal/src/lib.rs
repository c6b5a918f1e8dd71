//! The durable record of a Session's events and actions, in their order.
//!
//! An entry is a line of JSON: first the header, then every event that the Session was told, each followed by the
//! actions that it answered. Folding the events again gives the Session again. An intent is durable before its
//! request leaves: the driver calls [`Journal::make_durable`] between the two.

mod error;
mod file;
mod nowhere;
mod tee;

pub use error::JournalError;
pub use file::FileJournal;
pub use nowhere::NoJournal;
pub use tee::Tee;

use candlewick_engine::Recorder;
use std::io;

/// A recorder that can promise that what it has taken survives a crash.
pub trait Journal: Recorder + Send {
    /// Returns when every entry so far would survive a crash of the machine.
    ///
    /// # Errors
    /// When that cannot be promised. The driver then opens nothing more.
    fn make_durable(&mut self) -> io::Result<()>;
}
