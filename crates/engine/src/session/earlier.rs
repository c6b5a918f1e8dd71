//! What a Session takes from earlier runs.

use super::{Session, position_or_push};
use crate::nominal::nominal_close;
use crate::{EventKind, Recorded, SymbolId};
use candlewick_sdk::Symbol;

impl Session {
    /// Takes an entry of an earlier run: ledger, limits, ladders and doubts become what they were. Strategies are
    /// shown nothing, and nothing is answered.
    pub fn recall(&mut self, recorded: &Recorded) {
        match recorded {
            Recorded::Refuse => {}
            Recorded::Open(approved) => {
                self.intents.begin(approved, nominal_close(approved.expiry(), approved.decision_time()));
                self.ledger.reserve(approved.stake());
                self.state.count_trade(&self.limits, approved.decision_time());
            }
            Recorded::DayOpened { start } => {
                let (start, end) = self.limits.day_of(*start);
                self.ledger.open_day(end);
                self.state.open_day(start);
            }
            Recorded::Event(event) => match &event.kind {
                EventKind::Candle { .. } | EventKind::Price { .. } => {}
                EventKind::Settled(settled) => {
                    self.release(event.at);
                    self.on_settled(settled, event.at);
                }
                _ => {
                    self.release(event.at);
                    self.hear(event, &mut Vec::new());
                }
            },
        }
    }

    /// Position of a symbol that an earlier run traded; one that no bot trades any more is added at the end.
    pub(crate) fn remember_symbol(&mut self, symbol: Symbol) -> SymbolId {
        let place = position_or_push(&mut self.symbols, symbol);
        self.state.make_room(self.symbols.len());
        SymbolId::new(place).unwrap_or(SymbolId::RETIRED)
    }
}
