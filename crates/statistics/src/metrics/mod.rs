//! Performance metrics of a run.

mod drawdown;
mod profit;
mod sharpe;
mod streaks;

pub use drawdown::{Drawdown, calmar, max_drawdown};
pub use profit::{Expectancy, OpenPeriod, expectancy, exposure, profit_factor};
pub use sharpe::{SharpeSample, deflated_sharpe, probabilistic_sharpe, sharpe, sortino};
pub use streaks::{RunsTest, StreakTracker, Streaks, longest_streaks, runs_test, streak_probability};
