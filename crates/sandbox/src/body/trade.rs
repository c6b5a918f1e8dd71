//! Trade projections, list pages and the body of an open (contract 2.2 to 2.5, 4.1).

use super::value::{
    CloseType, Direction, ExpirationType, IsDemo, Pair, Stake, TradeResult, TradeStatus, WalletType,
};
use serde::Serialize;
use utoipa::ToSchema;

/// What `POST /token/trades/open` takes (contract 4.1, endpoint 4): one of two shapes, told apart by `amount` and
/// `volume`. A body with both is refused.
///
/// Only documents the body; reading it names each reason of a rejection.
#[derive(ToSchema)]
#[serde(untagged)]
#[allow(dead_code)] // documents
pub(crate) enum OpenBody {
    Full(FullOrder),
    Short(ShortOrder),
}

/// Shape A: answered by the full projection.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)] // documents
pub(crate) struct FullOrder {
    pub(crate) is_demo: IsDemo,
    pub(crate) close_type: CloseType,
    #[schema(value_type = ExpirationType, required = false)]
    pub(crate) expiration_type: Option<ExpirationType>,
    pub(crate) direction: Direction,
    pub(crate) symbol: Pair,
    pub(crate) amount: Stake,
}

/// Shape B: answered by an acknowledgement. Its duration is a setting of the sandbox (`short_close_type`).
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)] // documents
pub(crate) struct ShortOrder {
    pub(crate) symbol: Pair,
    /// The amount.
    pub(crate) volume: Stake,
    pub(crate) direction: Direction,
    #[schema(value_type = ExpirationType, required = false)]
    pub(crate) expiration_type: Option<ExpirationType>,
}

/// A wallet's part in a trade (contract 2.2).
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
    /// Before the stake was taken (`observed: money`).
    #[schema(minimum = 0)]
    pub(crate) balance: f64,
}

/// The full projection (contract 2.3): the open response, and the rows of a list with `userId`.
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
    /// In list rows only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) bot_synced: Option<bool>,
    #[schema(minimum = 0)]
    pub(crate) copy_commission_rate: f64,
    #[schema(minimum = 0)]
    pub(crate) copy_commission_amount: f64,
    /// In list rows only.
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
    /// 0 until it is known.
    #[schema(minimum = 0)]
    pub(crate) open_price: f64,
    /// In list rows only.
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

/// The row of a list without `userId` (contract 2.3).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)] // a full trade is no list item
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

/// The short projection (contract 2.3), and what get-by-id often adds to it (`observed: results`).
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
    /// With `rich_short`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TradeResult, required = false)]
    pub(crate) result: Option<&'static str>,
    /// With `rich_short`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) pnl: Option<f64>,
    /// With `rich_short`; 0 until it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub(crate) open_price: Option<f64>,
    /// With `rich_short`; 0 until it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub(crate) close_price: Option<f64>,
}

/// The answer to shape B (contract 2.4).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)] // a full trade is no acknowledgement
pub(crate) struct Acknowledgement {
    pub(crate) trade_id: String,
    #[schema(value_type = TradeStatus)]
    pub(crate) status: &'static str,
}

/// The answer to an open: shape A's or shape B's.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum OpenAnswer {
    Trade(Box<FullTrade>),
    Acknowledged(Acknowledgement),
}

/// The answer of `open-async` (`observed: opening a trade`).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AsyncTrade {
    pub(crate) id: String,
    #[schema(minimum = 0)]
    pub(crate) open_time: i64,
    #[schema(minimum = 0)]
    pub(crate) close_time: i64,
    /// Always `PROCESSING`.
    #[schema(value_type = TradeStatus)]
    pub(crate) status: &'static str,
    /// Always `HOLD`.
    #[schema(value_type = TradeResult)]
    pub(crate) result: &'static str,
    /// 0: the list has it once the trade is processed.
    #[schema(minimum = 0)]
    pub(crate) open_price: f64,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum TradeListing {
    Items(Vec<ListItem>),
    Full(Vec<FullTrade>),
}

/// A row: full in a list with `userId`, else a list item. (An empty list is no row of either kind, so that the document
/// is not ambiguous about it.)
#[derive(ToSchema)]
#[serde(untagged)]
#[allow(dead_code)] // documents
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
    /// Null on the last page.
    #[schema(minimum = 1)]
    pub(crate) next_page: Option<u64>,
    /// Null on the first page.
    #[schema(minimum = 1)]
    pub(crate) prev_page: Option<u64>,
    #[schema(minimum = 1)]
    pub(crate) pages: u64,
    /// All rows.
    pub(crate) total: u64,
    /// Rows on this page.
    pub(crate) count: u64,
    #[schema(value_type = Vec<TradeRow>)]
    pub(crate) data: TradeListing,
}
