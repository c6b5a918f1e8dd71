//! Markets for tests: one that streams, and candle servers with all habits of real venues.

mod server;
mod streaming;

pub use server::{Cut, Dice, End, FIRST_MINUTE, MINUTES, Order, Question, Server, any_server};
pub use streaming::StreamingMarket;
