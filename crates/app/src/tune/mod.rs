//! From a rule to a checked result: the candles that it needs, what of it is searched, and how the candles are divided.
//!
//! The parts are those of [`search`](crate::search), [`validation`](crate::validation) and [`data::check`](crate::data::check); here
//! stands what is taken where nobody says.

mod candles;
mod plan;

pub use candles::{CandleOrigin, CheckedCandles, check_candles};
pub use plan::{MOST_SETS, TunePlan};
