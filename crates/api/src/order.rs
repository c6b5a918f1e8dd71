//! Opening a trade: what is sent, and what comes back (contract 4.1, endpoint 4).

use crate::model::{TradeRecord, TradeResult, TradeStatus, WalletEntry, number};
use crate::settings::OpenBody;
use candlewick_broker::{Account, OpenOrder};
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis, Payout};
use rust_decimal::Decimal;
use serde::Serialize;

/// Shape A.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FullBody<'a> {
    is_demo: bool,
    close_type: CloseType,
    direction: Direction,
    symbol: &'a str,
    #[serde(serialize_with = "number")]
    amount: Decimal,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration_type: Option<&'static str>,
}

/// Shape B.
#[derive(Serialize)]
struct ShortBody<'a> {
    symbol: &'a str,
    #[serde(serialize_with = "number")]
    volume: Decimal,
    direction: Direction,
}

/// The request's body; what the duration is counted from is sent only when it is stated.
pub(crate) fn body_of(order: &OpenOrder, shape: OpenBody) -> serde_json::Result<Vec<u8>> {
    let symbol = order.symbol.as_str();
    match shape {
        OpenBody::Full => serde_json::to_vec(&FullBody {
            is_demo: order.account == Account::Demo,
            close_type: order.close_type,
            direction: order.direction,
            symbol,
            amount: order.amount,
            expiration_type: match order.expiration_type {
                ExpirationType::Unstated => None,
                stated => Some(stated.as_str()),
            },
        }),
        OpenBody::Short => {
            serde_json::to_vec(&ShortBody { symbol, volume: order.amount, direction: order.direction })
        }
    }
}

/// The venue accepted a trade. Whatever its reply left out comes later: an acknowledgement or an `open-async`
/// reply without times and prices is an open trade, and what is missing is `None`, never a zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenReply {
    /// The venue's identifier of the trade.
    pub id: String,
    /// Where it stands.
    pub status: Option<TradeStatus>,
    /// What came of it: nothing, yet.
    pub result: Option<TradeResult>,
    /// When the request arrived at the venue.
    pub request_time: Option<Millis>,
    /// When the trade opened.
    pub open_time: Option<Millis>,
    /// Price at the open.
    pub open_price: Option<f64>,
    /// When the trade closes.
    pub close_time: Option<Millis>,
    /// What a win pays.
    pub payout: Option<Payout>,
    /// The wallets that paid the stake, with their balances before it (`observed: money`).
    pub wallets: Vec<WalletEntry>,
    /// The reply itself, for audits.
    pub record: Option<Box<TradeRecord>>,
}

impl From<TradeRecord> for OpenReply {
    fn from(trade: TradeRecord) -> Self {
        let record = Some(Box::new(trade.clone()));
        Self {
            record,
            id: trade.id,
            status: trade.status,
            result: trade.result,
            request_time: trade.request_time,
            open_time: trade.open_time,
            open_price: trade.open_price,
            close_time: trade.close_time,
            payout: trade.payout.and_then(|percent| Payout::from_percent(percent).ok()),
            wallets: trade.wallets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SchemaDrift;
    use crate::model::read_record;
    use serde_json::{Value, json};

    fn check_body(expiration_type: ExpirationType, account: Account, shape: OpenBody, expected: &Value) {
        let order = OpenOrder {
            symbol: "A&B/\"C\"".parse().unwrap(),
            direction: Direction::Sell,
            amount: Decimal::new(1_250, 2),
            close_type: "01:00".parse().unwrap(),
            expiration_type,
            account,
        };
        let body: Value = serde_json::from_slice(&body_of(&order, shape).unwrap()).unwrap();
        assert_eq!(&body, expected);
    }

    #[test]
    fn shape_a_sends_the_expiration_type_only_when_it_is_stated() {
        let body = json!({
            "isDemo": true, "closeType": "01:00", "direction": "SELL", "symbol": "A&B/\"C\"", "amount": 12.5,
        });
        check_body(ExpirationType::Unstated, Account::Demo, OpenBody::Full, &body);
        let mut stated = body;
        stated["isDemo"] = json!(false);
        stated["expirationType"] = json!("NEXT_CANDLE");
        check_body(ExpirationType::NextCandle, Account::Real, OpenBody::Full, &stated);
    }

    #[test]
    fn shape_b_sends_three_fields() {
        let body = json!({"symbol": "A&B/\"C\"", "volume": 12.5, "direction": "SELL"});
        check_body(ExpirationType::TimeFixed, Account::Demo, OpenBody::Short, &body);
    }

    #[allow(clippy::needless_pass_by_value)] // rows are written in place
    fn check_reply(json: Value, expected: OpenReply) {
        let trade: TradeRecord = read_record(json, &SchemaDrift::new()).unwrap();
        // Beside what is read from it, the record is kept as it was.
        let expected = OpenReply { record: Some(Box::new(trade.clone())), ..expected };
        assert_eq!(OpenReply::from(trade), expected);
    }

    #[test]
    fn every_form_of_reply_is_an_open_trade_and_what_is_missing_is_none() {
        check_reply(
            json!({"tradeId": "01JT", "status": "OPEN"}),
            OpenReply { id: "01JT".into(), status: Some(TradeStatus::Open), ..OpenReply::default() },
        );
        let times = (Some(Millis::new(1_795_176_000_999)), Some(Millis::new(1_795_176_060_999)));
        check_reply(
            json!({
                "id": "01JT", "openTime": 1_795_176_000_999_i64, "closeTime": 1_795_176_060_999_i64,
                "status": "PROCESSING", "result": "HOLD", "openPrice": 0,
            }),
            OpenReply {
                id: "01JT".into(),
                status: Some(TradeStatus::Processing),
                result: Some(TradeResult::Hold),
                open_time: times.0,
                close_time: times.1,
                ..OpenReply::default()
            },
        );
        check_reply(
            json!({
                "id": "01JT", "requestTime": "1795176000500", "openTime": "1795176000999", "openPrice": "64000.5",
                "closeTime": 1_795_176_060_999_i64, "payout": "80", "result": "PENDING", "pnl": 0, "closePrice": 0,
            }),
            OpenReply {
                id: "01JT".into(),
                result: Some(TradeResult::Pending),
                request_time: Some(Millis::new(1_795_176_000_500)),
                open_time: times.0,
                open_price: Some(64_000.5),
                close_time: times.1,
                payout: Payout::from_parts(800_000),
                ..OpenReply::default()
            },
        );
    }
}
