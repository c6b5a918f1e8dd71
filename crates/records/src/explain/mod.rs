//! Explanations of trades and of moments without a trade.

mod audit;
mod before;
mod candle;
mod conditions;
mod doubt;
mod gate_move;
mod indicators;
mod last;
mod moment;
mod outside;
mod pause;
mod plain;
mod step;
mod trade;

pub use conditions::short_condition;
pub use indicators::INDICATORS_WITHIN;
pub use last::{LastDecisions, read_last};
pub use moment::{AskedMoment, MomentQuery, read_moment};
pub use trade::{AskedTrade, read_trade};
