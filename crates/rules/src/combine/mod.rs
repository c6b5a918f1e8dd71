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
//! Each part is shown every candle of the bot. Its *view* at a candle is the direction of its last signal, where that was given at one of
//! its last `within` candles, the present one counted; else it has none. A combination signals only at a candle at which a part signals itself:
//! - `first_of`: the first part, in the order in which they are written, that signals decides.
//! - `vote`: a direction has the weight of the parts whose view it is. It is chosen where it has the quorum or more, and more weight than the
//!   other, and a part signals in it at this very candle; the first such part gives reason and expiry.
//!   The reason says how many voted so, `2 of 3: `, and `turned round: ` where it was given for the other direction.
//!
//! Each filter must then let the direction pass, and `invert` turns it round. A gate at last lets it be traded, or makes a virtual trade of it.

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
