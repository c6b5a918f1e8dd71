//! Markets for tests: one that streams, and servers of candles with every habit that a venue may have.

mod server;
mod streaming;

pub use server::{Cut, Dice, End, FIRST_MINUTE, MINUTES, Order, Question, Server, any_server};
pub use streaming::StreamingMarket;
