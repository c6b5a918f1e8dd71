//! What the two APIs send and receive, field by field (contract 2 and 5).
//!
//! Reading is tolerant: numbers may arrive as strings, unknown fields and values are counted and passed over, a
//! field of the wrong type is counted and taken as absent unless the record means nothing without it. Writing
//! is exact: the same records serialize to the contract's names, so that a sandbox can serve them.

// How fields are read and written.
mod fields;
mod value;
mod wire;
// The trading token API.
mod failure;
mod page;
mod projection;
mod trade;
mod user;
mod wallet;
// The symbol price API.
mod price;

pub use failure::{ErrorEnvelope, ErrorEnvelopeData, PlainError};
pub(crate) use failure::{FailureBody, one_line};
pub(crate) use fields::{Record, Unreadable, read_all, read_list, read_record};
pub use page::{Page, TradePage, TradeQuery};
pub use price::{CandleQuery, CandleRow, CandleRows, LastPrice, LimitTime, PriceRecord};
pub use projection::{Acknowledgement, FullTrade, ListItem, ShortTrade};
pub use trade::TradeRecord;
pub use user::{CopyTradeParams, User, UserParams};
pub use value::{Tolerant, TradeResult, TradeStatus, WalletType};
pub use wallet::{Wallet, WalletEntry};
pub(crate) use wire::number;
