//! From a rule to a validated result: its candles, its search and the division of the candles.
//!
//! The steps are those of [`search`](crate::search), [`validation`](crate::validation) and
//! [`data::check`](crate::data::check). This module supplies their defaults.

mod candles;
mod plan;

pub use candles::{CandleOrigin, CheckedCandles, check_candles};
pub use plan::{MOST_SETS, TunePlan};
