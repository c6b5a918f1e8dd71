//! How many variants of an idea were tried: the best of many is good by luck, too.
//!
//! A [`Family`] is an idea: a strategy, whatever it runs on. What counts as its variants is what can be chosen for the best: the
//! parameters with the content of files that they name, expiry, risk rules, stakes and the balance, the strategy's version, and the
//! candles by their content. What changes no trade makes no variant, since trades alone are judged: variants with the same trades on
//! the same candles are one, and one set of inputs whose trades changed is several, also where candles grew meanwhile. Candles that only grew at their end are the same
//! ones: a verdict may be looked at at any time.
//!
//! Each backtest, each trial of a sweep and each walk forward is noted in a [`VariantLedger`], once however often it is repeated, and a
//! report corrects for the number that the ledger holds ([`VariantCount`]). What was looked at is known there by the content of
//! candles ([`CandleSample`]), so that a hold-out is the same under any name.

mod chain;
mod contents;
mod count;
mod family;
mod ledger;
mod line;
mod look;
mod looks;
mod moved;
mod moves;
mod others;
mod rewritten;
mod runs;
mod sample;
mod steps;
mod trades;

pub use count::{FamilyCount, VariantCount};
pub use family::{Family, Variant, files_of};
pub use ledger::{Known, Note, Noted, VariantLedger};
pub use look::{Look, LookEnd, LookKind};
pub use looks::EarlierLooks;
pub use rewritten::RunUntil;
pub use sample::CandleSample;
pub use trades::{join_hashes, trades_hash, trades_hash_of_closed};
