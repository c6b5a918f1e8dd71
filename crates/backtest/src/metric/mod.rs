//! Performance figures of a run, one per file.

mod daily;
mod drawdown;
mod expectancy;
mod exposure;
mod profit_factor;
mod streaks;
mod trades_per_day;
mod unit_return;
mod win_rate;

pub use daily::{DAYS_PER_YEAR, Daily, DailyProfits};
pub use drawdown::{Drawdown, DrawdownFold, percent_of_peak};
pub use expectancy::Expectancy;
pub use exposure::exposure_of;
pub use profit_factor::ProfitFactor;
pub use streaks::{Streak, Streaks};
pub use trades_per_day::trades_per_day;
pub use unit_return::unit_return;
pub use win_rate::WinRates;
