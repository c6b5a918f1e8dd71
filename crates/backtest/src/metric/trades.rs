//! Performance figures of settled trades: win rate, returns, streaks, exposure and trade frequency.

use crate::Summary;
use candlewick_engine::{IntentRow, to_trade_outcome};
use candlewick_sdk::{Millis, MoneyScale, Outcome, Payout};
use candlewick_statistics::{
    OpenPeriod, WinRate, clopper_pearson_interval, exposure, streak_probability, wilson_interval,
};
use serde::Serialize;
use std::ops::Range;

/// Returns the result of a settled trade per unit of stake: the payout for a win, -1 for a loss, 0 for a draw.
/// `None` if the trade is cancelled or not settled. A missing payout is computed from the profit.
pub fn unit_return(row: &IntentRow) -> Option<f64> {
    let outcome = row.outcome.filter(|outcome| *outcome != Outcome::Cancelled)?;
    let by_profit = || row.profit.minor() as f64 / row.approved.stake().minor() as f64;
    let payout = row.payout.map_or_else(by_profit, Payout::to_fraction);
    Some(to_trade_outcome(outcome).unit_return(payout))
}

const CONFIDENCE: f64 = 0.95;

/// Win rate, confidence intervals and break-even rate. The intervals assume independent trades and a single check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WinRates {
    /// Win rate: `won / (won + lost)`.
    pub rate: f64,
    pub assumes: &'static str,
    pub wilson: [f64; 2],
    /// 95 % Clopper-Pearson interval. It is conservative: it covers the true rate with at least 95 % probability.
    pub clopper_pearson: [f64; 2],
    /// Win rate at which the trades would break even with equal stakes; `None` if a payout is unknown.
    pub break_even: Option<f64>,
    /// Win rate minus break-even rate, as a fraction: 0.01 is one percentage point.
    pub above_break_even: Option<f64>,
    /// Win rate at which the trades would break even with their actual stakes. Not comparable with `rate`.
    pub break_even_by_money: Option<f64>,
}

impl WinRates {
    pub const ASSUMPTIONS: &str = "independent trades, checked once";

    pub fn from_summary(summary: &Summary) -> Option<Self> {
        let rate = WinRate::new(summary.won, summary.lost).ok()?;
        let wilson = wilson_interval(rate, CONFIDENCE).ok()?;
        let exact = clopper_pearson_interval(rate, CONFIDENCE).ok()?;
        Some(Self {
            rate: rate.to_fraction(),
            assumes: Self::ASSUMPTIONS,
            wilson: [wilson.lower, wilson.upper],
            clopper_pearson: [exact.lower, exact.upper],
            break_even: summary.break_even,
            above_break_even: summary.break_even.map(|needed| rate.to_fraction() - needed),
            break_even_by_money: summary.break_even_by_money,
        })
    }

    /// Returns half the width of the Wilson confidence interval.
    pub fn uncertainty(&self) -> f64 {
        (self.wilson[1] - self.wilson[0]) / 2.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expectancy {
    /// Mean return per unit of stake. Every trade has the same weight. Edges are judged by this figure.
    pub return_per_unit: f64,
    /// Standard error of `return_per_unit`, assuming independent trades; `None` for a single trade.
    pub standard_error: Option<f64>,
    /// Mean profit per trade in money, at the actual stakes.
    pub profit_per_trade: f64,
}

impl Expectancy {
    /// Computes the expectancy of all trades that are not cancelled, `None` if there are none.
    pub fn new(settled: &[&IntentRow], scale: MoneyScale) -> Option<Self> {
        let returns: Vec<f64> = settled.iter().filter_map(|row| unit_return(row)).collect();
        let return_per_unit = match returns.len() {
            0 => return None,
            count => returns.iter().sum::<f64>() / count as f64,
        };
        let profit = scale.to_f64(settled.iter().map(|row| row.profit).sum());
        Some(Self {
            return_per_unit,
            standard_error: candlewick_statistics::expectancy(&returns).ok().map(|one| one.standard_error),
            profit_per_trade: profit / returns.len() as f64,
        })
    }
}

/// Profit factors: total profit divided by total loss. 1 is break-even. A factor is `None` if there is no loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProfitFactor {
    /// Profit factor of the returns per unit of stake. Every trade has the same weight.
    pub of_returns: Option<f64>,
    /// Profit factor of the results in money, at the actual stakes.
    pub of_money: Option<f64>,
}

impl ProfitFactor {
    pub fn from_settled(settled: &[&IntentRow]) -> Self {
        let returns: Vec<f64> = settled.iter().filter_map(|row| unit_return(row)).collect();
        let profits: Vec<f64> = settled.iter().map(|row| row.profit.minor() as f64).collect();
        let factor = |results: &[f64]| candlewick_statistics::profit_factor(results).ok().flatten();
        Self { of_returns: factor(&returns), of_money: factor(&profits) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Streak {
    /// Number of consecutive trades. Draws and cancelled trades neither extend nor end a streak.
    pub length: u64,
    /// Probability of a streak at least this long at the run's win rate, assuming independent trades.
    /// A small value means that wins or losses cluster. `None` if no trade is won or lost.
    pub probability: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Streaks {
    pub won: Streak,
    pub lost: Streak,
}

impl Streaks {
    pub fn from_summary(summary: &Summary) -> Self {
        let streak = |length: u64, rate: Option<f64>| Streak {
            length,
            probability: rate.and_then(|rate| {
                let trades = u32::try_from(summary.won + summary.lost).ok()?;
                streak_probability(u32::try_from(length).ok()?, trades, rate).ok()
            }),
        };
        Self {
            won: streak(summary.longest_winning_streak, summary.win_rate),
            lost: streak(summary.longest_losing_streak, summary.win_rate.map(|rate| 1.0 - rate)),
        }
    }
}

/// Returns the share of `span` during which at least one settled trade was open, `None` for an empty span.
pub fn trade_exposure(settled: &[&IntentRow], span: &Range<Millis>) -> Option<f64> {
    let time = |from: Millis, until: Millis| OpenPeriod { from_ms: from.get(), until_ms: until.get() };
    let times: Vec<OpenPeriod> =
        settled.iter().filter_map(|row| Some(time(row.open_time?, row.close_time?))).collect();
    exposure(&times, time(span.start, span.end)).ok()
}

pub fn trades_per_day(settled: usize, span: &Range<Millis>) -> Option<f64> {
    let days = (span.end - span.start).get() as f64 / Millis::DAY.get() as f64;
    (days > 0.0).then(|| settled as f64 / days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_trades_per_day() {
        for (settled, hours, expected) in [(12, 12, Some(24.0)), (0, 24, Some(0.0)), (5, 0, None)] {
            assert_eq!(trades_per_day(settled, &(Millis::ZERO..Millis::HOUR * hours)), expected);
        }
    }
}
