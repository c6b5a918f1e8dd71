//! The prices of trades are within the price records of their seconds, as an audit requires.

use crate::harness::{NOON, Premises, body};
use candlewick_sdk::Millis;
use candlewick_simulator::{OpenRounding, PathKind, SimulationSettings};
use serde_json::{Value, json};

/// Returns the second to which a time belongs. On a boundary, this is the previous second for exits and
/// the next one for entries.
fn second_of(time: &Value, exits: bool) -> i64 {
    let time = time.as_i64().unwrap() - i64::from(exits);
    time - time.rem_euclid(1_000)
}

async fn check(simulation: SimulationSettings) {
    let mut premises = Premises { simulation, ..Premises::default() };
    premises.settings.seed = 5;
    let venue = premises.venue();
    let kinds = ["TIME_FIXED", "CANDLE_CLOSE", "NEXT_CANDLE"];
    for step in 0..90 {
        venue.clock.set(NOON + step * 13_457);
        for symbol in ["BTCUSDT", "ETHUSDT", "XRPUSDT"] {
            let mut order = body(symbol, "BUY");
            order["expirationType"] = json!(kinds[usize::try_from(step).unwrap() % kinds.len()]);
            order["closeType"] = json!(["01:00", "02:00", "01:30"][usize::try_from(step / 3).unwrap() % 3]);
            assert_eq!(venue.post("/token/trades/open", order).await.status, 200);
        }
    }
    venue.clock.set(NOON + 60 * 60_000);
    let user = venue.get("/token/users/me").await.json()["id"].as_str().unwrap().to_owned();
    let page = venue.get(&format!("/token/trades?page=1&pageSize=1000&userId={user}")).await.json();
    let rows = page["data"].as_array().unwrap();
    assert_eq!(rows.len(), 270);
    let mut beside_the_walk = 0;
    for row in rows {
        assert_eq!(row["status"], "COMPLETED", "{row}");
        let symbol = row["symbol"].as_str().unwrap();
        for (price, time, exits) in [("openPrice", "openTime", false), ("closePrice", "closeTime", true)] {
            let (price, second) = (row[price].as_f64().unwrap(), second_of(&row[time], exits));
            let path = format!("/symbol-price/last?pair={symbol}&limitTime={second}");
            let record = venue.get(&path).await.json();
            let field = |name: &str| record[name].as_f64().unwrap();
            assert_eq!(record["time"], json!(second));
            assert!((field("lowPrice")..=field("highPrice")).contains(&price), "{price}: {record}");
            let (open, close) = (field("openPrice"), field("closePrice"));
            beside_the_walk += usize::from(price < open.min(close) || price > open.max(close));
            // Every second is within its candle.
            let window = format!("startTime={}&endTime={second}", second - second.rem_euclid(60_000));
            let path = format!("/aggregated-prices/prices?pair={symbol}&type=crypto&interval=1m&{window}");
            let candle = venue.get(&path).await.json()[0].clone();
            let of_candle = |name: &str| candle[name].as_f64().unwrap();
            assert!(field("lowPrice") >= of_candle("lowPrice"), "{record} {candle}");
            assert!(field("highPrice") <= of_candle("highPrice"), "{record} {candle}");
        }
    }
    assert!(beside_the_walk > 100, "{beside_the_walk}: this would hold by itself");
}

#[tokio::test]
async fn trade_prices_are_within_their_second() {
    check(SimulationSettings::default()).await;
}

#[tokio::test]
async fn trade_prices_are_within_unrounded_and_stepped_seconds() {
    for path in [PathKind::Linear, PathKind::Open] {
        let (open_rounding, latency_ms) = (OpenRounding::None, Millis::new(1_234));
        check(SimulationSettings { path, open_rounding, latency_ms, ..SimulationSettings::default() }).await;
    }
}
