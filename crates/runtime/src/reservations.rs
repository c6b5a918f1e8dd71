//! Stakes reserved for intents without a known trade.

use candlewick_engine::{IntentId, IntentState, Session, TradeBook};
use candlewick_sdk::Money;

pub(crate) struct Reservations(Vec<IntentId>);

impl Reservations {
    pub(crate) fn new(session: &Session) -> Self {
        Self(session.reserved().collect())
    }

    /// Returns the stakes of unopened intents that the event released.
    ///
    /// They never left the wallet, so they are kept apart from the event's own change of the free
    /// balance.
    pub(crate) fn released(&self, session: &Session, book: &TradeBook) -> Money {
        if self.0.is_empty() {
            return Money::ZERO;
        }
        let reserved: Vec<IntentId> = session.reserved().collect();
        let ended = self.0.iter().filter(|intent| !reserved.contains(intent));
        let rows = ended.filter_map(|intent| book.row(*intent));
        rows.filter(|row| row.state == IntentState::NotOpened).map(|row| row.approved.stake()).sum()
    }
}
