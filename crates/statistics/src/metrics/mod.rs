//! Performance metrics of a run, one per file.

mod calmar;
mod deflated_sharpe;
mod drawdown;
mod expectancy;
mod exposure;
mod probabilistic_sharpe;
mod profit_factor;
mod sharpe;
mod sortino;
mod streaks;

pub use calmar::calmar;
pub use deflated_sharpe::deflated_sharpe;
pub use drawdown::{Drawdown, max_drawdown};
pub use expectancy::{Expectancy, expectancy};
pub use exposure::{OpenTime, exposure};
pub use probabilistic_sharpe::{SharpeSample, probabilistic_sharpe};
pub use profit_factor::profit_factor;
pub use sharpe::sharpe;
pub use sortino::sortino;
pub use streaks::{StreakFold, Streaks, longest_streaks, streak_probability};
