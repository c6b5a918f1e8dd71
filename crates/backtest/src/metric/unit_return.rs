//! What a trade returned for each unit that was staked.

use candlewick_engine::{IntentRow, to_trade_outcome};
use candlewick_sdk::{Outcome, Payout};

/// The return of a settled trade per unit of its stake: what it pays, -1, or 0 for a draw; nothing for a trade that was
/// called off or has not settled. A venue that does not name the payout is taken at its profit.
pub fn unit_return(row: &IntentRow) -> Option<f64> {
    let outcome = row.outcome.filter(|outcome| *outcome != Outcome::Cancelled)?;
    let by_profit = || row.profit.minor() as f64 / row.approved.stake().minor() as f64;
    let payout = row.payout.map_or_else(by_profit, Payout::to_fraction);
    Some(to_trade_outcome(outcome).to_return(payout))
}
