//! The contract's projections of a trade, exactly, for whoever serves them (contract 2.3 and 2.4).

use super::value::{TradeResult, TradeStatus};
use super::wallet::WalletEntry;
use super::wire;
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer};

/// The full projection: the reply to an open, and the items of a list restricted to one user.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools)] // the contract's record
pub(crate) struct FullTrade {
    /// Trade identifier.
    pub(crate) id: String,
    /// Affiliate identifier.
    pub(crate) affiliate_id: String,
    /// Whether play money is at stake.
    pub(crate) is_demo: bool,
    /// Whether the account is an influencer's.
    pub(crate) is_influencer: bool,
    /// Whether the venue's own bot opened it.
    pub(crate) from_bot: bool,
    /// Whether an API token opened it.
    pub(crate) from_api_token: bool,
    /// Tenant identifier.
    pub(crate) tenant_id: String,
    /// The wallets that paid the stake.
    pub(crate) wallets: Vec<WalletEntry>,
    /// The trade's share of all wallets, in percent.
    #[serde(serialize_with = "wire::number")]
    pub(crate) total_wallets_balance_percent: Decimal,
    /// Price slot.
    pub(crate) symbol_slot_name: String,
    /// Identifier of an outside system.
    pub(crate) extra_id: String,
    /// Trading pair.
    pub(crate) symbol: String,
    /// Owner identifier.
    pub(crate) user_id: String,
    /// Percent of the stake that a win earns.
    #[serde(serialize_with = "wire::number")]
    pub(crate) payout: Decimal,
    /// Stake.
    #[serde(serialize_with = "wire::number")]
    pub(crate) amount: Decimal,
    /// Whether it copies another trade.
    pub(crate) from_copy: bool,
    /// Present in list items only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bot_synced: Option<bool>,
    /// Rate of the commission for copying.
    #[serde(serialize_with = "wire::number")]
    pub(crate) copy_commission_rate: Decimal,
    /// Commission for copying.
    #[serde(serialize_with = "wire::number")]
    pub(crate) copy_commission_amount: Decimal,
    /// Present in list items only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<TradeStatus>,
    /// Up or down.
    pub(crate) direction: Direction,
    /// What the duration is counted from.
    #[serde(serialize_with = "expiration_type")]
    pub(crate) expiration_type: ExpirationType,
    /// Duration code.
    pub(crate) close_type: CloseType,
    /// When the request arrived.
    pub(crate) request_time: Millis,
    /// When the trade opened.
    pub(crate) open_time: Millis,
    /// Price at the open.
    pub(crate) open_price: f64,
    /// Time of the open price's record; present in list items only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_price_time: Option<Millis>,
    /// Net profit; 0 while the trade runs.
    #[serde(serialize_with = "wire::number")]
    pub(crate) pnl: Decimal,
    /// Price at the close; 0 while the trade runs.
    pub(crate) close_price: f64,
    /// When the trade closes.
    pub(crate) close_time: Millis,
    /// Time of the close price's record; 0 while the trade runs.
    pub(crate) close_price_time: Millis,
    /// How often the venue tried to close it.
    pub(crate) attempts_to_close: u32,
    /// What came of it.
    pub(crate) result: TradeResult,
    /// The tenant's fee.
    #[serde(serialize_with = "wire::number")]
    pub(crate) tenant_fee_amount: Decimal,
    /// When the record was made.
    #[serde(serialize_with = "wire::iso8601")]
    pub(crate) created_at: Millis,
    /// When the record was last changed.
    #[serde(serialize_with = "wire::iso8601")]
    pub(crate) updated_at: Millis,
}

/// The short projection: one trade by its identifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShortTrade {
    /// Trade identifier.
    pub(crate) id: String,
    /// Owner identifier.
    pub(crate) user_id: String,
    /// Tenant identifier.
    pub(crate) tenant_id: String,
    /// Where it stands.
    pub(crate) status: TradeStatus,
    /// Trading pair.
    pub(crate) symbol: String,
    /// Stake.
    #[serde(serialize_with = "wire::number")]
    pub(crate) amount: Decimal,
    /// When the record was made.
    #[serde(serialize_with = "wire::iso8601")]
    pub(crate) created_at: Millis,
}

/// The list item projection: a list that is not restricted to one user.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListItem {
    /// Trade identifier.
    pub(crate) id: String,
    /// Trading pair.
    pub(crate) symbol: String,
    /// Owner identifier.
    pub(crate) user_id: String,
    /// Stake.
    #[serde(serialize_with = "wire::number")]
    pub(crate) amount: Decimal,
    /// Where it stands.
    pub(crate) status: TradeStatus,
    /// When the record was made.
    #[serde(serialize_with = "wire::iso8601")]
    pub(crate) created_at: Millis,
}

/// The other reply to an open.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Acknowledgement {
    /// Trade identifier.
    pub(crate) trade_id: String,
    /// Where it stands.
    pub(crate) status: TradeStatus,
}

/// As the venue writes it: one that was not stated is `TIME_FIXED` (`observed: expiry`).
#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands fields over like this
fn expiration_type<S: Serializer>(value: &ExpirationType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Tolerant, TradeRecord, WalletType, read_record};
    use candlewick_broker::UnrecognisedData;
    use serde_json::{Value, json};

    fn full() -> FullTrade {
        FullTrade {
            id: "01JTRADE".into(),
            affiliate_id: "01JAFF".into(),
            is_demo: true,
            is_influencer: false,
            from_bot: false,
            from_api_token: true,
            tenant_id: "01JTENANT".into(),
            wallets: vec![WalletEntry {
                id: "01JWALLET".into(),
                wallet_type: WalletType::Demo,
                amount: Decimal::TEN,
                trade_percent: Decimal::ONE_HUNDRED,
                balance_percent: Decimal::new(1, 1),
                balance: Decimal::from(10_000),
            }],
            total_wallets_balance_percent: Decimal::new(1, 1),
            symbol_slot_name: "default".into(),
            extra_id: "x-1".into(),
            symbol: "BTC/USDT".into(),
            user_id: "01JUSER".into(),
            payout: Decimal::from(80),
            amount: Decimal::TEN,
            from_copy: false,
            bot_synced: Some(true),
            copy_commission_rate: Decimal::new(5, 2),
            copy_commission_amount: Decimal::new(4, 1),
            status: Some(TradeStatus::Completed),
            direction: Direction::Buy,
            expiration_type: ExpirationType::Unstated,
            close_type: "01:00".parse().unwrap(),
            request_time: Millis::new(1_795_176_000_500),
            open_time: Millis::new(1_795_176_000_999),
            open_price: 64_000.5,
            open_price_time: Some(Millis::new(1_795_176_000_000)),
            pnl: Decimal::from(8),
            close_price: 64_001.25,
            close_time: Millis::new(1_795_176_060_999),
            close_price_time: Millis::new(1_795_176_060_000),
            attempts_to_close: 1,
            result: TradeResult::Won,
            tenant_fee_amount: Decimal::new(2, 1),
            created_at: Millis::new(1_795_176_000_500),
            updated_at: Millis::new(1_795_176_064_000),
        }
    }

    /// The contract's list item with the userId filter, typed out from its table.
    fn full_json() -> Value {
        json!({
            "id": "01JTRADE", "affiliateId": "01JAFF", "isDemo": true, "isInfluencer": false, "fromBot": false,
            "fromApiToken": true, "tenantId": "01JTENANT",
            "wallets": [{
                "id": "01JWALLET", "type": "DEMO", "amount": 10, "tradePercent": 100, "balancePercent": 0.1,
                "balance": 10000,
            }],
            "totalWalletsBalancePercent": 0.1, "symbolSlotName": "default", "extraId": "x-1",
            "symbol": "BTC/USDT", "userId": "01JUSER", "payout": 80, "amount": 10, "fromCopy": false,
            "botSynced": true, "copyCommissionRate": 0.05, "copyCommissionAmount": 0.4, "status": "COMPLETED",
            "direction": "BUY", "expirationType": "TIME_FIXED", "closeType": "01:00",
            "requestTime": 1_795_176_000_500_i64, "openTime": 1_795_176_000_999_i64, "openPrice": 64000.5,
            "openPriceTime": 1_795_176_000_000_i64, "pnl": 8, "closePrice": 64001.25,
            "closeTime": 1_795_176_060_999_i64, "closePriceTime": 1_795_176_060_000_i64, "attemptsToClose": 1,
            "result": "WON", "tenantFeeAmount": 0.2, "createdAt": "2026-11-20T12:00:00.500Z",
            "updatedAt": "2026-11-20T12:01:04.000Z",
        })
    }

    #[test]
    fn the_full_projection_is_written_field_by_field_as_in_the_contract() {
        assert_eq!(serde_json::to_value(full()).unwrap(), full_json());
    }

    #[test]
    fn the_open_response_leaves_out_what_only_list_items_have() {
        let reply = FullTrade { bot_synced: None, status: None, open_price_time: None, ..full() };
        let written = serde_json::to_value(reply).unwrap();
        for absent in ["botSynced", "status", "openPriceTime"] {
            assert_eq!(written.get(absent), None, "{absent}");
        }
    }

    #[test]
    fn every_field_of_the_full_projection_is_read() {
        let drift = UnrecognisedData::new();
        let trade: TradeRecord = read_record(full_json(), &drift).unwrap();
        assert!(drift.snapshot().is_empty(), "{:?}", drift.snapshot());
        let sent = full();
        let expected = TradeRecord {
            id: sent.id,
            user_id: Some(sent.user_id),
            tenant_id: Some(sent.tenant_id),
            affiliate_id: Some(sent.affiliate_id),
            extra_id: Some(sent.extra_id),
            status: sent.status,
            result: Some(sent.result),
            symbol: Some(sent.symbol),
            symbol_slot_name: Some(sent.symbol_slot_name),
            direction: Some(Tolerant::Known(Direction::Buy)),
            expiration_type: Some(Tolerant::Known(ExpirationType::TimeFixed)),
            close_type: Some(Tolerant::Known(sent.close_type)),
            amount: Some(sent.amount),
            payout: Some(sent.payout),
            pnl: Some(sent.pnl),
            request_time: Some(sent.request_time),
            open_time: Some(sent.open_time),
            open_price: Some(sent.open_price),
            open_price_time: sent.open_price_time,
            close_time: Some(sent.close_time),
            close_price: Some(sent.close_price),
            close_price_time: Some(sent.close_price_time),
            attempts_to_close: Some(1),
            is_demo: Some(true),
            is_influencer: Some(false),
            from_bot: Some(false),
            from_api_token: Some(true),
            from_copy: Some(false),
            bot_synced: Some(true),
            wallets: sent.wallets,
            total_wallets_balance_percent: Some(sent.total_wallets_balance_percent),
            copy_commission_rate: Some(sent.copy_commission_rate),
            copy_commission_amount: Some(sent.copy_commission_amount),
            tenant_fee_amount: Some(sent.tenant_fee_amount),
            created_at: Some(sent.created_at),
            updated_at: Some(sent.updated_at),
        };
        assert_eq!(trade, expected);
    }

    #[test]
    fn the_other_projections_are_written_as_in_the_contract() {
        let trade = full();
        let short = ShortTrade {
            id: trade.id.clone(),
            user_id: trade.user_id.clone(),
            tenant_id: trade.tenant_id,
            status: TradeStatus::Open,
            symbol: trade.symbol.clone(),
            amount: trade.amount,
            created_at: trade.created_at,
        };
        let item = ListItem {
            id: trade.id.clone(),
            symbol: trade.symbol,
            user_id: trade.user_id,
            amount: trade.amount,
            status: TradeStatus::Open,
            created_at: trade.created_at,
        };
        let acknowledgement = Acknowledgement { trade_id: trade.id, status: TradeStatus::Open };
        assert_eq!(
            serde_json::to_value(short).unwrap(),
            json!({
                "id": "01JTRADE", "userId": "01JUSER", "tenantId": "01JTENANT", "status": "OPEN",
                "symbol": "BTC/USDT", "amount": 10, "createdAt": "2026-11-20T12:00:00.500Z",
            })
        );
        assert_eq!(
            serde_json::to_value(item).unwrap(),
            json!({
                "id": "01JTRADE", "symbol": "BTC/USDT", "userId": "01JUSER", "amount": 10, "status": "OPEN",
                "createdAt": "2026-11-20T12:00:00.500Z",
            })
        );
        assert_eq!(
            serde_json::to_value(acknowledgement).unwrap(),
            json!({"tradeId": "01JTRADE", "status": "OPEN"})
        );
    }
}
