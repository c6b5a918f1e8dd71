//! Parameter search and robustness tests: many backtests of one bot.
//!
//! - [`sweep`]: backtests over a parameter space.
//! - [`walk_forward`]: parameters selected on past candles and tested on later candles.
//! - [`monte_carlo`]: runs over resampled candles or trades.
//! - [`sensitivity`]: the same backtest with other venue settings.
//! - [`variants`]: the number of parameter and strategy variants that were tried.
//!
//! A trial is one backtest. Trials may share work, but each trial produces the same trades as a separate
//! [`Backtest`](candlewick_backtest::Backtest) with the parameters of the trial.

mod error;
pub mod monte_carlo;
pub mod sensitivity;
pub mod sweep;
pub mod variants;
pub mod walk_forward;

pub use error::SearchError;
