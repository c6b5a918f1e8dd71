//! A trade in each of its projections, the page they come in, and the body that opens one (contract 2.2 to 2.5, 4.1).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What `POST /token/trades/open` takes: shape A, or shape B with `volume` (contract 4.1, endpoint 4).
///
/// Only documents the body; reading it names each reason of a rejection.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)] // documents
pub(crate) struct OpenBody {
    /// Shape A; the sandbox has no real money.
    pub(crate) is_demo: Option<bool>,
    /// Shape A: a duration code, `mm:ss` or `h:mm:ss`.
    pub(crate) close_type: Option<String>,
    /// `TIME_FIXED` (when omitted), `CANDLE_CLOSE` or `NEXT_CANDLE`.
    pub(crate) expiration_type: Option<String>,
    /// `BUY` or `SELL`.
    pub(crate) direction: String,
    pub(crate) symbol: String,
    /// Shape A.
    pub(crate) amount: Option<f64>,
    /// Shape B: the amount; the answer is an acknowledgement.
    pub(crate) volume: Option<f64>,
}

/// A wallet's part in a trade (contract 2.2).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletEntry {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) wallet_type: &'static str,
    pub(crate) amount: f64,
    pub(crate) trade_percent: f64,
    pub(crate) balance_percent: f64,
    /// Before the stake was taken (`observed: money`).
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
    pub(crate) total_wallets_balance_percent: f64,
    pub(crate) symbol_slot_name: String,
    pub(crate) extra_id: String,
    pub(crate) symbol: String,
    pub(crate) user_id: String,
    pub(crate) payout: f64,
    pub(crate) amount: f64,
    pub(crate) from_copy: bool,
    /// In list rows only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bot_synced: Option<bool>,
    pub(crate) copy_commission_rate: f64,
    pub(crate) copy_commission_amount: f64,
    /// In list rows only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<&'static str>,
    pub(crate) direction: &'static str,
    pub(crate) expiration_type: &'static str,
    pub(crate) close_type: String,
    pub(crate) request_time: i64,
    pub(crate) open_time: i64,
    /// 0 until it is known.
    pub(crate) open_price: f64,
    /// In list rows only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_price_time: Option<i64>,
    pub(crate) pnl: f64,
    pub(crate) close_price: f64,
    pub(crate) close_time: i64,
    pub(crate) close_price_time: i64,
    pub(crate) attempts_to_close: u32,
    pub(crate) result: &'static str,
    pub(crate) tenant_fee_amount: f64,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
}

/// The row of a list without `userId` (contract 2.3).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListItem {
    pub(crate) id: String,
    pub(crate) symbol: String,
    pub(crate) user_id: String,
    pub(crate) amount: f64,
    pub(crate) status: &'static str,
    pub(crate) created_at: String,
}

/// The short projection (contract 2.3), and what get-by-id often adds to it (`observed: results`).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShortTrade {
    pub(crate) id: String,
    pub(crate) user_id: String,
    pub(crate) tenant_id: String,
    pub(crate) status: &'static str,
    pub(crate) symbol: String,
    pub(crate) amount: f64,
    pub(crate) created_at: String,
    /// With `rich_short`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<&'static str>,
    /// With `rich_short`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pnl: Option<f64>,
    /// With `rich_short`; 0 until it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_price: Option<f64>,
    /// With `rich_short`; 0 until it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) close_price: Option<f64>,
}

/// The answer to shape B (contract 2.4).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Acknowledgement {
    pub(crate) trade_id: String,
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
    pub(crate) open_time: i64,
    pub(crate) close_time: i64,
    /// Always `PROCESSING`.
    pub(crate) status: &'static str,
    /// Always `HOLD`.
    pub(crate) result: &'static str,
    /// 0: the list has it once the trade is processed.
    pub(crate) open_price: f64,
}

/// Rows of the one or the other kind.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum TradeListing {
    Items(Vec<ListItem>),
    Full(Vec<FullTrade>),
}

/// A page of trades (contract 2.5).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TradePage {
    pub(crate) current_page: u64,
    pub(crate) per_page: u64,
    pub(crate) last_page: u64,
    /// Null on the last page.
    pub(crate) next_page: Option<u64>,
    /// Null on the first page.
    pub(crate) prev_page: Option<u64>,
    pub(crate) pages: u64,
    /// All rows.
    pub(crate) total: u64,
    /// Rows on this page.
    pub(crate) count: u64,
    pub(crate) data: TradeListing,
}
