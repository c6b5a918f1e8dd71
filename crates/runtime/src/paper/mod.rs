//! Paper trading: local simulated trades at a venue's real prices.

mod broker;
mod ticket;

pub use broker::PaperBroker;
