//! Combinations of strategies: first signal, vote, filters, inversion and gate.
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
//! # Semantics
//! The *view* of a part is the direction of its latest signal within the last `within` candles, including the
//! current candle. A combination signals only on candles on which a part signals:
//! - `first_of`: the first part that signals decides.
//! - `vote`: a direction needs the quorum, more weight than the opposite direction, and a part that signals it on
//!   the current candle. The first such part provides reason and expiry.
//!
//! Then every filter must pass the direction, and `invert` reverses it. A gate makes the trade real or virtual.

mod entry;
mod explained;
mod gate;
mod reworded;
mod strategy;
mod written;
mod written_gate;

pub(crate) use entry::nested_rules;
pub use entry::{NAME, VERSION, entry};
pub use gate::{GateReplay, ReplayedSignal, replay_gate};
