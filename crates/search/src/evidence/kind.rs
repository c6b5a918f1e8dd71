//! Kind of evidence.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

/// Kind of evidence of a report's trades. It determines whether they can show an edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EvidenceKind {
    /// Trades on synthetic candles, which say nothing about a market.
    Practice,
    /// Trades on explored candles.
    Exploratory {
        /// The sealed day; `None` if sealing is off, or if the trades come from a file.
        until: Option<NaiveDate>,
        /// Number of exploring runs so far, including this one.
        run: Option<u64>,
    },
    /// Trades of a confirmation.
    Confirmed {
        /// Number of the test in its ledger, from 1.
        test: usize,
        /// First sealed day of the test.
        from: NaiveDate,
        /// First day after the test.
        until: NaiveDate,
    },
    /// Trades of a live, demo or paper run.
    Live {
        /// Share of the ledger's error rate for live trading that the journal has, from 0 to 1.
        weight: f64,
    },
}

impl EvidenceKind {
    /// The sealed day of exploratory trades.
    pub const fn sealed_day(&self) -> Option<NaiveDate> {
        match self {
            Self::Exploratory { until, .. } => *until,
            Self::Practice | Self::Confirmed { .. } | Self::Live { .. } => None,
        }
    }
}

impl Default for EvidenceKind {
    fn default() -> Self {
        Self::Exploratory { until: None, run: None }
    }
}
