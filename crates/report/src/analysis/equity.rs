//! Equity curve with a limited number of points.

use candlewick_engine::IntentRow;
use candlewick_sdk::{Millis, Money, MoneyScale};
use serde::Serialize;
use std::ops::Range;

pub const MAX_EQUITY_POINTS: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EquityPoint {
    pub at: Millis,
    pub balance: f64,
}

impl EquityPoint {
    /// Returns the start and the settled trades. With too many trades, keeps every n-th and the
    /// last.
    pub(super) fn curve(
        settled: &[&IntentRow],
        balance: Money,
        scale: MoneyScale,
        span: &Range<Millis>,
    ) -> Vec<Self> {
        let start = Self { at: span.start, balance: scale.to_f64(balance) };
        let step = settled.len().div_ceil(MAX_EQUITY_POINTS - 1).max(1);
        let mut now = balance;
        let mut curve = vec![start];
        for (number, row) in (1..).zip(settled) {
            now += row.profit;
            if number % step == 0 || number == settled.len() {
                let at = row.settled_at.unwrap_or(span.end);
                curve.push(Self { at, balance: scale.to_f64(now) });
            }
        }
        curve
    }
}
