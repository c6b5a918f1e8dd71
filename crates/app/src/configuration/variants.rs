//! The `[variants]` section: the ledger that counts tried variants.

use candlewick_search::variants::VariantLedger;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The `[variants]` section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VariantSettings {
    /// The file in which `backtest`, `sweep` and `walk-forward` note every variant that they try, so that reports correct for their
    /// number; empty: none are counted.
    pub ledger: PathBuf,
}

impl Default for VariantSettings {
    fn default() -> Self {
        Self { ledger: PathBuf::from("candlewick.variants.jsonl") }
    }
}

impl VariantSettings {
    pub fn ledger(&self, state: &Path) -> Option<VariantLedger> {
        let is_on = !self.ledger.as_os_str().is_empty();
        is_on.then(|| VariantLedger::new(&self.ledger).with_receipt_in(state))
    }
}
