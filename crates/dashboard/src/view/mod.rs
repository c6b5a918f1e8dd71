//! JSON documents for the browser.

mod candles;
mod clock;
mod curves;
pub(crate) mod limits;
mod orders;
mod state;
mod trades;

pub(crate) use candles::{Bars, bars_of};
pub(crate) use clock::Clock;
pub(crate) use curves::{EdgeCurve, EquityCurve, edge_curve, equity_curve};
pub(crate) use orders::{Ordered, Problem, Reason, SignIn, SignedIn};
#[cfg(test)]
pub(crate) use state::run_of;
pub(crate) use state::{State, state_of};
pub(crate) use trades::{Lines, Mark, Trades, marks_of, trades_of};
