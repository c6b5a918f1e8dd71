//! Parameter search and robustness tests: many backtests of one bot.
//!
//! - [`sweep`]: backtests over a parameter space.
//! - [`walk_forward`]: selection by sweeps, tested on later candles.
//! - [`monte_carlo`]: runs over resampled candles or trades.
//! - [`sensitivity`]: runs with other venue settings.
//! - [`variants`]: number of variants tried.
//!
//! Trials may share work, but each produces the same trades as a separate
//! [`Backtest`](candlewick_backtest::Backtest) with its parameters.

mod error;
pub mod monte_carlo;
pub mod sensitivity;
pub mod sweep;
pub mod variants;
pub mod walk_forward;

pub use error::SearchError;
