//! Messages of the venue as the contract describes them.

use crate::clock::iso;
use crate::lies::{Outcome, Word};
use crate::market::Pair;
use crate::world::{PAYOUT, Trade, profit_cents};
use serde_json::{Value, json};

pub(crate) const USER: &str = "01JUSER0000000000000000042";
pub(crate) const OTHER_USER: &str = "01JUSER0000000000000000666";
pub(crate) const DEMO_WALLET: &str = "01JWALLET00000000000DEMO42";
pub(crate) const REAL_WALLET: &str = "01JWALLET00000000000REAL42";
const TENANT: &str = "01JTENANT00000000000000001";

/// Real money of the user in cents, which must stay untouched.
pub(crate) const REAL_CENTS: i64 = 77_000;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Detail {
    Full,
    Rich,
    Short,
}

pub(crate) fn money(cents: i64) -> f64 {
    cents as f64 / 100.0
}

pub(crate) fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}

pub(crate) fn short_record(trade: &Trade, status: &str) -> Value {
    json!({
        "id": trade.id, "userId": USER, "tenantId": TENANT, "status": status, "symbol": trade.terms.pair,
        "amount": money(trade.terms.cents), "createdAt": iso(trade.terms.at),
    })
}

pub(crate) fn full_record(trade: &Trade) -> Value {
    let pair = Pair::find(trade.terms.pair).expect("trades have known pairs");
    let share = |of: i64| (trade.terms.cents * 10_000 / of.max(1)) as f64 / 100.0;
    let mut record = json!({
        "id": trade.id, "affiliateId": "", "isDemo": true, "isInfluencer": false, "fromBot": false,
        "fromApiToken": true, "tenantId": TENANT,
        "wallets": [{
            "id": DEMO_WALLET, "type": "DEMO", "amount": money(trade.terms.cents), "tradePercent": 100,
            "balancePercent": share(trade.balance_before), "balance": money(trade.balance_before),
        }],
        "totalWalletsBalancePercent": share(trade.balance_before), "symbolSlotName": "default", "extraId": "",
        "symbol": trade.terms.pair, "userId": USER, "payout": PAYOUT, "amount": money(trade.terms.cents),
        "fromCopy": false, "copyCommissionRate": 0, "copyCommissionAmount": 0,
    });
    let rest = json!({
        "direction": if trade.terms.is_buy { "BUY" } else { "SELL" }, "expirationType": "TIME_FIXED",
        "closeType": "00:05", "requestTime": trade.terms.at, "openTime": trade.open_time,
        "openPrice": pair.price(trade.open_points), "pnl": 0, "closePrice": 0, "closeTime": trade.close_time,
        "closePriceTime": 0, "attemptsToClose": 0, "result": "PENDING", "tenantFeeAmount": 0,
        "createdAt": iso(trade.terms.at), "updatedAt": iso(trade.terms.at),
    });
    merge(&mut record, rest);
    record
}

fn ending(trade: &Trade, word: Option<Word>) -> Value {
    let pair = Pair::find(trade.terms.pair).expect("trades have known pairs");
    let open_price = pair.price(trade.open_points);
    let Some(word) = word else {
        return json!({"status": "OPEN", "result": "PENDING", "pnl": 0, "openPrice": open_price, "closePrice": 0});
    };
    let (status, result) = match word.outcome {
        Outcome::Won => ("COMPLETED", "WON"),
        Outcome::Lost => ("COMPLETED", "LOST"),
        Outcome::Draw => ("COMPLETED", "DRAW"),
        Outcome::Cancelled => ("CANCELLED", "CANCELLED"),
    };
    let mut ending = json!({
        "status": status, "result": result, "pnl": money(profit_cents(word, trade.terms.cents)),
        "openPrice": open_price, "closePrice": pair.price(trade.close_points),
    });
    if word.is_reverted {
        ending["reverted"] = json!(true);
    }
    ending
}

pub(crate) fn record(trade: &Trade, detail: Option<Detail>, now: i64) -> Value {
    let word = trade.word(detail.is_some(), now);
    let ending = ending(trade, word);
    let status = ending["status"].as_str().unwrap_or_default().to_owned();
    let mut record = match detail {
        Some(Detail::Short) => return short_record(trade, &status),
        Some(Detail::Rich) => short_record(trade, &status),
        Some(Detail::Full) | None => full_record(trade),
    };
    merge(&mut record, ending);
    if detail == Some(Detail::Rich) {
        return record;
    }
    record["openPriceTime"] = json!(trade.open_time.div_euclid(1000) * 1000);
    record["botSynced"] = json!(false);
    if let Some(word) = word {
        record["closePriceTime"] = json!(trade.close_time.div_euclid(1000) * 1000);
        record["attemptsToClose"] = json!(1);
        record["updatedAt"] = json!(iso(trade.close_time + 300));
        if let Some(payout) = word.payout {
            record["payout"] = json!(payout);
        }
    }
    record
}

pub(crate) fn wallets(demo_cents: i64) -> Value {
    let created = "2026-01-02T03:04:05.000Z";
    json!([
        {"id": DEMO_WALLET, "userId": USER, "type": "DEMO", "currency": "USD", "balance": money(demo_cents),
         "createdAt": created},
        {"id": REAL_WALLET, "userId": USER, "type": "REAL", "currency": "USD", "balance": money(REAL_CENTS),
         "createdAt": created},
    ])
}

pub(crate) fn user(is_banned: bool) -> Value {
    json!({
        "id": USER, "tenantId": TENANT, "email": "trader@example.com", "name": "A Trader", "country": "BR",
        "active": !is_banned, "banned": is_banned, "deleted": false, "createdAt": "2026-01-02T03:04:05.000Z",
    })
}
