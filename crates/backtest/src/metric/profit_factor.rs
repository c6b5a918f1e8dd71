//! Profit per unit of loss.

use super::unit_return;
use candlewick_engine::IntentRow;
use serde::Serialize;

/// Profits over losses; 1 is break-even, `None` without a loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProfitFactor {
    /// Based on returns per unit of stake, with equal weight per trade.
    pub of_returns: Option<f64>,
    /// Based on money, weighted by the actual stakes.
    pub of_money: Option<f64>,
}

impl ProfitFactor {
    pub fn of(settled: &[&IntentRow]) -> Self {
        let returns: Vec<f64> = settled.iter().filter_map(|row| unit_return(row)).collect();
        let profits: Vec<f64> = settled.iter().map(|row| row.profit.minor() as f64).collect();
        let factor = |results: &[f64]| candlewick_statistics::profit_factor(results).ok().flatten();
        Self { of_returns: factor(&returns), of_money: factor(&profits) }
    }
}
