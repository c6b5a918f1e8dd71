//! A trade as reported by the venue, in any projection (contract 2.3 and 2.4).

use super::fields::{Fields, Record, Unreadable};
use super::value::{Tolerant, TradeResult, TradeStatus};
use super::wallet::WalletEntry;
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis, Outcome};
use rust_decimal::Decimal;

/// Any trade record of the venue, in any projection.
///
/// Short, list item and full projection, acknowledgement and `open-async` reply. Only the id is
/// certain; fields missing from a projection are `None`. Times and prices of 0 mean "not yet known"
/// (contract 2.3) and become `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TradeRecord {
    /// Trade id (`id`, or `tradeId` in the acknowledgement).
    pub(crate) id: String,
    pub(crate) user_id: Option<String>,
    pub(crate) tenant_id: Option<String>,
    pub(crate) affiliate_id: Option<String>,
    pub(crate) extra_id: Option<String>,
    pub(crate) status: Option<TradeStatus>,
    pub(crate) result: Option<TradeResult>,
    pub(crate) symbol: Option<String>,
    pub(crate) symbol_slot_name: Option<String>,
    pub(crate) direction: Option<Tolerant<Direction>>,
    pub(crate) expiration_type: Option<Tolerant<ExpirationType>>,
    pub(crate) close_type: Option<Tolerant<CloseType>>,
    pub(crate) amount: Option<Decimal>,
    /// Profit of a win in percent of the stake.
    pub(crate) payout: Option<Decimal>,
    /// Net profit; 0 while the trade is open.
    pub(crate) pnl: Option<Decimal>,
    pub(crate) request_time: Option<Millis>,
    pub(crate) open_time: Option<Millis>,
    pub(crate) open_price: Option<f64>,
    pub(crate) open_price_time: Option<Millis>,
    pub(crate) close_time: Option<Millis>,
    pub(crate) close_price: Option<f64>,
    pub(crate) close_price_time: Option<Millis>,
    pub(crate) attempts_to_close: Option<u64>,
    pub(crate) is_demo: Option<bool>,
    pub(crate) is_influencer: Option<bool>,
    pub(crate) from_bot: Option<bool>,
    pub(crate) from_api_token: Option<bool>,
    pub(crate) from_copy: Option<bool>,
    pub(crate) bot_synced: Option<bool>,
    pub(crate) wallets: Vec<WalletEntry>,
    pub(crate) unreadable_wallets: usize,
    pub(crate) total_wallets_balance_percent: Option<Decimal>,
    pub(crate) copy_commission_rate: Option<Decimal>,
    pub(crate) copy_commission_amount: Option<Decimal>,
    pub(crate) tenant_fee_amount: Option<Decimal>,
    /// Whether the venue reverted the trade (`observed: values`).
    pub(crate) reverted: Option<bool>,
    pub(crate) created_at: Option<Millis>,
    pub(crate) updated_at: Option<Millis>,
}

impl TradeRecord {
    /// Returns whether the trade is final by result or status (`observed: values`).
    ///
    /// An unrecognized value is never final.
    pub(crate) fn is_final(&self) -> bool {
        self.result.as_ref().is_some_and(TradeResult::is_final)
            || self.status.as_ref().is_some_and(TradeStatus::is_final)
    }

    /// Returns the outcome, `None` while the trade is open.
    ///
    /// Also `None` if only the status is final: the short projection says that a trade is over, but
    /// not its outcome.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let by_result = self.result.as_ref().and_then(TradeResult::outcome);
        by_result.or_else(|| (self.status == Some(TradeStatus::Cancelled)).then_some(Outcome::Cancelled))
    }
}

impl Record for TradeRecord {
    const NAME: &'static str = "Trade";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        let acknowledged: Option<String> = fields.optional("tradeId");
        let id = match acknowledged {
            Some(id) => fields.optional("id").unwrap_or(id),
            None => fields.required("id")?,
        };
        if id.is_empty() {
            return Err(Unreadable::Field { record: Self::NAME, field: "id" });
        }
        let (wallets, unreadable_wallets) = fields.list("wallets");
        Ok(Self {
            id,
            user_id: fields.optional("userId"),
            tenant_id: fields.optional("tenantId"),
            affiliate_id: fields.optional("affiliateId"),
            extra_id: fields.optional("extraId"),
            status: fields.optional("status"),
            result: fields.optional("result"),
            symbol: fields.optional("symbol"),
            symbol_slot_name: fields.optional("symbolSlotName"),
            direction: fields.optional("direction"),
            expiration_type: fields.optional("expirationType"),
            close_type: fields.optional("closeType"),
            amount: fields.optional("amount"),
            payout: fields.optional("payout"),
            pnl: fields.optional("pnl"),
            request_time: fields.moment("requestTime"),
            open_time: fields.moment("openTime"),
            open_price: fields.beyond_zero("openPrice"),
            open_price_time: fields.moment("openPriceTime"),
            close_time: fields.moment("closeTime"),
            close_price: fields.beyond_zero("closePrice"),
            close_price_time: fields.moment("closePriceTime"),
            attempts_to_close: fields.optional("attemptsToClose"),
            is_demo: fields.optional("isDemo"),
            is_influencer: fields.optional("isInfluencer"),
            from_bot: fields.optional("fromBot"),
            from_api_token: fields.optional("fromApiToken"),
            from_copy: fields.optional("fromCopy"),
            bot_synced: fields.optional("botSynced"),
            wallets,
            unreadable_wallets,
            total_wallets_balance_percent: fields.optional("totalWalletsBalancePercent"),
            copy_commission_rate: fields.optional("copyCommissionRate"),
            copy_commission_amount: fields.optional("copyCommissionAmount"),
            tenant_fee_amount: fields.optional("tenantFeeAmount"),
            reverted: fields.optional("reverted"),
            created_at: fields.moment("createdAt"),
            updated_at: fields.moment("updatedAt"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{WalletType, read_record};
    use candlewick_broker::UnrecognisedData;
    use serde_json::{Value, json};

    fn read(json: Value) -> TradeRecord {
        read_record(json, &UnrecognisedData::new()).unwrap()
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
            "result": "WON", "reverted": false, "tenantFeeAmount": 0.2, "createdAt": "2026-11-20T12:00:00.500Z",
            "updatedAt": "2026-11-20T12:01:04.000Z",
        })
    }

    #[test]
    fn every_field_of_the_full_projection_is_read() {
        let drift = UnrecognisedData::new();
        let trade: TradeRecord = read_record(full_json(), &drift).unwrap();
        assert!(drift.snapshot().is_empty(), "{:?}", drift.snapshot());
        let text = |text: &str| Some(text.to_owned());
        let time = |ms: i64| Some(Millis::new(ms));
        let expected = TradeRecord {
            id: "01JTRADE".into(),
            user_id: text("01JUSER"),
            tenant_id: text("01JTENANT"),
            affiliate_id: text("01JAFF"),
            extra_id: text("x-1"),
            status: Some(TradeStatus::Completed),
            result: Some(TradeResult::Won),
            symbol: text("BTC/USDT"),
            symbol_slot_name: text("default"),
            direction: Some(Tolerant::Known(Direction::Buy)),
            expiration_type: Some(Tolerant::Known(ExpirationType::TimeFixed)),
            close_type: Some(Tolerant::Known("01:00".parse().unwrap())),
            amount: Some(Decimal::TEN),
            payout: Some(Decimal::from(80)),
            pnl: Some(Decimal::from(8)),
            request_time: time(1_795_176_000_500),
            open_time: time(1_795_176_000_999),
            open_price: Some(64_000.5),
            open_price_time: time(1_795_176_000_000),
            close_time: time(1_795_176_060_999),
            close_price: Some(64_001.25),
            close_price_time: time(1_795_176_060_000),
            attempts_to_close: Some(1),
            is_demo: Some(true),
            is_influencer: Some(false),
            from_bot: Some(false),
            from_api_token: Some(true),
            from_copy: Some(false),
            bot_synced: Some(true),
            reverted: Some(false),
            wallets: vec![WalletEntry {
                id: "01JWALLET".into(),
                wallet_type: WalletType::Demo,
                amount: Decimal::TEN,
                trade_percent: Decimal::ONE_HUNDRED,
                balance_percent: Decimal::new(1, 1),
                balance: Decimal::from(10_000),
            }],
            unreadable_wallets: 0,
            total_wallets_balance_percent: Some(Decimal::new(1, 1)),
            copy_commission_rate: Some(Decimal::new(5, 2)),
            copy_commission_amount: Some(Decimal::new(4, 1)),
            tenant_fee_amount: Some(Decimal::new(2, 1)),
            created_at: time(1_795_176_000_500),
            updated_at: time(1_795_176_064_000),
        };
        assert_eq!(trade, expected);
    }

    #[test]
    fn a_reply_without_what_only_list_items_have_is_read() {
        let mut json = full_json();
        for absent in ["botSynced", "status", "openPriceTime"] {
            json.as_object_mut().unwrap().remove(absent);
        }
        let expected =
            TradeRecord { bot_synced: None, status: None, open_price_time: None, ..read(full_json()) };
        assert_eq!(read(json), expected);
    }

    #[test]
    fn the_short_projections_are_read() {
        let of_list = json!({
            "id": "01JTRADE", "symbol": "BTC/USDT", "userId": "01JUSER", "amount": 10, "status": "OPEN",
            "createdAt": "2026-11-20T12:00:00.500Z",
        });
        let expected = TradeRecord {
            id: "01JTRADE".into(),
            symbol: Some("BTC/USDT".into()),
            user_id: Some("01JUSER".into()),
            amount: Some(Decimal::TEN),
            status: Some(TradeStatus::Open),
            created_at: Some(Millis::new(1_795_176_000_500)),
            ..TradeRecord::default()
        };
        assert_eq!(read(of_list.clone()), expected);
        // By its identifier a trade has its tenant besides.
        let mut by_id = of_list;
        by_id["tenantId"] = json!("01JTENANT");
        assert_eq!(read(by_id), TradeRecord { tenant_id: Some("01JTENANT".into()), ..expected });
    }

    #[test]
    fn an_acknowledgement_is_a_trade_without_times_and_prices() {
        let trade = read(json!({"tradeId": "01JT", "status": "OPEN"}));
        let expected =
            TradeRecord { id: "01JT".into(), status: Some(TradeStatus::Open), ..TradeRecord::default() };
        assert_eq!(trade, expected);
    }

    #[test]
    fn zeros_of_a_running_trade_are_not_times_or_prices() {
        let trade = read(json!({
            "id": "01JT", "openPrice": 0, "closePrice": 0, "closePriceTime": 0, "openTime": "0",
            "closeTime": 1_795_176_060_999_i64, "pnl": 0, "attemptsToClose": 0, "result": "PENDING",
        }));
        assert_eq!((trade.open_price, trade.close_price, trade.close_price_time), (None, None, None));
        assert_eq!((trade.open_time, trade.close_time), (None, Some(Millis::new(1_795_176_060_999))));
        assert_eq!((trade.pnl, trade.attempts_to_close), (Some(Decimal::ZERO), Some(0)));
    }

    #[test]
    fn a_time_that_cannot_be_is_absent_and_counted() {
        let fault = Some("Trade.closeTime is not a time from 2000 to 2100");
        for (close_time, fault) in [
            (json!(-5), fault),
            // Seconds, microseconds, the millisecond before 2000 and the first of 2100.
            (json!(1_795_176_060), fault),
            (json!(1_795_176_060_999_000_i64), fault),
            (json!(946_684_799_999_i64), fault),
            (json!(4_102_444_800_000_i64), fault),
            (json!(i64::MAX), fault),
            (json!("1970-01-02T00:00:00Z"), fault),
            (json!(0), None),
        ] {
            let drift = UnrecognisedData::new();
            let json = json!({"id": "01JT", "closeTime": close_time});
            let trade: TradeRecord = read_record(json, &drift).unwrap();
            assert_eq!(trade.close_time, None, "{close_time}");
            assert_eq!(drift.snapshot().keys().next().map(String::as_str), fault, "{close_time}");
        }
        for time in [946_684_800_000_i64, 4_102_444_799_999] {
            assert_eq!(
                read(json!({"id": "01JT", "closeTime": time})).close_time,
                Some(Millis::new(time)),
                "{time}"
            );
        }
    }

    #[test]
    fn the_outcome_is_known_only_when_the_venue_says_it() {
        for (status, result, is_final, outcome) in [
            (json!("OPEN"), json!("PENDING"), false, None),
            (json!("COMPLETED"), Value::Null, true, None),
            (json!("COMPLETED"), json!("REFUNDED"), true, None),
            (json!("COMPLETED"), json!("LOST"), true, Some(Outcome::Lost)),
            (json!("CANCELLED"), json!("PENDING"), true, Some(Outcome::Cancelled)),
            (json!("FROZEN"), json!("won"), false, None),
            (Value::Null, json!("WON"), true, Some(Outcome::Won)),
        ] {
            let trade = read(json!({"id": "01JT", "status": status, "result": result}));
            assert_eq!((trade.is_final(), trade.outcome()), (is_final, outcome), "{status} {result}");
        }
    }

    #[test]
    fn a_record_without_an_identifier_is_no_trade() {
        let drift = UnrecognisedData::new();
        for json in
            [json!({"status": "OPEN"}), json!({"id": ""}), json!({"tradeId": "", "id": null}), json!("OK")]
        {
            assert!(read_record::<TradeRecord>(json.clone(), &drift).is_err(), "{json}");
        }
    }

    #[test]
    fn what_is_unknown_is_counted_and_the_rest_is_read() {
        let drift = UnrecognisedData::new();
        let json = json!({
            "id": "01JT", "status": "FROZEN", "direction": "UP", "closeType": "soon", "payout": [80],
            "amount": "10.50", "withBonus": false, "wallets": [{"id": "w"}],
        });
        let trade: TradeRecord = read_record(json, &drift).unwrap();
        assert_eq!(trade.amount, Some(Decimal::new(1_050, 2)));
        assert_eq!(trade.direction, Some(Tolerant::Unknown("UP".into())));
        assert_eq!((trade.payout, trade.wallets.len()), (None, 0));
        let names: Vec<_> = drift.snapshot().into_keys().collect();
        let expected = [
            "Trade.closeType=soon",
            "Trade.direction=UP",
            "Trade.payout unreadable",
            "Trade.status=FROZEN",
            "Trade.withBonus",
            "WalletEntry.type unreadable",
        ];
        assert_eq!(names, expected);
    }
}
