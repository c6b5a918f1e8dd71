//! Refusals by the venue: no signal asks again at once.

use crate::world::World;
use candlewick_engine::{Approved, Event, EventKind, SymbolId, TradeBook};
use candlewick_sdk::Millis;
use std::collections::BTreeMap;

/// Shortest pause after a first refusal.
const FIRST_PAUSE: Millis = Millis::from_seconds(5);

/// Refusals of one run, by symbol.
#[derive(Default)]
pub(crate) struct Refusals {
    /// Refusals since the last success, and the time of the last one.
    symbols: BTreeMap<SymbolId, (u32, Millis)>,
}

impl Refusals {
    /// Counts an event.
    pub(crate) fn take(&mut self, event: &Event, book: &TradeBook) {
        let symbol = |intent| book.row(intent).map(|row| row.approved.symbol());
        match &event.kind {
            EventKind::Rejected { intent, .. } => {
                let Some(symbol) = symbol(*intent) else { return };
                let (count, at) = self.symbols.entry(symbol).or_default();
                (*count, *at) = (*count + 1, event.received);
            }
            EventKind::Opened(opened) | EventKind::Adopted(opened) => {
                if let Some(symbol) = symbol(opened.intent) {
                    self.symbols.remove(&symbol);
                }
            }
            _ => {}
        }
    }

    /// Checks that an approved trade respects the pause of its symbol.
    pub(crate) fn check(&self, world: &World, approved: &Approved, now: Millis) {
        let Some((count, at)) = self.symbols.get(&approved.symbol()) else { return };
        let is_paused = now - *at < FIRST_PAUSE && world.plan.habits.clock_jumps == 0;
        world.require(!is_paused, || {
            let waited = (now - *at).get();
            format!("intent {} came {waited} ms after refusal {count} of its symbol", approved.intent())
        });
    }
}
