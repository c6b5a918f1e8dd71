//! Trading modes.

use serde::{Deserialize, Serialize};

/// Kind of money that a run trades. A journal holds only one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TradingMode {
    Demo,
    Real,
    Paper,
    Sandbox,
}
