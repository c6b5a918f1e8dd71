//! Performance figures of a run.

mod daily;
mod drawdown;
mod trades;

pub use daily::{DAYS_PER_YEAR, DailyProfits, DailyRatios};
pub use drawdown::{Drawdown, DrawdownTracker, percent_of_peak};
pub use trades::{
    Expectancy, ProfitFactor, Streak, Streaks, WinRates, trade_exposure, trades_per_day, unit_return,
};
