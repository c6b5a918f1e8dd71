//! Why a trade was opened and what became of it; why none was.

mod candle;
mod indicators;
mod moment;
mod trade;

pub(crate) use moment::read_moment;
pub(crate) use trade::read_trade;
