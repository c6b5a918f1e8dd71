//! Monte Carlo paths: trades or candles of a run, resampled in blocks.
//!
//! [`MonteCarlo::resample_trades`] resamples the trades of the run, with their stakes and profits.
//! [`MonteCarlo::resample_candles`] resamples the candles, and the strategies decide again on each path.
//! A path depends only on the seed and the path number, so several machines can share the paths.

mod candles;
mod run;

pub use candles::{ResampleInputError, ResampledCandles};
pub use run::{MonteCarlo, ObservedTrade, PathRow, PathWatcher, observed_trades};
