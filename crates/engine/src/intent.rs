//! Intents that are not over: in flight, in doubt, or open.

use crate::{Approved, BotId, IntentId, SymbolId};
use candlewick_sdk::{Direction, Millis, Money};

/// Where an unfinished intent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its request left, its answer is awaited.
    InFlight,
    /// Its answer will not be known without looking.
    InDoubt,
    /// The venue accepted it.
    Open,
}

/// An unfinished intent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intent {
    pub(crate) id: IntentId,
    pub(crate) bot: BotId,
    pub(crate) symbol: SymbolId,
    pub(crate) direction: Direction,
    pub(crate) stake: Money,
    pub(crate) decision_time: Millis,
    /// The close that the expiry means, counted from the decision.
    pub(crate) nominal_close: Millis,
    pub(crate) stage: Stage,
}

/// All unfinished intents, in the order of their making. Few at a time, so plain scans.
#[derive(Debug)]
pub(crate) struct Intents {
    unfinished: Vec<Intent>,
    next: IntentId,
}

impl Intents {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { unfinished: Vec::with_capacity(capacity), next: IntentId::new(1) }
    }

    pub(crate) const fn next_id(&self) -> IntentId {
        self.next
    }

    pub(crate) fn begin(&mut self, approved: &Approved, nominal_close: Millis) {
        self.next = approved.intent().next();
        self.unfinished.push(Intent {
            id: approved.intent(),
            bot: approved.bot(),
            symbol: approved.symbol(),
            direction: approved.direction(),
            stake: approved.stake(),
            decision_time: approved.decision_time(),
            nominal_close,
            stage: Stage::InFlight,
        });
    }

    /// Moves an intent to another stage; `None` when it is not unfinished.
    pub(crate) fn advance(&mut self, id: IntentId, stage: Stage) -> Option<&Intent> {
        let intent = self.unfinished.iter_mut().find(|intent| intent.id == id)?;
        intent.stage = stage;
        Some(intent)
    }

    /// Takes an intent out; `None` when it is not unfinished.
    pub(crate) fn finish(&mut self, id: IntentId) -> Option<Intent> {
        let position = self.unfinished.iter().position(|intent| intent.id == id)?;
        Some(self.unfinished.remove(position))
    }

    pub(crate) fn all(&self) -> &[Intent] {
        &self.unfinished
    }

    pub(crate) fn on_symbol(&self, symbol: SymbolId) -> impl Iterator<Item = &Intent> {
        self.unfinished.iter().filter(move |intent| intent.symbol == symbol)
    }
}
