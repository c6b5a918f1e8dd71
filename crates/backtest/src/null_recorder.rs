//! A recorder for runs of which only the trades matter.

use candlewick_engine::{Entry, Header, Interest, Recorder};
use serde_json::Value;
use std::io;

pub struct NullRecorder;

impl NullRecorder {
    /// Returns a placeholder header: it is never recorded, so its contents do not matter.
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
