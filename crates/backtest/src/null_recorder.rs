//! A recorder for runs of which only the trades count.

use candlewick_engine::{Entry, Header, Interest, Recorder};
use serde_json::Value;
use std::io;

/// Records nothing, so that a run pays for no journal.
pub struct NullRecorder;

impl NullRecorder {
    /// The header of a run that is not recorded: it need not be true.
    pub fn header() -> Header {
        Header { format: Header::FORMAT, settings: Value::Null, strategies: Vec::new(), data_hash: None }
    }
}

impl Recorder for NullRecorder {
    fn interest(&self) -> Interest {
        Interest::AllButCandles
    }

    fn record(&mut self, _entry: Entry<'_>) -> io::Result<()> {
        Ok(())
    }
}
