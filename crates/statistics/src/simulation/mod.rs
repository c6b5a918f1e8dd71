//! Trades made by chance, to try a promise on: see [`TradeStream`].

mod dice;
mod trade_stream;
mod verdict_rates;

pub use trade_stream::{Arrangement, StreamEvent, TradeStream};
pub use verdict_rates::{PathRange, VerdictRates};
