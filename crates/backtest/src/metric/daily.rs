//! Daily profits and their risk ratios, such as the Sharpe ratio.

use candlewick_sdk::{Millis, Money};
use candlewick_statistics::{SharpeSample, calmar, probabilistic_sharpe, sharpe, sortino};
use serde::Serialize;
use std::ops::Range;

/// Days per year for annualized ratios. Weekends count as days without profit.
pub const DAYS_PER_YEAR: f64 = 365.0;

/// Risk ratios of daily profits. A trade counts on the UTC day on which its settlement became known.
/// A day without trades has a profit of 0. A ratio is `None` if it is undefined, such as with fewer than two days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DailyRatios {
    pub days: u64,
    /// Annualized Sharpe ratio: mean divided by standard deviation.
    pub sharpe: Option<f64>,
    /// Annualized Sortino ratio: mean divided by downside deviation.
    pub sortino: Option<f64>,
    /// Calmar ratio: annual growth of the compounded daily returns, divided by the maximum drawdown.
    pub calmar: Option<f64>,
    /// Probability that the true Sharpe ratio is above 0, assuming independent daily profits.
    pub probabilistic_sharpe: Option<f64>,
}

/// Daily profits in minor units of money, including days without a trade.
#[derive(Clone, Debug)]
pub struct DailyProfits {
    first: i64,
    days: Vec<f64>,
    today: usize,
    hours: Range<Millis>,
}

impl DailyProfits {
    pub fn new(span: &Range<Millis>) -> Self {
        let first = day_number(span.start);
        let count = usize::try_from(day_number(span.end - Millis::new(1)) - first + 1).unwrap_or_default();
        Self { first, days: vec![0.0; count], today: 0, hours: Millis::ZERO..Millis::ZERO }
    }

    #[inline]
    pub fn add_profit(&mut self, at: Millis, profit: Money) {
        if !self.hours.contains(&at) {
            self.advance_to(at);
        }
        if let Some(day) = self.days.get_mut(self.today) {
            *day += profit.minor() as f64;
        }
    }

    #[cold]
    fn advance_to(&mut self, at: Millis) {
        self.today = usize::try_from(day_number(at) - self.first).unwrap_or_default();
        if self.today >= self.days.len() {
            self.days.resize(self.today + 1, 0.0); // settlements become known after the last candle
        }
        let start = at.floor_to(Millis::DAY);
        self.hours = start..start + Millis::DAY;
    }

    pub fn profits(&self) -> &[f64] {
        &self.days
    }

    /// Returns the annualized Sharpe ratio. `None` with fewer than two days, or if all days have the same profit.
    pub fn sharpe(&self) -> Option<f64> {
        sharpe(&self.days, DAYS_PER_YEAR).ok().flatten()
    }
}

const fn day_number(at: Millis) -> i64 {
    at.get().div_euclid(Millis::DAY.get())
}

impl DailyRatios {
    pub fn new(profits: &[f64], balance: Money) -> Self {
        let ratio = |f: fn(&[f64], f64) -> Result<Option<f64>, _>| f(profits, DAYS_PER_YEAR).ok().flatten();
        let sample = SharpeSample::from_returns(profits).ok().flatten();
        Self {
            days: profits.len() as u64,
            sharpe: ratio(sharpe),
            sortino: ratio(sortino),
            calmar: calmar(&compound_returns(profits, balance), DAYS_PER_YEAR)
                .ok()
                .flatten()
                .filter(|ratio| ratio.is_finite()),
            probabilistic_sharpe: sample.and_then(|sample| probabilistic_sharpe(sample, 0.0).ok()),
        }
    }
}

fn compound_returns(profits: &[f64], balance: Money) -> Vec<f64> {
    let mut before = balance.minor() as f64;
    let share = |profit: &f64| {
        let share = profit / before;
        before += profit;
        share
    };
    profits.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: Option<f64>) {
        match (found, expected) {
            (Some(found), Some(expected)) => {
                assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
            }
            _ => assert_eq!(found, expected),
        }
    }

    fn check(profits: &[(i64, i64)], days: i64, expected: Option<f64>) {
        let mut fold = DailyProfits::new(&(Millis::ZERO..Millis::DAY * days));
        for (hour, profit) in profits {
            fold.add_profit(Millis::HOUR * *hour, Money::from_minor(*profit));
        }
        near(DailyRatios::new(fold.profits(), Money::from_minor(100)).sharpe, expected);
        near(fold.sharpe(), expected);
    }

    #[test]
    fn sharpe_ratio_includes_days_without_trades() {
        // Profits of 3, 0 and 0 have mean 1 and sample variance (4 + 1 + 1) / 2 = 3.
        check(&[(1, 1), (5, 2)], 3, Some(1.0 / 3_f64.sqrt() * 365_f64.sqrt()));
        // Profits of 2 and -1 have mean 0.5 and sample variance 2 * 2.25 = 4.5.
        check(&[(3, 2), (26, -1)], 2, Some(0.5 / 4.5_f64.sqrt() * 365_f64.sqrt()));
        check(&[(3, 2), (48, -1)], 2, Some(1.0 / 3.0 / (7.0 / 3.0_f64).sqrt() * 365_f64.sqrt()));
        check(&[], 5, None);
        check(&[(3, 2)], 1, None);
        check(&[(3, 2), (27, 2)], 2, None);
    }

    #[test]
    fn growth_is_compounded() {
        // The balance is 100, 150, 75, 300: returns of 1/2, -1/2 and 3 in three days, with a drawdown of one half.
        let daily = DailyRatios::new(&[50.0, -75.0, 225.0], Money::from_minor(100));
        near(daily.calmar, Some((3_f64.powf(365.0 / 3.0) - 1.0) / 0.5));
        // There is one loss of 75 in three days: the ratio is 200 / 3 divided by sqrt(75 75 / 3), annualized.
        near(daily.sortino, Some(200.0 / 3.0 / (75.0 * 75.0 / 3_f64).sqrt() * 365_f64.sqrt()));
    }
}
