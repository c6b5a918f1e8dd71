//! Why a trade was opened and what became of it; why none was.

mod audit;
mod candle;
mod doubt;
mod indicators;
mod moment;
mod plain;
mod step;
mod trade;

pub use moment::read_moment;
pub use trade::read_trade;
