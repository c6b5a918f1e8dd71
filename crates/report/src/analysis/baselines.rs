//! Baselines: the returns of the same trades with other directions.

use candlewick_engine::{IntentRow, SymbolId};
use candlewick_sdk::{Direction, Outcome};
use candlewick_statistics::{DirectedTrade, TradeSide, direction_baseline};
use serde::Serialize;
use std::collections::BTreeMap;

/// Work budget: trades times runs.
const SHIFTED_TRADES: usize = 2_000_000;
/// Fewer runs give no useful p-value; more do not improve it.
const RUNS: std::ops::RangeInclusive<usize> = 99..=999;
/// Fixed, so that the same trades have the same baselines.
const SEED: u64 = 1;

/// Mean returns per unit of stake of the same trades with other directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baselines {
    pub own: f64,
    /// Average over circular shifts of the directions within each symbol.
    pub shifted: f64,
    pub always_buy: f64,
    pub always_sell: f64,
    /// Probability of the actual mean or more with shifted directions; `None` if one direction has
    /// more than 95 % of the trades.
    pub p_value: Option<f64>,
    pub runs: u32,
}

impl Baselines {
    pub(super) fn of(settled: &[&IntentRow]) -> Option<Self> {
        let mut by_symbol: BTreeMap<SymbolId, Vec<DirectedTrade>> = BTreeMap::new();
        for row in settled {
            if let Some(trade) = directed(row) {
                by_symbol.entry(row.approved.symbol()).or_default().push(trade);
            }
        }
        let by_symbol: Vec<Vec<DirectedTrade>> = by_symbol.into_values().collect();
        let count: usize = by_symbol.iter().map(Vec::len).sum();
        let runs = (SHIFTED_TRADES / count.max(1)).clamp(*RUNS.start(), *RUNS.end()) as u32;
        let found = direction_baseline(&by_symbol, runs, SEED).ok()?;
        Some(Self {
            own: found.actual,
            shifted: found.shifted,
            always_buy: found.always_buy,
            always_sell: found.always_sell,
            p_value: found.p_value,
            runs,
        })
    }
}

/// Returns the results of a trade in both directions. With equal prices that count as a loss, both
/// directions lose.
fn directed(row: &IntentRow) -> Option<DirectedTrade> {
    let payout = row.payout?.to_fraction();
    let (own, other) = match row.outcome? {
        Outcome::Won => (payout, -1.0),
        Outcome::Lost if row.open_price == row.close_price => (-1.0, -1.0),
        Outcome::Lost => (-1.0, payout),
        Outcome::Draw => (0.0, 0.0),
        Outcome::Cancelled => return None,
    };
    Some(match row.approved.direction() {
        Direction::Buy => DirectedTrade { side: TradeSide::Buy, buy_return: own, sell_return: other },
        Direction::Sell => DirectedTrade { side: TradeSide::Sell, buy_return: other, sell_return: own },
    })
}
