//! Trades from open to settlement: times, prices and wallet as they become known (`observed: expiry, money`).

use crate::harness::{NOON, Premises, START, TestVenue, assert_close, assert_holds, body, venue};
use candlewick_sandbox::Replies;
use candlewick_sdk::Millis;
use candlewick_simulator::DrawRule;
use serde_json::{Value, json};

async fn by_id(venue: &TestVenue, trade: &Value) -> Value {
    venue.get(&format!("/token/trades/{}", trade["id"].as_str().unwrap())).await.json()
}

#[tokio::test]
async fn an_open_has_the_times_and_the_price_of_its_arrival() {
    let trade = venue().open("BTCUSDT", "BUY").await;
    // Sent at noon, arrives 2 s later, and opens at the end of that second at the price of 12:00:03.
    let times = [NOON + 2_000, NOON + 2_999, NOON + 62_999].map(Value::from);
    assert_eq!(["requestTime", "openTime", "closeTime"].map(|field| trade[field].clone()), times);
    assert_close(&trade["openPrice"], 130.05);
}

#[tokio::test]
async fn settlement_is_visible_from_close_plus_delay() {
    let venue = venue();
    let trade = venue.open("BTCUSDT", "BUY").await;
    let known = NOON + 62_999 + 4_000;
    for (now, status, result, pnl) in [
        (NOON + 62_999, "OPEN", "PENDING", 0.0),
        (known - 1, "OPEN", "PENDING", 0.0),
        (known, "COMPLETED", "WON", 8.0),
    ] {
        venue.clock.set(now);
        let short = by_id(&venue, &trade).await;
        let full = venue.full_rows().await.remove(0);
        for seen in [&short, &full] {
            assert_holds(seen, &json!({ "status": status, "result": result, "pnl": pnl }));
        }
        let settled = status == "COMPLETED";
        let price_time = if settled { NOON + 62_999 } else { 0 };
        assert_holds(&full, &json!({ "closePriceTime": price_time, "openPriceTime": NOON + 2_999 }));
        assert_eq!(full["attemptsToClose"], json!(u32::from(settled)));
        assert_close(&full["closePrice"], if settled { 131.05 } else { 0.0 });
        assert_close(&short["closePrice"], if settled { 131.05 } else { 0.0 });
    }
}

#[tokio::test]
async fn the_stake_leaves_on_arrival_and_returns_with_the_profit() {
    // EURUSD is constant, so trades draw. ETHUSDT falls, so BUY loses. BTCUSDT rises, so BUY wins 80 %.
    for (symbol, direction, result, pnl, after) in [
        ("BTCUSDT", "BUY", "WON", 8.0, 10_008.0),
        ("BTCUSDT", "SELL", "LOST", -10.0, 9_990.0),
        ("ETHUSDT", "SELL", "WON", 8.0, 10_008.0),
        ("ETHUSDT", "BUY", "LOST", -10.0, 9_990.0),
        ("EURUSD", "BUY", "DRAW", 0.0, 10_000.0),
    ] {
        let venue = venue();
        let trade = venue.open(symbol, direction).await;
        for (now, balance) in [
            (NOON, 10_000.0),
            (NOON + 1_999, 10_000.0),
            (NOON + 2_000, 9_990.0),
            (NOON + 66_998, 9_990.0),
            (NOON + 66_999, after),
        ] {
            venue.clock.set(now);
            assert_eq!(venue.balance().await, balance, "{symbol} {direction} at {now}");
        }
        let settled = by_id(&venue, &trade).await;
        assert_holds(&settled, &json!({ "result": result, "pnl": pnl, "status": "COMPLETED" }));
    }
}

#[tokio::test]
async fn a_trade_that_closes_in_a_gap_is_cancelled_and_refunded() {
    let venue = venue();
    venue.clock.set(START + 39 * 60_000);
    let trade = venue.open("EURUSD", "BUY").await;
    venue.clock.set(START + 39 * 60_000 + 66_999);
    let cancelled = json!({ "status": "CANCELLED", "result": "CANCELLED", "pnl": 0.0, "closePrice": 0.0 });
    assert_holds(&by_id(&venue, &trade).await, &cancelled);
    assert_eq!(venue.balance().await, 10_000.0);
}

#[tokio::test]
async fn the_balance_in_an_open_is_the_one_before_its_debit() {
    let venue = venue();
    let balance = |trade: &Value| trade["wallets"][0]["balance"].clone();
    assert_eq!(balance(&venue.open("BTCUSDT", "BUY").await), json!(10_000.0));
    assert_eq!(balance(&venue.open("BTCUSDT", "BUY").await), json!(9_990.0), "the first is on its way");
    venue.clock.set(NOON + 10_000);
    assert_eq!(balance(&venue.open("BTCUSDT", "BUY").await), json!(9_980.0));
    let balances: Vec<_> = venue.full_rows().await.iter().map(balance).collect();
    assert_eq!(balances, [json!(9_980.0), json!(9_990.0), json!(10_000.0)]);
}

#[tokio::test]
async fn a_next_candle_has_no_price_until_its_candle_opens() {
    let venue = venue();
    let mut next = body("BTCUSDT", "BUY");
    next["expirationType"] = json!("NEXT_CANDLE");
    let trade = venue.post("/token/trades/open", next).await.json();
    assert_eq!((&trade["openTime"], &trade["closeTime"]), (&json!(NOON + 60_000), &json!(NOON + 120_000)));
    assert_eq!((&trade["openPrice"], &trade["expirationType"]), (&json!(0.0), &json!("NEXT_CANDLE")));
    let cases = [(59_999, 0.0, 0), (60_000, 131.0, NOON + 60_000), (124_000, 131.0, NOON + 60_000)];
    for (after_ms, price, price_time) in cases {
        venue.clock.set(NOON + after_ms);
        let row = venue.full_rows().await.remove(0);
        assert_close(&row["openPrice"], price);
        assert_eq!(row["openPriceTime"], json!(price_time), "after {after_ms} ms");
        assert_close(&by_id(&venue, &trade).await["openPrice"], price);
    }
    assert_eq!(venue.full_rows().await[0]["result"], "WON");
}

#[tokio::test]
async fn a_candle_close_trade_ends_with_its_candle() {
    let venue = venue();
    let mut close = body("BTCUSDT", "BUY");
    close["expirationType"] = json!("CANDLE_CLOSE");
    let trade = venue.post("/token/trades/open", close).await.json();
    assert_eq!((&trade["openTime"], &trade["closeTime"]), (&json!(NOON + 2_999), &json!(NOON + 60_000)));
}

#[tokio::test]
async fn follows_the_simulation_settings() {
    let mut premises = Premises::default();
    premises.simulation.latency_ms = Millis::ZERO;
    premises.simulation.settle_delay_ms = Millis::ZERO;
    premises.simulation.draw = DrawRule::Loss;
    let venue = premises.venue();
    let trade = venue.open("EURUSD", "BUY").await;
    assert_eq!((&trade["requestTime"], &trade["openTime"]), (&json!(NOON), &json!(NOON + 999)));
    venue.clock.set(NOON + 60_999);
    assert_eq!(by_id(&venue, &trade).await["result"], "LOST");
    assert_eq!(venue.balance().await, 9_990.0);
}

#[tokio::test]
async fn trade_beyond_the_data_stays_open() {
    let venue = venue();
    let end = START + 120 * 60_000;
    venue.clock.set(end - 30_000);
    let never_closed = venue.open("BTCUSDT", "BUY").await;
    assert!(never_closed["openPrice"].as_f64() > Some(0.0));
    venue.clock.set(end - 1_000);
    let never_opened = venue.open("BTCUSDT", "BUY").await;
    assert_eq!((&never_opened["openPrice"], &never_opened["result"]), (&json!(0.0), &json!("PENDING")));
    assert_eq!(never_opened["openTime"], json!(end + 1_999));
    venue.clock.set(end + 86_400_000);
    for trade in [never_closed, never_opened] {
        let seen = by_id(&venue, &trade).await;
        assert_eq!((&seen["status"], &seen["result"]), (&json!("OPEN"), &json!("PENDING")));
    }
    assert_eq!(venue.balance().await, 9_980.0, "both stakes left with their answers, and do not return");
}

#[tokio::test]
async fn delayed_answer_comes_with_the_arrival() {
    let waiting = Premises::with(|settings| settings.replies = Replies::WhenArrived);
    let venue = std::sync::Arc::new(waiting.venue());
    let asking = std::sync::Arc::clone(&venue);
    let answer = tokio::spawn(async move { asking.open("BTCUSDT", "BUY").await });
    for now in [NOON, NOON + 1_999] {
        venue.clock.set(now);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert!(!answer.is_finished(), "at {now}");
        assert!(venue.full_rows().await.is_empty(), "nothing to see before the arrival");
    }
    venue.clock.set(NOON + 2_000);
    assert_eq!(answer.await.unwrap()["requestTime"], json!(NOON + 2_000));
    assert_eq!(venue.full_rows().await.len(), 1);
}

#[tokio::test]
async fn identifiers_repeat_with_the_seed() {
    let mut seen = Vec::new();
    for seed in [1, 1, 2] {
        let venue = Premises::with(|settings| settings.seed = seed).venue();
        let trades = [venue.open("BTCUSDT", "BUY").await, venue.open("BTCUSDT", "BUY").await];
        assert_ne!(trades[0]["id"], trades[1]["id"]);
        assert_eq!(trades[0]["id"].as_str().map(str::len), Some(26));
        let user = venue.get("/token/users/me").await.json();
        seen.push((trades.map(|trade| trade["id"].clone()), user["id"].clone()));
    }
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[0].0, seen[2].0);
    assert_ne!(seen[0].1, seen[2].1);
}

#[tokio::test]
async fn every_answer_is_dated_in_venue_time() {
    let venue = venue();
    venue.clock.set(NOON + 61_000);
    for path in ["/token/wallets", "/symbol-price/default/NOPE", "/nothing", "/openapi.json"] {
        assert_eq!(venue.get(path).await.headers["date"], "Tue, 14 Nov 2023 22:31:01 GMT", "{path}");
    }
}
