//! Each fault of the switchboard in isolation.

use crate::harness::{CREDENTIALS, NOON, Premises, TestVenue, assert_holds, body, request};
use candlewick_sandbox::{Fault, FaultProfile};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

fn venue(profile: &str) -> TestVenue {
    Premises::with_faults(profile).venue()
}

async fn open_fails(venue: &TestVenue) -> bool {
    let open = request("POST", "/token/trades/open", &CREDENTIALS, &body("BTCUSDT", "BUY"));
    venue.try_send(open).await.is_none()
}

async fn trades_behind(venue: &TestVenue) -> usize {
    venue.switchboard.set_profile(FaultProfile::none());
    venue.full_rows().await.len()
}

#[tokio::test(start_paused = true)]
async fn latency_delays_the_answer_in_real_time() {
    let venue = venue("latency:750ms");
    let started = tokio::time::Instant::now();
    assert_eq!(venue.get("/token/wallets").await.status, 200);
    assert_eq!(started.elapsed(), Duration::from_millis(750));
    assert_eq!(venue.switchboard.counts().count(Fault::Latency), 1);
}

#[tokio::test]
async fn errors_do_nothing_and_answer_500_or_503_in_shape() {
    let venue = venue("errors:1");
    let mut statuses = BTreeSet::new();
    for _ in 0..4 {
        let answer = venue.post("/token/trades/open", body("BTCUSDT", "BUY")).await;
        statuses.insert(answer.status.as_u16());
        let answered = answer.json();
        assert_eq!(answered["status"], "error");
        assert_eq!(answered["data"]["statusCode"], json!(answer.status.as_u16()));
        assert_eq!(answer.headers.contains_key("retry-after"), answer.status == 503);
    }
    assert_eq!(statuses, BTreeSet::from([500, 503]));
    let plain = venue.get("/symbol-price/default/BTCUSDT").await.json();
    assert_eq!(plain, json!({ "statusCode": 500, "message": "Internal Server Error" }));
    assert_eq!(trades_behind(&venue).await, 0);
}

#[tokio::test]
async fn errors_after_accepting_leave_a_trade_behind() {
    let venue = venue("errors-after:1");
    assert_eq!(venue.get("/token/wallets").await.status, 200, "only opens are affected");
    assert!(venue.post("/token/trades/open", body("BTCUSDT", "BUY")).await.status.is_server_error());
    assert_eq!(venue.post("/token/trades/open", json!({})).await.status, 400, "a rejection is not affected");
    assert_eq!(trades_behind(&venue).await, 1);
    assert_eq!(venue.switchboard.counts().count(Fault::ErrorsAfter), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hang_is_handled_and_never_answered_and_ends_at_its_bound() {
    let venue = venue("hang:1:20s");
    let started = tokio::time::Instant::now();
    assert!(open_fails(&venue).await);
    assert_eq!(started.elapsed(), Duration::from_secs(20));
    assert_eq!(trades_behind(&venue).await, 1);
}

#[tokio::test]
async fn garbage_is_never_the_document_that_was_asked_for() {
    let venue = venue("garbage:1");
    for _ in 0..10 {
        let answer = venue.get("/token/users/me").await;
        assert_eq!(answer.status, 200);
        let parsed: Option<Value> = serde_json::from_str(&answer.text).ok();
        assert!(parsed.is_none_or(|value| value["id"].is_null()), "{}", answer.text);
    }
    venue.post("/token/trades/open", body("BTCUSDT", "BUY")).await;
    assert_eq!(trades_behind(&venue).await, 1, "a trade exists behind a garbled answer");
}

#[tokio::test]
async fn a_lagging_list_hides_a_new_trade_for_the_span_in_venue_time() {
    let venue = venue("list-lag:1:10s");
    let trade = venue.open("BTCUSDT", "BUY").await;
    let path = format!("/token/trades/{}", trade["id"].as_str().unwrap());
    for (after_ms, seen) in [(0, false), (9_999, false), (10_000, true)] {
        venue.clock.set(NOON + after_ms);
        assert_eq!(venue.full_rows().await.len(), usize::from(seen), "after {after_ms} ms");
        assert_eq!(venue.get(&path).await.status, if seen { 200 } else { 404 });
    }
    venue.clock.set(NOON + 2_000);
    assert_eq!(venue.balance().await, 9_990.0, "the wallet does not lag");
}

#[tokio::test]
async fn a_late_settlement_is_seen_and_paid_the_span_later() {
    let venue = venue("late-settlement:1:30s");
    venue.open("BTCUSDT", "BUY").await;
    let cases = [(66_999, "PENDING", 9_990.0), (96_998, "PENDING", 9_990.0), (96_999, "WON", 10_008.0)];
    for (after_ms, result, balance) in cases {
        venue.clock.set(NOON + after_ms);
        assert_eq!(venue.full_rows().await[0]["result"], result, "after {after_ms} ms");
        assert_eq!(venue.balance().await, balance);
    }
}

#[tokio::test]
async fn a_shuffled_list_still_shows_every_row_and_repeats_some() {
    let venue = venue("none");
    let mut opened = Vec::new();
    for _ in 0..23 {
        opened.push(venue.open("BTCUSDT", "BUY").await["id"].to_string());
    }
    venue.switchboard.set_profile("shuffle".parse().unwrap());
    let listing = async || {
        let (mut rows, mut page) = (Vec::new(), Some(1));
        while let Some(number) = page {
            let listed = venue.get(&format!("/token/trades?page={number}&pageSize=5")).await.json();
            rows.extend(listed["data"].as_array().unwrap().iter().map(|row| row["id"].to_string()));
            page = listed["nextPage"].as_u64();
        }
        rows
    };
    let (one, other) = (listing().await, listing().await);
    assert_ne!(one, other, "each listing has its own order");
    for rows in [one, other] {
        assert!(rows.len() > 23, "rows repeat across pages");
        assert_eq!(BTreeSet::from_iter(rows), BTreeSet::from_iter(opened.clone()), "and none is missing");
    }
}

#[tokio::test]
async fn a_duplicated_row_makes_the_page_longer() {
    let venue = venue("duplicates:1");
    venue.open("BTCUSDT", "BUY").await;
    let page = venue.get("/token/trades").await.json();
    assert_eq!((&page["count"], &page["total"]), (&json!(2), &json!(1)));
    assert_eq!(page["data"][0], page["data"][1]);
}

#[tokio::test]
async fn unknown_values_and_fields_appear_in_good_answers_only() {
    let venue = venue("unknown-values:1");
    let trade = venue.open("BTCUSDT", "BUY").await;
    assert_eq!((&trade["result"], &trade["withBonus"]), (&json!("UNDER_REVIEW"), &json!(false)));
    assert!(trade["reviewedBy"].is_object());
    assert_holds(&trade["wallets"][0], &json!({ "type": "DEMO", "withBonus": false }));
    let wallets = venue.get("/token/wallets").await.json();
    let types: Vec<&Value> = wallets.as_array().unwrap().iter().map(|wallet| &wallet["type"]).collect();
    assert_eq!(types, ["REAL", "DEMO", "UNKNOWN_KIND"]);
    assert_eq!(trade["openTime"], json!(NOON + 2_999), "the open time stays known");
    assert_eq!(venue.post("/token/trades/open", json!({})).await.json()["status"], "error");
    let ok = venue.get(&format!("/symbol-price/last?pair=BTCUSDT&limitTime={}", NOON + 1)).await;
    assert_eq!(ok.text, "OK");
}

#[tokio::test]
async fn an_expired_token_is_refused_for_a_while() {
    let venue = venue("expired-token:1:5s");
    let answer = venue.get("/token/users/me").await;
    assert_eq!((answer.status.as_u16(), &answer.json()["data"]["message"]), (401, &json!("Invalid token")));
    venue.switchboard.set_profile(FaultProfile::none());
    for (after_ms, status) in [(4_999, 401), (5_000, 200)] {
        venue.clock.set(NOON + after_ms);
        assert_eq!(venue.get("/token/users/me").await.status, status, "after {after_ms} ms");
        assert_eq!(venue.get("/symbol-price/default/BTCUSDT").await.status, 200, "the key is still accepted");
    }
}
