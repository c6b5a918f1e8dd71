//! Price records and candles (contract 2.7, 2.8).

use super::value::{AssetType, Pair, Slot};
use serde::Serialize;
use utoipa::ToSchema;

/// One second of prices (contract 2.7).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PriceRecord {
    pub(crate) id: String,
    #[schema(value_type = Slot)]
    pub(crate) slot: String,
    #[schema(value_type = Pair)]
    pub(crate) pair: String,
    #[serde(rename = "type")]
    #[schema(value_type = AssetType)]
    pub(crate) asset_type: String,
    /// The start of the second, in ms since the epoch.
    pub(crate) time: i64,
    /// 0 if unavailable.
    #[schema(minimum = 0)]
    pub(crate) volume: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) open_price: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) close_price: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) high_price: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) low_price: f64,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

/// A candle (contract 2.8).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AggregatedCandle {
    #[schema(minimum = 0)]
    pub(crate) volume: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) open_price: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) close_price: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) high_price: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) low_price: f64,
    /// The open time, in ms since the epoch.
    pub(crate) time: i64,
}
