//! No journal, for runs that keep none.

use crate::Journal;
use candlewick_engine::{Entry, Recorder};
use std::io;

/// Takes every entry and keeps none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Recorder for NoJournal {
    fn record(&mut self, _entry: Entry<'_>) -> io::Result<()> {
        Ok(())
    }
}

impl Journal for NoJournal {
    fn make_durable(&mut self) -> io::Result<()> {
        Ok(())
    }
}
