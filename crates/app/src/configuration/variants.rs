//! The `[variants]` section: where tried variants are counted.

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
    /// The ledger, unless variants are not counted; in the project's folder of what must not be forgotten lies its receipt.
    pub fn ledger(&self, state: &Path) -> Option<VariantLedger> {
        let is_on = !self.ledger.as_os_str().is_empty();
        is_on.then(|| VariantLedger::new(&self.ledger).with_receipt_in(state))
    }
}
