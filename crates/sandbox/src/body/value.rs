//! Shared values of bodies and parameters in the `OpenAPI` document.
//!
//! Values of a particular sandbox (pairs, intervals, codes, amounts) are added by
//! `server/document.rs`.

#![allow(dead_code)] // they only document

use utoipa::ToSchema;

/// The name of a trading pair.
#[derive(ToSchema)]
pub(crate) struct Pair(String);

/// An interval of candles.
#[derive(ToSchema)]
pub(crate) struct CandleInterval(String);

/// A duration code: `mm:ss`, or `h:mm:ss` from one hour.
#[derive(ToSchema)]
pub(crate) struct CloseType(String);

/// Money at stake, with no more decimals than the wallet has.
#[derive(ToSchema)]
pub(crate) struct Stake(f64);

/// Which wallet is to be traded; one sandbox takes trades of one.
#[derive(ToSchema)]
pub(crate) struct IsDemo(bool);

/// Where prices stand.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Slot {
    Default,
}

/// What kind of thing a pair trades.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum AssetType {
    Crypto,
    Forex,
    Otc,
}

/// Which way the price is to go.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum Direction {
    Buy,
    Sell,
}

/// What the duration is counted from; `TIME_FIXED` where none is stated.
#[derive(ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ExpirationType {
    TimeFixed,
    CandleClose,
    NextCandle,
}

/// Whose money a wallet holds.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum WalletType {
    Demo,
    Real,
}

/// How far a trade is (contract 3, `observed: values`): `PROCESSING` until the order has arrived.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum TradeStatus {
    Processing,
    Open,
    Completed,
    Cancelled,
}

/// What came of a trade (contract 3, `observed: values`): `HOLD` until the order has arrived.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum TradeResult {
    Hold,
    Pending,
    Won,
    Lost,
    Draw,
    Cancelled,
}
