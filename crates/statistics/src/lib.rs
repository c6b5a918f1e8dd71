//! Pure mathematics of the edge: break-even, intervals, tests.
//!
//! A fixed-time trade wins `b` per unit of stake (80 % payout: `b = 0.8`) or loses the unit, so a coin toss loses
//! money and the question is never "more than half?" but "more than [`break_even()`]?". Draws and cancellations
//! return the stake and are no decided trades: leave them out of every count here.
//!
//! ```
//! use candlewick_statistics::{WinRate, binomial_p_value, break_even, wilson_interval};
//!
//! let rate = WinRate::new(580, 420)?;
//! let needed = break_even(0.85)?;
//! let interval = wilson_interval(rate, 0.95)?;
//! assert!(interval.lower < 0.58 && 0.58 < interval.upper);
//! assert!(binomial_p_value(rate, needed)? < 0.01);
//! # Ok::<(), candlewick_statistics::StatisticsError>(())
//! ```
//!
//! The interval and both p-values assume independent trades. Trades that overlap in time are not, and these
//! figures then claim far more than they know; say so wherever they are shown.

mod binomial_density;
mod binomial_p_value;
mod break_even;
mod clopper_pearson;
mod false_discovery;
mod kelly;
mod metrics;
mod planner;
mod poisson_binomial;
#[cfg(test)]
mod reference;
mod ruin;
mod simulation;
mod sprt;
mod statistics_error;
mod trade_outcome;
mod verdict;
mod wilson;
mod win_rate;

pub use binomial_p_value::binomial_p_value;
pub use break_even::{PaidStake, break_even, mixed_break_even};
pub use clopper_pearson::clopper_pearson_interval;
pub use false_discovery::benjamini_hochberg;
pub use kelly::kelly_fraction;
pub use metrics::{
    Drawdown, Expectancy, OpenTime, SharpeSample, Streaks, calmar, deflated_sharpe, expectancy, exposure,
    longest_streaks, max_drawdown, probabilistic_sharpe, profit_factor, sharpe, sortino, streak_probability,
};
pub use planner::{MOST_PLANNED_TRADES, TradePlan};
pub use poisson_binomial::{MOST_MIXED_TRADES, poisson_binomial_p_value};
pub use ruin::{MOST_HORIZON_TRADES, MOST_MONEY, Ruin, RuinQuestion, StakePlan, required_balance, ruin};
pub use simulation::{
    Arrangement, PathRange, RuinTrials, StreamEvent, TradeStream, VerdictRates, simulate_ruin,
};
pub use sprt::{Sprt, SprtAnswer};
pub use statistics_error::StatisticsError;
pub use trade_outcome::TradeOutcome;
pub use verdict::{EdgeTest, NotionalStake, Overlap, Verdict, VerdictPlan};
pub use wilson::{ConfidenceInterval, wilson_interval};
pub use win_rate::{MOST_TRADES, WinRate};
