//! Parameter search and robustness tests: many backtests of one bot.
//!
//! - [`evidence`]: which candles may be explored, and the tests on the others.
//! - [`sweep`]: backtests over a parameter space.
//! - [`walk_forward`]: parameters selected on past candles and tested on later candles.
//! - [`monte_carlo`]: runs over resampled candles or trades.
//! - [`sensitivity`]: the same backtest with other venue settings.
//!
//! A trial is one backtest. Trials may share work, but each trial produces the same trades as a separate
//! [`Backtest`](candlewick_backtest::Backtest) with the parameters of the trial.

mod error;
pub mod evidence;
pub mod monte_carlo;
pub mod sensitivity;
pub mod sweep;
pub mod walk_forward;

pub use error::SearchError;
