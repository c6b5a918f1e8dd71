//! Result of one path.

use serde::{Deserialize, Serialize};

/// Result of a path. Money is in the wallet's currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathRow {
    #[serde(rename = "trial")]
    pub path: u64,
    /// Always 0: a path runs once.
    pub rung: u32,
    pub trades: u64,
    pub final_balance: f64,
    pub max_drawdown: f64,
    /// Maximum drawdown in percent of the peak.
    ///
    /// The peak may differ from that of `max_drawdown`.
    pub max_drawdown_percent: f64,
    /// Whether the balance fell below the smallest stake of the run.
    pub is_ruined: bool,
}
