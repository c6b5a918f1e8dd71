//! What a run tells whoever watches.

use candlewick_engine::{Action, Event, Ledger, TradeBook};
use candlewick_sdk::{Price, Symbol};

/// Something worth showing.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// The Session took an event and answered with these actions.
    Told(&'a Event, &'a [Action]),
    /// The latest price of a symbol whose strategies did not ask for it.
    Price(Symbol, Price),
    /// Something went wrong that the run survives.
    Warning(&'a str),
    /// No more trades are opened; this many intents are tracked to their end.
    Stopping(&'a str, usize),
}

/// Watches a run; must return quickly.
pub trait Observer: Send {
    /// Sees a notice, with the money and the trades as they stand after it.
    fn see(&mut self, notice: Notice<'_>, ledger: &Ledger, book: &TradeBook);
}
