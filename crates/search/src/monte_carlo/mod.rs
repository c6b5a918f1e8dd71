//! Monte Carlo simulation: the trades or candles of a run are resampled in blocks. Each resample is called a path.
//!
//! [`MonteCarlo::resample_trades`] resamples the trades of the run, with their stakes and profits.
//! [`MonteCarlo::resample_candles`] resamples the candles and runs the strategies on each path.
//! A path depends only on the seed and the path number, so the paths can be split among several machines.

mod candles;
mod run;

pub use candles::{CandleResampler, ResampleInputError};
pub use run::{MonteCarlo, ObservedTrade, PathFilter, PathRow, observed_trades};
