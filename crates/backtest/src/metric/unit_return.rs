//! Return of a trade per unit of stake.

use candlewick_engine::{IntentRow, to_trade_outcome};
use candlewick_sdk::{Outcome, Payout};

/// Returns the return of a settled trade per unit of stake: the payout, -1, or 0 for a draw.
///
/// `None` for a trade that is cancelled or not settled. If the venue does not name the payout, the
/// profit is used.
pub fn unit_return(row: &IntentRow) -> Option<f64> {
    let outcome = row.outcome.filter(|outcome| *outcome != Outcome::Cancelled)?;
    let by_profit = || row.profit.minor() as f64 / row.approved.stake().minor() as f64;
    let payout = row.payout.map_or_else(by_profit, Payout::to_fraction);
    Some(to_trade_outcome(outcome).to_return(payout))
}
