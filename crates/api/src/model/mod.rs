//! Requests and answers of the two APIs, field by field (contract 2 and 5).
//!
//! Parsing is tolerant: numbers may be strings, unknown fields and values are counted and ignored.
//! A field of the wrong type is counted and treated as absent, unless the record is meaningless
//! without it.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "all fields of the contract are read, so that the others count")
)]

// How fields are read.
mod fields;
mod json;
mod value;
// The trading token API.
mod failure;
mod page;
mod trade;
mod user;
mod wallet;
// The symbol price API.
mod price;

pub(crate) use failure::{FailureBody, one_line};
pub(crate) use fields::{Record, Unreadable, read_all, read_list, read_record};
pub use json::parse_json;
pub(crate) use page::{TradePage, TradeQuery};
pub(crate) use price::{CandleQuery, CandleRow, CandleRows, LastPrice, LimitTime, PriceRecord};
pub(crate) use trade::TradeRecord;
pub(crate) use user::User;
pub(crate) use value::{Tolerant, TradeResult, TradeStatus, WalletType};
pub(crate) use wallet::{Wallet, WalletEntry};
