//! Journal that discards every entry.

use crate::{Journal, JournalError};
use async_trait::async_trait;
use candlewick_engine::{Entry, Recorder};
use std::io;

#[derive(Clone, Copy, Debug, Default)]
pub struct NullJournal;

impl Recorder for NullJournal {
    fn record(&mut self, _entry: Entry<'_>) -> io::Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Journal for NullJournal {
    async fn make_durable(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    fn pending(&self) -> usize {
        0
    }
}
