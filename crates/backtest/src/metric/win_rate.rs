//! Win rate and break-even rate.

use crate::Summary;
use candlewick_statistics::{WinRate, clopper_pearson_interval, wilson_interval};
use serde::Serialize;

const CONFIDENCE: f64 = 0.95;

/// The win rate and its break-even. Both intervals assume independent trades and a single look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WinRates {
    /// `won / (won + lost)`.
    pub rate: f64,
    pub assumes: &'static str,
    pub wilson: [f64; 2],
    /// 95 % Clopper-Pearson interval, which is conservative: it never covers less than stated.
    pub clopper_pearson: [f64; 2],
    /// Win rate at which the trades break even with equal stakes; `None` if a payout is unknown.
    pub break_even: Option<f64>,
    /// Rate minus break-even, as a fraction: 0.01 is one percentage point.
    pub above_break_even: Option<f64>,
    /// Win rate at which the trades break even with their actual stakes. Not comparable to `rate`.
    pub break_even_by_money: Option<f64>,
}

impl WinRates {
    pub const ASSUMES: &str = "independent trades, looked at once";

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

    /// Returns half the width of the Wilson interval.
    pub fn uncertainty(&self) -> f64 {
        (self.wilson[1] - self.wilson[0]) / 2.0
    }
}
