//! A Session whose bots never signal, for the fold of a journal.

use super::Session;
use crate::{EngineError, SessionSettings};
use candlewick_sdk::{Candle, Signal, Strategy};

struct Silent;

impl Strategy for Silent {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        None
    }
}

impl Session {
    /// A Session of these settings whose bots have no strategies of theirs.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn silent(settings: &SessionSettings) -> Result<Self, EngineError> {
        let strategies = settings.bots.iter().map(|_| Box::new(Silent) as Box<dyn Strategy>);
        Self::new(settings, strategies.collect())
    }
}
