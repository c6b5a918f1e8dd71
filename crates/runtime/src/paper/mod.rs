//! Paper trading: a venue's own prices, and trades that only exist here.

mod broker;
mod ticket;

pub use broker::PaperBroker;
