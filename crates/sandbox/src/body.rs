//! Request and response bodies of the sandbox, with the field names of the contract.
//!
//! The client does not use these types, so that tests reveal a misspelt field.

#![allow(dead_code)] // types that only document the API

use candlewick_sdk::Millis;
use chrono::{DateTime, SecondsFormat};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub(crate) fn format_iso8601(moment: Millis) -> String {
    let moment = DateTime::from_timestamp_millis(moment.get()).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A wallet of the authenticated user (contract 2.1).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // `type` is a keyword
pub(crate) struct Wallet {
    pub(crate) id: String,
    pub(crate) user_id: String,
    #[serde(rename = "type")]
    #[schema(value_type = WalletType)]
    pub(crate) wallet_type: &'static str,
    #[schema(minimum = 0)]
    pub(crate) balance: f64,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
}

/// The authenticated user (contract 2.6).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools)] // the contract's fields
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) tenant_id: String,
    pub(crate) kyc_level_id: String,
    pub(crate) two_factor_id: String,
    pub(crate) email: String,
    pub(crate) affiliate_id: String,
    pub(crate) name: String,
    pub(crate) nickname: String,
    pub(crate) influencer: bool,
    pub(crate) bot: bool,
    pub(crate) public_profile: bool,
    pub(crate) password_v2: bool,
    pub(crate) country: String,
    pub(crate) language: String,
    pub(crate) active: bool,
    pub(crate) banned: bool,
    pub(crate) deleted: bool,
    pub(crate) email_verified: bool,
    pub(crate) legacy: bool,
    pub(crate) phone_country_code: String,
    pub(crate) phone: String,
    pub(crate) params: UserParams,
    pub(crate) copy_trade_params: CopyTradeParams,
    #[schema(format = DateTime)]
    pub(crate) last_login_at: String,
    /// Flags of the user. Always empty, because the contract does not define the elements.
    pub(crate) flags: Vec<Value>,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

/// Account limits of the user (contract 2.6).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserParams {
    pub(crate) max_withdrawal_amount: f64,
    pub(crate) ignore_tenant_user_limitation: bool,
}

/// Copy-trading parameters of the user (contract 2.6).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CopyTradeParams {
    pub(crate) copy_commission_rate: f64,
    pub(crate) max_follower_amount_per_trade: f64,
    pub(crate) auto_approve_copy_followers: bool,
}

/// Body of `POST /token/trades/open` (contract 4.1, endpoint 4) in one of two shapes. The full shape
/// contains `amount`, the short shape `volume`. A body with both fields is rejected.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum OpenBody {
    Full(FullOrder),
    Short(ShortOrder),
}

/// Full order body (shape A). The response contains the full projection of the trade.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FullOrder {
    pub(crate) is_demo: IsDemo,
    pub(crate) close_type: CloseType,
    #[schema(value_type = ExpirationType, required = false)]
    pub(crate) expiration_type: Option<ExpirationType>,
    pub(crate) direction: Direction,
    pub(crate) symbol: Pair,
    pub(crate) amount: Stake,
}

/// Short order body (shape B). The sandbox setting `short_close_type` determines the duration.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShortOrder {
    pub(crate) symbol: Pair,
    /// Stake of the trade.
    pub(crate) volume: Stake,
    pub(crate) direction: Direction,
    #[schema(value_type = ExpirationType, required = false)]
    pub(crate) expiration_type: Option<ExpirationType>,
}

/// Share of one wallet in a trade (contract 2.2).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletEntry {
    pub(crate) id: String,
    #[serde(rename = "type")]
    #[schema(value_type = WalletType)]
    pub(crate) wallet_type: &'static str,
    #[schema(exclusive_minimum = 0)]
    pub(crate) amount: f64,
    #[schema(minimum = 0, maximum = 100)]
    pub(crate) trade_percent: f64,
    #[schema(minimum = 0, maximum = 100)]
    pub(crate) balance_percent: f64,
    /// Wallet balance before the stake was deducted (see `observed: money`).
    #[schema(minimum = 0)]
    pub(crate) balance: f64,
}

/// Full projection of a trade (contract 2.3), in responses to orders and in lists filtered by `userId`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools)] // the contract's fields
pub(crate) struct FullTrade {
    pub(crate) id: String,
    pub(crate) affiliate_id: String,
    pub(crate) is_demo: bool,
    pub(crate) is_influencer: bool,
    pub(crate) from_bot: bool,
    pub(crate) from_api_token: bool,
    pub(crate) tenant_id: String,
    pub(crate) wallets: Vec<WalletEntry>,
    #[schema(minimum = 0, maximum = 100)]
    pub(crate) total_wallets_balance_percent: f64,
    pub(crate) symbol_slot_name: String,
    pub(crate) extra_id: String,
    #[schema(value_type = Pair)]
    pub(crate) symbol: String,
    pub(crate) user_id: String,
    #[schema(minimum = 0)]
    pub(crate) payout: f64,
    #[schema(exclusive_minimum = 0)]
    pub(crate) amount: f64,
    pub(crate) from_copy: bool,
    /// Omitted in responses to orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) bot_synced: Option<bool>,
    #[schema(minimum = 0)]
    pub(crate) copy_commission_rate: f64,
    #[schema(minimum = 0)]
    pub(crate) copy_commission_amount: f64,
    /// Omitted in responses to orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TradeStatus, required = false)]
    pub(crate) status: Option<&'static str>,
    #[schema(value_type = Direction)]
    pub(crate) direction: &'static str,
    #[schema(value_type = ExpirationType)]
    pub(crate) expiration_type: &'static str,
    #[schema(value_type = CloseType)]
    pub(crate) close_type: String,
    #[schema(minimum = 0)]
    pub(crate) request_time: i64,
    #[schema(minimum = 0)]
    pub(crate) open_time: i64,
    /// Entry price, 0 until the price is known.
    #[schema(minimum = 0)]
    pub(crate) open_price: f64,
    /// Omitted in responses to orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub(crate) open_price_time: Option<i64>,
    pub(crate) pnl: f64,
    #[schema(minimum = 0)]
    pub(crate) close_price: f64,
    #[schema(minimum = 0)]
    pub(crate) close_time: i64,
    #[schema(minimum = 0)]
    pub(crate) close_price_time: i64,
    pub(crate) attempts_to_close: u32,
    #[schema(value_type = TradeResult)]
    pub(crate) result: &'static str,
    #[schema(minimum = 0)]
    pub(crate) tenant_fee_amount: f64,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

/// Row of a trade list that is not filtered by `userId` (contract 2.3).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)] // a full trade is not a list item
pub(crate) struct ListItem {
    pub(crate) id: String,
    #[schema(value_type = Pair)]
    pub(crate) symbol: String,
    pub(crate) user_id: String,
    #[schema(exclusive_minimum = 0)]
    pub(crate) amount: f64,
    #[schema(value_type = TradeStatus)]
    pub(crate) status: &'static str,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
}

/// Short projection of a trade (contract 2.3), with optional result fields (see `observed: results`).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShortTrade {
    pub(crate) id: String,
    pub(crate) user_id: String,
    pub(crate) tenant_id: String,
    #[schema(value_type = TradeStatus)]
    pub(crate) status: &'static str,
    #[schema(value_type = Pair)]
    pub(crate) symbol: String,
    #[schema(exclusive_minimum = 0)]
    pub(crate) amount: f64,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// Omitted unless the sandbox setting `rich_short` is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TradeResult, required = false)]
    pub(crate) result: Option<&'static str>,
    /// Omitted unless the sandbox setting `rich_short` is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) pnl: Option<f64>,
    /// Entry price, 0 until it is known. Omitted unless the sandbox setting `rich_short` is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub(crate) open_price: Option<f64>,
    /// Exit price, 0 until it is known. Omitted unless the sandbox setting `rich_short` is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub(crate) close_price: Option<f64>,
}

/// Response to a short order body (contract 2.4).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)] // a full trade is not an acknowledgement
pub(crate) struct Acknowledgement {
    pub(crate) trade_id: String,
    #[schema(value_type = TradeStatus)]
    pub(crate) status: &'static str,
}

/// Response to an order, depending on the shape of the order body.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum OpenAnswer {
    Trade(Box<FullTrade>),
    Acknowledged(Acknowledgement),
}

/// Response to `open-async` (see `observed: opening a trade`).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AsyncTrade {
    pub(crate) id: String,
    #[schema(minimum = 0)]
    pub(crate) open_time: i64,
    #[schema(minimum = 0)]
    pub(crate) close_time: i64,
    /// Trade status, always `PROCESSING`.
    #[schema(value_type = TradeStatus)]
    pub(crate) status: &'static str,
    /// Trade result, always `HOLD`.
    #[schema(value_type = TradeResult)]
    pub(crate) result: &'static str,
    /// Entry price, always 0. Once the trade has been processed, the trade list contains its entry price.
    #[schema(minimum = 0)]
    pub(crate) open_price: f64,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum TradeListing {
    Items(Vec<ListItem>),
    Full(Vec<FullTrade>),
}

/// Row of a trade list: a full trade if the list is filtered by `userId`, otherwise a list item.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum TradeRow {
    Item(ListItem),
    Full(Box<FullTrade>),
}

/// A page of trades (contract 2.5).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TradePage {
    #[schema(minimum = 1)]
    pub(crate) current_page: u64,
    #[schema(minimum = 1)]
    pub(crate) per_page: u64,
    #[schema(minimum = 1)]
    pub(crate) last_page: u64,
    /// Number of the next page, null on the last page.
    #[schema(minimum = 1)]
    pub(crate) next_page: Option<u64>,
    /// Number of the previous page, null on the first page.
    #[schema(minimum = 1)]
    pub(crate) prev_page: Option<u64>,
    #[schema(minimum = 1)]
    pub(crate) pages: u64,
    /// Total number of rows on all pages.
    pub(crate) total: u64,
    /// Number of rows on this page.
    pub(crate) count: u64,
    #[schema(value_type = Vec<TradeRow>)]
    pub(crate) data: TradeListing,
}

/// Prices and volume of one second (contract 2.7).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PriceRecord {
    pub(crate) id: String,
    #[schema(value_type = PriceSlot)]
    pub(crate) slot: String,
    #[schema(value_type = Pair)]
    pub(crate) pair: String,
    #[serde(rename = "type")]
    #[schema(value_type = AssetType)]
    pub(crate) asset_type: String,
    /// Start of the second, in milliseconds since 1970.
    pub(crate) time: i64,
    /// Traded volume, 0 if unavailable.
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

/// Candle of a requested interval (contract 2.8).
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
    /// Open time of the candle, in milliseconds since 1970.
    pub(crate) time: i64,
}

/// Error body of the trade and user endpoints (contract 5, rule 2).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorEnvelope {
    #[schema(minimum = 400, maximum = 599)]
    pub(crate) status_code: u16,
    #[schema(pattern = "^error$")]
    pub(crate) status: &'static str,
    /// Time of the error in ISO 8601. For a rejected order, the arrival time of the order.
    #[schema(format = DateTime)]
    pub(crate) timestamp: String,
    /// Path of the request.
    pub(crate) path: String,
    pub(crate) data: ErrorDetail,
}

/// Description of an error (contract 5, rule 2).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorDetail {
    pub(crate) message: String,
    pub(crate) error: &'static str,
    #[schema(minimum = 400, maximum = 599)]
    pub(crate) status_code: u16,
}

/// Error body of the wallet endpoint and of the symbol price API (contract 5, rule 3).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlainError {
    #[schema(minimum = 400, maximum = 599)]
    pub(crate) status_code: u16,
    pub(crate) message: String,
}

/// Name of a trading pair.
#[derive(ToSchema)]
pub(crate) struct Pair(String);

/// Candle interval, such as `1m`.
#[derive(ToSchema)]
pub(crate) struct CandleInterval(String);

/// Duration of a trade as `mm:ss`, or as `h:mm:ss` for one hour or more.
#[derive(ToSchema)]
pub(crate) struct CloseType(String);

/// Stake of a trade. Must not have more decimal places than wallet amounts.
#[derive(ToSchema)]
pub(crate) struct Stake(f64);

/// Whether to trade with the demo wallet. Each sandbox accepts only one of the two values.
#[derive(ToSchema)]
pub(crate) struct IsDemo(bool);

/// Name of a price slot (a price source of the venue).
#[derive(ToSchema)]
#[schema(as = Slot, rename_all = "lowercase")]
pub(crate) enum PriceSlot {
    Default,
}

/// Asset type of a pair.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum AssetType {
    Crypto,
    Forex,
    Otc,
}

/// Direction of a trade.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum Direction {
    Buy,
    Sell,
}

/// Time from which the duration of a trade is measured. The default is `TIME_FIXED`.
#[derive(ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ExpirationType {
    TimeFixed,
    CandleClose,
    NextCandle,
}

/// Kind of money in a wallet.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum WalletType {
    Demo,
    Real,
}

/// Status of a trade (contract 3, `observed: values`). `PROCESSING` until the order reaches the venue.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum TradeStatus {
    Processing,
    Open,
    Completed,
    Cancelled,
}

/// Result of a trade (contract 3, `observed: values`). `HOLD` until the order reaches the venue.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc_with_milliseconds() {
        assert_eq!(format_iso8601(Millis::new(1_700_000_000_007)), "2023-11-14T22:13:20.007Z");
        assert_eq!(format_iso8601(Millis::MAX), "1970-01-01T00:00:00.000Z");
    }
}
