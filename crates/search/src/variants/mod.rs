//! How many variants of an idea were tried: the best of many is good by luck, too.
//!
//! A [`Family`] is an idea: a strategy on some symbols at an interval. Its variants differ in parameters, expiry, risk rules
//! and the strategy's version; stakes and the venue's settings make none, since neither changes what is bet on. Each
//! backtest and each trial of a sweep is noted in a [`VariantLedger`], once however often it is repeated, and a report corrects
//! for the number that the ledger holds ([`VariantCount`]).

mod count;
mod family;
mod ledger;

pub use count::{FamilyCount, VariantCount};
pub use family::{Family, Variant};
pub use ledger::{Known, Note, VariantLedger};
