//! What the trades of a run are worth.

use serde::{Deserialize, Serialize};

/// What the trades of a run are worth. A journal holds one kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TradingMode {
    /// The venue's demo wallet.
    Demo,
    /// Real money.
    Real,
    /// Simulated trades on the venue's prices.
    Paper,
    /// The embedded venue.
    Sandbox,
}
