//! Response bodies of the sandbox, field by field as the contract names them.
//!
//! Unlike the client's tolerant models, these are strict and complete. They are deliberately
//! separate, so that a misspelt field cannot go unnoticed on both sides.

mod account;
mod failure;
mod price;
mod trade;
mod value;

pub(crate) use account::{CopyTradeParams, User, UserParams, Wallet};
pub(crate) use failure::{ErrorDetail, ErrorEnvelope, PlainError};
pub(crate) use price::{AggregatedCandle, PriceRecord};
pub(crate) use trade::{
    Acknowledgement, AsyncTrade, FullTrade, ListItem, OpenAnswer, OpenBody, ShortTrade, TradeListing,
    TradePage, WalletEntry,
};
pub(crate) use value::{AssetType, CandleInterval, Pair, Slot};

use candlewick_sdk::Millis;
use chrono::{DateTime, SecondsFormat};

pub(crate) fn iso8601(moment: Millis) -> String {
    let moment = DateTime::from_timestamp_millis(moment.get()).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc_with_milliseconds() {
        assert_eq!(iso8601(Millis::new(1_700_000_000_007)), "2023-11-14T22:13:20.007Z");
        assert_eq!(iso8601(Millis::MAX), "1970-01-01T00:00:00.000Z");
    }
}
