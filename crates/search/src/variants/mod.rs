//! Counts of the variants tried per strategy. The counts matter because the best of many variants looks good by luck.
//!
//! A variant of a [`Family`] is one combination of everything that can be optimized: parameters, contents of files
//! that they name, expiry, risk rules, stakes, balance, strategy version and candles. Variants with the same trades on
//! the same candles count as one. Each run is recorded once in a [`VariantLedger`]. Reports adjust results for the
//! number of variants ([`VariantCount`]). Candles are identified by content ([`CandleSample`]), not by name.

mod chain;
mod contents;
mod count;
mod family;
mod ledger;
mod line;
mod looks;
mod moved;
mod moves;
mod others;
mod rewritten;
mod sample;
mod steps;

pub use count::{FamilyCount, VariantCount};
pub use family::{Family, Variant, hash_named_files};
pub use ledger::{KnownVariant, LedgerSummary, VariantLedger, VariantNote};
pub use looks::{EarlierLooks, Look, LookEnd, LookKind};
pub use rewritten::{RerunFn, join_hashes, trades_hash, trades_hash_of_closed};
pub use sample::CandleSample;

#[cfg(test)]
mod tests;
