//! How often trades won, and how often they had to.

use crate::Summary;
use candlewick_statistics::{WinRate, clopper_pearson_interval, wilson_interval};
use serde::Serialize;

/// The confidence of both intervals, two-sided.
const CONFIDENCE: f64 = 0.95;

/// The win rate beside the one that is needed. Both intervals assume independent trades and one look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WinRates {
    /// `won / (won + lost)`.
    pub rate: f64,
    /// What both intervals assume: [`WinRates::ASSUMES`].
    pub assumes: &'static str,
    /// The 95 % Wilson interval.
    pub wilson: [f64; 2],
    /// The 95 % Clopper-Pearson interval, which never covers less than it says.
    pub clopper_pearson: [f64; 2],
    /// The rate at which the trades would have earned nothing, each with the same stake; unknown where a payout is.
    pub break_even: Option<f64>,
    /// The rate less the break-even, as a fraction: a hundredth is one point.
    pub above_break_even: Option<f64>,
    /// The rate at which they would have earned nothing with the stakes that they had: no rate of trades is compared with it.
    pub break_even_by_money: Option<f64>,
}

impl WinRates {
    /// What the intervals of Wilson and of Clopper and Pearson assume.
    pub const ASSUMES: &str = "independent trades, looked at once";

    /// Of a run; nothing without a decided trade.
    pub fn of(summary: &Summary) -> Option<Self> {
        let rate = WinRate::new(summary.won, summary.lost).ok()?;
        let wilson = wilson_interval(rate, CONFIDENCE).ok()?;
        let exact = clopper_pearson_interval(rate, CONFIDENCE).ok()?;
        Some(Self {
            rate: rate.to_fraction(),
            assumes: Self::ASSUMES,
            wilson: [wilson.lower, wilson.upper],
            clopper_pearson: [exact.lower, exact.upper],
            break_even: summary.break_even,
            above_break_even: summary.break_even.map(|needed| rate.to_fraction() - needed),
            break_even_by_money: summary.break_even_by_money,
        })
    }

    /// Half the width of the Wilson interval.
    pub fn uncertainty(&self) -> f64 {
        (self.wilson[1] - self.wilson[0]) / 2.0
    }
}
