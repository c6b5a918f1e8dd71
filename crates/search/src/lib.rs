//! Many replays of one bot: which parameters there are, which of them are tried, and what they come to.
//!
//! A [`sweep`] runs many backtests of one bot; a [`walk_forward`] chooses by sweeps and tests what it chose on candles that
//! came later; [`monte_carlo`] runs over resampled candles or trades, [`sensitivity`] on other settings of the venue; [`variants`] counts what was tried. Whatever work trials share, each has the trades of a
//! [`Backtest`](candlewick_backtest::Backtest) with its parameters.

mod error;
pub mod monte_carlo;
pub mod sensitivity;
pub mod sweep;
pub mod variants;
pub mod walk_forward;

pub use error::SearchError;
