//! Strategies made of others: the first of several that signals, a vote, filters, the opposite of a strategy.
//!
//! ```
//! use candlewick_rules::combine;
//! use candlewick_sdk::{BotContext, Registry};
//! use serde_json::json;
//!
//! let registry = Registry::default().with_entry(candlewick_rules::entry()).unwrap();
//! let combine = combine::entry(registry);
//! let params = json!({
//!     "vote": [
//!         { "name": "dip", "strategy": "rules", "params": { "buy": "rsi(14) < 30" } },
//!         { "name": "band", "strategy": "rules", "params": { "buy": "close < bollinger(20, 2).lower" } },
//!     ],
//!     "within": 3,
//!     "filters": [{ "trend": 200 }],
//! });
//! let entry = combine.for_params(&params).unwrap();
//! assert!(entry.parameters.iter().any(|parameter| parameter.name == "trend.period"));
//! ```
//!
//! # What it is
//! The *view* of a part at a candle is the direction of its last signal, if that was given at one of its last
//! `within` candles, the present one counted. A combination signals only where a part signals itself:
//! - `first_of`: the first part that signals decides.
//! - `vote`: a direction with the quorum, more weight than the other and a part that signals in it now is chosen;
//!   the first such part gives reason and expiry.
//!
//! Each filter must then let the direction pass, and `invert` turns it round. A gate at last lets it be traded, or
//! makes a virtual trade of it.

mod entry;
mod explained;
mod gate;
mod reworded;
mod strategy;
mod written;
mod written_gate;

pub(crate) use entry::rules_inside;
pub use entry::{NAME, VERSION, entry};
pub use gate::{FollowedGate, FollowedSignal, follow_gate};
