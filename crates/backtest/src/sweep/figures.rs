//! What a trial came to.

use crate::{Finished, Summary};
use candlewick_engine::IntentState;
use candlewick_sdk::{Millis, Money};
use candlewick_statistics::{WinRate, wilson_interval};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The confidence of the interval whose lower end counts: two-sided, so one in forty true rates lies below it.
const CONFIDENCE: f64 = 0.95;
/// Days of a year, for a rate that others quote per year. Weekends count: they are days without profit.
const DAYS: f64 = 365.0;

/// The figures of one trial. Rates are fractions; money is in the wallet's currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Settled trades.
    pub trades: u64,
    /// Trades that won.
    pub won: u64,
    /// Trades that lost.
    pub lost: u64,
    /// Trades that drew.
    pub draw: u64,
    /// Trades that the venue called off.
    pub cancelled: u64,
    /// Intents that are neither settled nor refused.
    pub unsettled: u64,
    /// Signals and orders that were refused.
    pub refused: u64,
    /// `won / (won + lost)`.
    pub win_rate: Option<f64>,
    /// The win rate at which the decided trades would have earned nothing.
    pub break_even: Option<f64>,
    /// The lower end of the win rate's 95 % Wilson interval, less the break-even.
    pub edge_lower: Option<f64>,
    /// Probability of so many wins or more without an edge, if trades are independent.
    pub p_value: Option<f64>,
    /// Net profit of all settled trades.
    pub pnl: f64,
    /// Net profit per unit staked.
    pub expectancy: Option<f64>,
    /// Mean over standard deviation of each day's profit, a year's worth.
    pub sharpe: Option<f64>,
    /// The deepest fall below a peak.
    pub max_drawdown: f64,
    /// The same, in percent of the peak.
    pub max_drawdown_percent: f64,
    /// The most losses in a row.
    pub longest_losing_streak: u64,
}

impl Figures {
    /// Of a run that began with `balance`, over candles from the start to the end of `span`.
    pub fn of(finished: &Finished, balance: Money, span: &Range<Millis>) -> Self {
        let summary = Summary::of(&finished.book, balance);
        let scale = finished.money_scale;
        let settled = || finished.book.rows().iter().filter(|row| row.state == IntentState::Settled);
        let staked: Money = settled().map(|row| row.approved.stake()).sum();
        let profits = settled().filter_map(|row| Some((row.settled_at?, row.profit)));
        let expectancy = staked.is_positive().then(|| summary.pnl.minor() as f64 / staked.minor() as f64);
        Self {
            trades: summary.trades,
            won: summary.won,
            lost: summary.lost,
            draw: summary.draw,
            cancelled: summary.cancelled,
            unsettled: summary.unsettled,
            refused: summary.refused.values().sum(),
            win_rate: summary.win_rate,
            break_even: summary.break_even,
            edge_lower: edge_lower(&summary),
            p_value: summary.p_value,
            pnl: scale.to_f64(summary.pnl),
            expectancy,
            sharpe: sharpe(profits, span),
            max_drawdown: scale.to_f64(summary.max_drawdown.amount),
            max_drawdown_percent: summary.max_drawdown.percent,
            longest_losing_streak: summary.longest_losing_streak,
        }
    }

    /// Trades that won or lost.
    pub const fn decided(&self) -> u64 {
        self.won + self.lost
    }
}

fn edge_lower(summary: &Summary) -> Option<f64> {
    let rate = WinRate::new(summary.won, summary.lost).ok()?;
    Some(wilson_interval(rate, CONFIDENCE).ok()?.lower - summary.break_even?)
}

/// The Sharpe ratio of each day's profit. Every day of the span counts, also those without a trade. None below two
/// days, or when all days are alike.
fn sharpe(profits: impl Iterator<Item = (Millis, Money)>, span: &Range<Millis>) -> Option<f64> {
    let day = |at: Millis| at.get().div_euclid(Millis::DAY.get());
    let first = day(span.start);
    let mut days = vec![0.0; usize::try_from(day(span.end - Millis::new(1)) - first + 1).unwrap_or_default()];
    for (at, profit) in profits {
        let place = usize::try_from(day(at) - first).unwrap_or_default();
        if place >= days.len() {
            days.resize(place + 1, 0.0); // a settlement is read shortly after the last candle
        }
        days[place] += profit.minor() as f64;
    }
    candlewick_statistics::sharpe(&days, DAYS).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(profits: &[(i64, i64)], days: i64, expected: Option<f64>) {
        let at = |(hour, profit): &(i64, i64)| (Millis::HOUR * *hour, Money::from_minor(*profit));
        let found = sharpe(profits.iter().map(at), &(Millis::ZERO..Millis::DAY * days));
        match (found, expected) {
            (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-12, "{found} {expected}"),
            _ => assert_eq!(found, expected),
        }
    }

    #[test]
    fn the_sharpe_ratio_is_of_all_days() {
        // 3, 0 and 0: mean 1, sample variance (4 + 1 + 1) / 2 = 3.
        check(&[(1, 1), (5, 2)], 3, Some(1.0 / 3_f64.sqrt() * 365_f64.sqrt()));
        // 2 and -1: mean 0.5, sample variance 2 * 2.25 = 4.5.
        check(&[(3, 2), (26, -1)], 2, Some(0.5 / 4.5_f64.sqrt() * 365_f64.sqrt()));
        // What is read a moment after the last candle makes its own day.
        check(&[(3, 2), (48, -1)], 2, Some(1.0 / 3.0 / (7.0 / 3.0_f64).sqrt() * 365_f64.sqrt()));
        check(&[], 5, None);
        check(&[(3, 2)], 1, None);
        check(&[(3, 2), (27, 2)], 2, None);
    }
}
