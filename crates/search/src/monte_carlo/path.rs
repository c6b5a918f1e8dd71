//! What one path came to.

use serde::{Deserialize, Serialize};

/// A path: money is in the wallet's currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathRow {
    /// Its number, from 0.
    #[serde(rename = "trial")]
    pub path: u64,
    /// Always 0: a path is run once.
    pub rung: u32,
    /// Settled trades.
    pub trades: u64,
    /// The balance after the last of them.
    pub final_balance: f64,
    /// The max. drawdown of the balance, by amount.
    pub max_drawdown: f64,
    /// The max. drawdown in percent of the peak, which may be another one.
    pub max_drawdown_percent: f64,
    /// Whether the balance came to cover no stake of those that the run placed.
    pub is_ruined: bool,
}
