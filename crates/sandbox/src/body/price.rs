//! Price records and candles (contract 2.7, 2.8).

use serde::Serialize;
use utoipa::ToSchema;

/// One second of prices (contract 2.7).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PriceRecord {
    pub(crate) id: String,
    pub(crate) slot: String,
    pub(crate) pair: String,
    /// `crypto`, `forex` or `otc`.
    #[serde(rename = "type")]
    pub(crate) asset_type: String,
    /// The start of the second, in ms since the epoch.
    pub(crate) time: i64,
    /// 0 if unavailable.
    pub(crate) volume: f64,
    pub(crate) open_price: f64,
    pub(crate) close_price: f64,
    pub(crate) high_price: f64,
    pub(crate) low_price: f64,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
}

/// A candle (contract 2.8).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AggregatedCandle {
    pub(crate) volume: f64,
    pub(crate) open_price: f64,
    pub(crate) close_price: f64,
    pub(crate) high_price: f64,
    pub(crate) low_price: f64,
    /// The open time, in ms since the epoch.
    pub(crate) time: i64,
}
