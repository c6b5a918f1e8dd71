//! Reading of journals: runs, intents, money and orders in doubt.
//!
//! [`JournalContents`] reads a journal to its present end and restores what the next start would
//! find. [`explain`] follows one trade or one moment through it. [`parity`] compares it with the
//! strategies of this program. This crate only reads: it never writes a journal and never sends a
//! request to a venue.

mod candles;
mod contents;
mod count;
mod delays;
mod error;
pub mod explain;
mod fold;
mod intervals;
mod limit;
mod lines;
mod moment;
pub mod parity;
mod part;
mod refusal;
mod run;
mod table;
mod trade;
mod trade_list;
mod trade_page;
mod trading;
mod verdict;

pub use candles::recorded_candles;
pub use contents::{Folded, JournalContents, LimitReached, StrangeTrade};
pub use count::counted;
pub use delays::{DelayLine, Delays, Spread};
pub use error::RecordsError;
pub use fold::SessionFold;
pub use intervals::EdgeIntervals;
pub use limit::LimitLine;
pub use moment::{delta, describe_halt, time_text, utc};
pub use part::RecordedRuns;
pub use refusal::read_refusal;
pub use run::{BETWEEN_RUNS, RecordedRun};
pub use table::{Table, fit_tables_to, table};
pub use trade::{IntentOrigin, TradeLine};
pub use trade_list::{TradeFilter, TradeList};
pub use trade_page::TradePage;
pub use trading::TradingMode;
pub use verdict::{
    NO_LONGER_HELD, VerdictLine, no_longer_held_words, threshold, threshold_words, verdict_name,
    verdict_words, withheld_words,
};
