//! What a trade earns on average.

use super::unit_return;
use candlewick_engine::IntentRow;
use candlewick_sdk::MoneyScale;
use serde::Serialize;

/// The mean result of a trade, per unit of stake and in money.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expectancy {
    /// The mean return per unit of stake, every trade counting the same: what an edge is judged by.
    pub return_per_unit: f64,
    /// Its standard error, if trades are independent; none for a single trade.
    pub standard_error: Option<f64>,
    /// The mean profit of a trade in money, stakes as they were.
    pub profit_per_trade: f64,
}

impl Expectancy {
    /// Of settled trades, those that were called off left out; nothing without one.
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
