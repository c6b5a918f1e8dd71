//! Two recorders that take the same entries.

use crate::Journal;
use candlewick_engine::{Entry, Recorder};
use std::io;

/// Hands every entry to a journal and to another recorder, such as a hash.
pub struct Tee<'a> {
    /// The journal.
    pub journal: &'a mut dyn Journal,
    /// The other.
    pub other: &'a mut dyn Recorder,
}

impl Recorder for Tee<'_> {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.other.record(entry)?;
        self.journal.record(entry)
    }
}
