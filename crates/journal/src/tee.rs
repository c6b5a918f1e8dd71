//! Two recorders that take the same entries.

use candlewick_engine::{Entry, Recorder};
use std::io;

/// Hands every entry to both, such as a hash and a journal.
pub struct Tee<'a> {
    /// Is handed each entry first.
    pub first: &'a mut dyn Recorder,
    /// Is handed each entry second.
    pub second: &'a mut dyn Recorder,
}

impl Recorder for Tee<'_> {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.first.record(entry)?;
        self.second.record(entry)
    }
}
