//! Average result of a trade.

use super::unit_return;
use candlewick_engine::IntentRow;
use candlewick_sdk::MoneyScale;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expectancy {
    /// Mean return per unit of stake, with equal weight per trade. Edges are judged by it.
    pub return_per_unit: f64,
    /// Standard error if trades are independent; `None` for a single trade.
    pub standard_error: Option<f64>,
    /// Mean profit in money, weighted by the actual stakes.
    pub profit_per_trade: f64,
}

impl Expectancy {
    /// Ignores cancelled trades; `None` if no trade is left.
    pub fn of(settled: &[&IntentRow], scale: MoneyScale) -> Option<Self> {
        let returns: Vec<f64> = settled.iter().filter_map(|row| unit_return(row)).collect();
        let return_per_unit = match returns.len() {
            0 => return None,
            count => returns.iter().sum::<f64>() / count as f64,
        };
        let profit = scale.to_f64(settled.iter().map(|row| row.profit).sum());
        Some(Self {
            return_per_unit,
            standard_error: candlewick_statistics::expectancy(&returns)
                .ok()
                .map(|found| found.standard_error),
            profit_per_trade: profit / returns.len() as f64,
        })
    }
}
