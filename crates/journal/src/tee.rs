//! Recorder that passes each entry to two others.

use candlewick_engine::{Entry, Recorder};
use std::io;

pub struct Tee<'a> {
    pub first: &'a mut dyn Recorder,
    pub second: &'a mut dyn Recorder,
}

impl Recorder for Tee<'_> {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.first.record(entry)?;
        self.second.record(entry)
    }
}
