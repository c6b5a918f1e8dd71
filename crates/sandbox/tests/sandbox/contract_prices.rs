//! Contract 2.7, 2.8, 4.2, 5, 7 and 8: the symbol price API.

use crate::harness::{NOON, Premises, START, assert_close, assert_holds, fields_of, request, sorted, venue};
use serde_json::{Value, json};

fn window(start: i64, end: i64) -> String {
    let query = "pair=BTCUSDT&type=crypto&interval=1m";
    format!("/aggregated-prices/prices?{query}&startTime={start}&endTime={end}")
}

fn candles_path(more: &str) -> String {
    window(START, NOON) + more
}

fn assert_candle(candle: &Value, numbers: [f64; 5]) {
    let fields = ["openPrice", "closePrice", "highPrice", "lowPrice", "volume"];
    for (field, number) in fields.into_iter().zip(numbers) {
        assert_close(&candle[field], number);
    }
}

fn times(candles: &Value) -> Vec<i64> {
    candles.as_array().unwrap().iter().map(|candle| candle["time"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn every_price_endpoint_needs_the_key() {
    let venue = venue();
    let candles = candles_path("");
    for path in ["/symbol-price/last?pair=BTCUSDT", "/symbol-price/default/BTCUSDT", &candles] {
        for headers in [&[][..], &[("api-key", "other")][..], &[("api-token", "sandbox-token")][..]] {
            let answer = venue.send(request("GET", path, headers, &Value::Null)).await;
            assert_eq!(answer.status, 401, "{path}");
            assert_eq!(answer.json(), json!({ "statusCode": 401, "message": "Unauthorized" }));
        }
        let answer = venue.send(request("GET", path, &[("api-key", "sandbox-key")], &Value::Null)).await;
        assert_eq!(answer.status, 200, "no other header is needed: {path}");
    }
}

#[tokio::test]
async fn an_unknown_pair_is_404_everywhere() {
    let venue = venue();
    for path in [
        "/symbol-price/last?pair=NOPE",
        "/symbol-price/default/NOPE",
        "/aggregated-prices/prices?pair=NOPE&type=crypto&interval=1m&startTime=0&endTime=1",
    ] {
        let answer = venue.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.json(), json!({ "statusCode": 404, "message": "Not Found" }));
    }
}

#[tokio::test]
async fn a_price_record_has_every_field_and_is_the_newest_complete_second() {
    let venue = venue();
    let fields = "id slot pair type time volume openPrice closePrice highPrice lowPrice createdAt updatedAt";
    for path in ["/symbol-price/last?pair=BTCUSDT", "/symbol-price/default/BTCUSDT"] {
        let answer = venue.get(path).await;
        assert_eq!((answer.status.as_u16(), answer.fields()), (200, sorted(fields)), "{path}");
        let record = answer.json();
        assert_eq!(record["id"].as_str().map(str::len), Some(26));
        let expected = json!({
            "slot": "default", "pair": "BTCUSDT", "type": "crypto", "volume": 1.0, "time": NOON - 1_000,
            "createdAt": "2023-11-14T22:30:00.000Z",
        });
        assert_holds(&record, &expected);
        assert_close(&record["closePrice"], 130.0);
    }
}

#[tokio::test]
async fn future_limit_answers_plain_ok() {
    let answer = venue().get(&format!("/symbol-price/last?pair=BTCUSDT&limitTime={}", NOON + 1)).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "OK"));
    let kind = answer.headers["content-type"].to_str().unwrap();
    assert!(kind.starts_with("text/plain"), "{kind}");
}

#[tokio::test]
async fn a_limit_gives_the_newest_complete_record_at_or_before_it() {
    let venue = venue();
    let last = |limit: i64| format!("/symbol-price/last?pair=BTCUSDT&limitTime={limit}");
    for (now, limit, time) in [
        (NOON, NOON, NOON - 1_000),
        (NOON, NOON - 1_000, NOON - 1_000),
        (NOON, NOON - 1_001, NOON - 2_000),
        (NOON + 999, NOON + 999, NOON - 1_000),
        (NOON + 1_000, NOON + 1_000, NOON),
        (NOON + 1_000, NOON, NOON),
        (NOON, START, START),
    ] {
        venue.clock.set(now);
        assert_eq!(venue.get(&last(limit)).await.json()["time"], json!(time), "limit {limit} at {now}");
    }
    assert_eq!(venue.get(&last(START - 1)).await.status, 404, "no price so early");
}

#[tokio::test]
async fn last_record_fills_gaps_and_uses_one_second_candles() {
    let venue = venue();
    venue.clock.set(START + 42 * 60_000);
    let record = venue.get("/symbol-price/last?pair=EURUSD").await.json();
    assert_eq!((&record["time"], &record["type"]), (&json!(START + 40 * 60_000 - 1_000), &json!("forex")));
    venue.clock.set(START + 500 * 60_000);
    let record = venue.get("/symbol-price/last?pair=EURUSD").await.json();
    assert_eq!(record["time"], json!(START + 120 * 60_000 - 1_000));
    let path = format!("/symbol-price/last?pair=XRPUSDT&limitTime={}", START + 90_000);
    let end = 101.5 + 1.0 / 60.0;
    assert_candle(&venue.get(&path).await.json(), [101.5, end, end + 1.0, 100.5, 1.0]);
}

#[tokio::test]
async fn bridged_seconds_join_each_candles_open_to_its_close() {
    let venue = venue();
    let mut previous = None;
    for second in 0..120 {
        let start = START + second * 1_000;
        let record = venue.get(&format!("/symbol-price/last?pair=BTCUSDT&limitTime={start}")).await.json();
        let price = |field: &str| record[field].as_f64().unwrap();
        let minute = (second / 60) as f64;
        match second % 60 {
            0 => assert_close(&record["openPrice"], 100.0 + minute),
            59 => assert_close(&record["closePrice"], 101.0 + minute),
            _ => {}
        }
        let (open, close) = (price("openPrice"), price("closePrice"));
        assert!(price("lowPrice") <= open.min(close) && price("highPrice") >= open.max(close), "{record}");
        assert!(price("lowPrice") >= 99.0 + minute && price("highPrice") <= 102.0 + minute, "{record}");
        assert!(previous.is_none_or(|previous: f64| open.to_bits() == previous.to_bits()), "{record}");
        previous = Some(close);
    }
}

#[tokio::test]
async fn only_the_default_slot_has_prices() {
    let venue = venue();
    assert_eq!(venue.get("/symbol-price/last?pair=BTCUSDT&slot=default").await.status, 200);
    assert_eq!(venue.get("/symbol-price/last?pair=BTCUSDT&slot=vip").await.status, 404);
    let named = venue.get(&candles_path("&slot=default")).await.json();
    assert_eq!(named, venue.get(&candles_path("")).await.json(), "it is the default");
}

#[tokio::test]
async fn candles_are_complete_and_ascending() {
    let candles = venue().get(&candles_path("")).await.json();
    assert_eq!(times(&candles), (0..30).map(|minute| START + minute * 60_000).collect::<Vec<_>>());
    let first = &candles[0];
    assert_eq!(fields_of(first), sorted("volume openPrice closePrice highPrice lowPrice time"));
    assert_candle(first, [100.0, 101.0, 102.0, 99.0, 60.0]);
}

#[tokio::test]
async fn window_ends_are_inclusive_and_hide_the_future() {
    let venue = venue();
    let minute = |count: i64| START + count * 60_000;
    for (start, end, expected) in [
        (minute(3), minute(5), vec![minute(3), minute(4), minute(5)]),
        (minute(3) + 1, minute(5) - 1, vec![minute(4)]),
        (minute(29), minute(100), vec![minute(29)]),
        (minute(30), minute(100), vec![]),
        (minute(5), minute(3), vec![]),
        (0, minute(0), vec![minute(0)]),
    ] {
        assert_eq!(times(&venue.get(&window(start, end)).await.json()), expected, "{start} to {end}");
    }
}

#[tokio::test]
async fn skip_and_limit_count_from_the_earliest_candle() {
    let venue = venue();
    for (more, first, count) in [
        ("", 0, 30),
        ("&skip=0&limit=1000", 0, 30),
        ("&limit=4", 0, 4),
        ("&skip=28", 28, 2),
        ("&skip=10&limit=5", 10, 5),
        ("&skip=31", 31, 0),
        ("&limit=0", 0, 0),
        ("&limit=5000", 0, 30),
    ] {
        let expected: Vec<i64> = (first..first + count).map(|minute| START + minute * 60_000).collect();
        assert_eq!(times(&venue.get(&candles_path(more)).await.json()), expected, "{more}");
    }
    for (more, status) in [
        ("&skip=-1", 400),
        ("&limit=-1", 400),
        ("&skip=9223372036854775807", 200),
        ("&limit=9223372036854775808", 400),
        ("&limit=9223372036854775807", 200),
    ] {
        assert_eq!(venue.get(&candles_path(more)).await.status, status, "{more}");
    }
}

#[tokio::test]
async fn returns_at_most_1000_candles() {
    let venue = venue();
    venue.clock.set(START + 7_200_000);
    let path = |more: &str| {
        let window = format!("startTime={START}&endTime={}", START + 7_200_000);
        format!("/aggregated-prices/prices?pair=XRPUSDT&type=crypto&interval=1s&{window}{more}")
    };
    for more in ["", "&limit=1000", "&limit=7200"] {
        assert_eq!(times(&venue.get(&path(more)).await.json()).len(), 1_000, "{more}");
    }
    let second = times(&venue.get(&path("&skip=1000&limit=500")).await.json());
    assert_eq!((second.len(), second[0]), (500, START + 1_000_000));
}

#[tokio::test]
async fn forming_candle_has_the_prices_so_far() {
    let (now, path) = (NOON + 30_500, candles_path("").replace("BTCUSDT", "XRPUSDT"));
    for (included, count) in [(true, 31), (false, 30)] {
        let venue = Premises::with(|settings| settings.include_forming = included).venue();
        venue.clock.set(now);
        let candles = venue.get(&path).await.json();
        assert_eq!(times(&candles).len(), count);
        if included {
            // Thirty whole seconds from 130 to 130.5, with a high one above and a low one below.
            assert_eq!(candles[30]["time"], json!(NOON));
            assert_candle(&candles[30], [130.0, 130.5, 131.5, 129.0, 30.0]);
        }
    }
    let venue = venue();
    for (after_ms, forms) in [(0, false), (999, false), (1_000, true), (59_999, true)] {
        venue.clock.set(NOON + after_ms);
        let candles = venue.get(&candles_path("")).await.json();
        assert_eq!(times(&candles).len() == 31, forms, "after {after_ms} ms");
    }
    venue.clock.set(NOON + 60_000);
    assert_close(&venue.get(&candles_path("")).await.json()[30]["closePrice"], 131.0);
}

#[tokio::test]
async fn longer_candles_are_resampled() {
    let venue = venue();
    let path = |interval: &str| candles_path("").replace("interval=1m", &format!("interval={interval}"));
    let candles = venue.get(&path("5m")).await.json();
    assert_eq!(times(&candles), (0..6).map(|count| START + count * 300_000).collect::<Vec<_>>());
    assert_candle(&candles[1], [105.0, 110.0, 111.0, 104.0, 300.0]);
    for interval in ["30s", "7m", "90s", "x", "1y"] {
        assert_eq!(venue.get(&path(interval)).await.status, 400, "{interval}");
    }
}

#[tokio::test]
async fn requires_mandatory_parameters() {
    let venue = venue();
    let whole = candles_path("");
    for name in ["pair", "type", "interval", "startTime", "endTime"] {
        let (path, query) = whole.split_once('?').unwrap();
        let parts = query.split('&').filter(|part| !part.starts_with(&format!("{name}=")));
        let query: Vec<&str> = parts.collect();
        let answer = venue.get(&format!("{path}?{}", query.join("&"))).await;
        let expected = json!({ "statusCode": 400, "message": format!("{name} is required") });
        assert_eq!((answer.status.as_u16(), answer.json()), (400, expected));
    }
    assert_eq!(venue.get("/symbol-price/last").await.json()["message"], "pair is required");
    assert_eq!(venue.get("/symbol-price/last?pair=BTCUSDT&limitTime=soon").await.status, 400);
}

#[tokio::test]
async fn irregular_names_are_percent_encoded() {
    let venue = venue();
    for path in ["/symbol-price/default/A%26B%2FC%20D", "/symbol-price/last?pair=A%26B%2FC+D"] {
        let answer = venue.get(path).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["pair"]), (200, &json!("A&B/C D")), "{path}");
    }
}

#[tokio::test]
async fn another_asset_type_is_404() {
    let venue = venue();
    assert_eq!(venue.get(&candles_path("").replace("crypto", "forex")).await.status, 404);
    let forex = ("BTCUSDT".parse().unwrap(), "forex".to_owned());
    let venue = Premises::with(|settings| settings.asset_types.extend([forex])).venue();
    assert_eq!(venue.get(&candles_path("").replace("crypto", "forex")).await.status, 200);
}
