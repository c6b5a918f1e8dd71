//! A venue that retains few trades behaves like one that retains all.

use crate::harness::{NOON, Premises, TestVenue, block_on, body};
use axum::http::StatusCode;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PAIRS: [&str; 3] = ["BTCUSDT", "ETHUSDT", "EURUSD"];
const DURATIONS: [&str; 3] = ["01:00", "02:00", "05:00"];
const FAULTS: [&str; 2] = ["none", "late-settlement:0.4:40s,list-lag:0.4:90s"];

type Step = (i64, Option<(usize, bool, usize)>);

fn venue_of(keep_trades: u32, faults: &str) -> TestVenue {
    let mut premises = Premises::with_faults(faults);
    premises.settings.keep_trades = keep_trades;
    premises.venue()
}

fn is_over(row: &Value) -> bool {
    row["status"] == "COMPLETED" || row["status"] == "CANCELLED"
}

fn id_of(row: &Value) -> &str {
    row["id"].as_str().unwrap()
}

async fn step_both(venues: [&TestVenue; 2], now: i64, order: Option<(usize, bool, usize)>) {
    for venue in venues {
        venue.clock.set(now);
    }
    let Some((pair, up, duration)) = order else { return };
    let mut order = body(PAIRS[pair], if up { "BUY" } else { "SELL" });
    order["closeType"] = json!(DURATIONS[duration]);
    let [one, other] = venues.map(|venue| venue.post("/token/trades/open", order.clone()));
    assert_eq!(one.await.text, other.await.text);
}

async fn compare(forgetful: &TestVenue, other: &TestVenue, keep: usize, ended: &BTreeMap<String, usize>) {
    let (rows, all) = (forgetful.full_rows().await, other.full_rows().await);
    let (kept, forgotten): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|row| rows.contains(row));
    assert!(rows.iter().eq(kept.iter().copied()), "the same rows, in the same order");
    let over: Vec<&Value> = kept.iter().copied().filter(|row| is_over(row)).collect();
    assert_eq!(over.len(), keep.min(over.len() + forgotten.len()), "as many ended trades as configured");
    let since = |row: &&Value| ended[id_of(row)];
    assert!(forgotten.iter().all(|row| is_over(row)), "open trades are never forgotten");
    assert!(forgotten.iter().map(since).max() <= over.iter().map(since).min(), "oldest first");
    let unknown = other.get("/token/trades/01ARZ3NDEKTSV4RRFFQ69G5FAV").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    for row in &all {
        let path = format!("/token/trades/{}", id_of(row));
        let (answer, reference) = (forgetful.get(&path).await, other.get(&path).await);
        if forgotten.contains(&row) {
            assert_eq!((answer.status, &answer.json()["data"]), (unknown.status, &unknown.json()["data"]));
        } else {
            assert_eq!((answer.status, answer.text), (StatusCode::OK, reference.text));
        }
    }
    assert_eq!(forgetful.balance().await.to_bits(), other.balance().await.to_bits());
}

async fn play(keep: usize, faults: &str, steps: Vec<Step>) -> usize {
    let (forgetful, other) = (venue_of(u32::try_from(keep).unwrap(), faults), venue_of(1_000_000, faults));
    let (mut now, mut over_since) = (NOON, BTreeMap::new());
    for (step, (pause, order)) in steps.into_iter().enumerate() {
        now += pause;
        step_both([&forgetful, &other], now, order).await;
        for row in other.full_rows().await.iter().filter(|row| is_over(row)) {
            over_since.entry(id_of(row).to_owned()).or_insert(step);
        }
        compare(&forgetful, &other, keep, &over_since).await;
    }
    other.full_rows().await.len() - forgetful.full_rows().await.len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn forgotten_trades_look_unknown(
        keep in 1_usize..6,
        faults in prop::sample::select(&FAULTS[..]),
        steps in prop::collection::vec(
            (0_i64..60_000, prop::option::weighted(0.8, (0_usize..3, any::<bool>(), 0_usize..3))), 1..30,
        ),
    ) {
        block_on(play(keep, faults, steps));
    }
}

#[test]
fn retains_two_of_forty_trades() {
    let mut steps: Vec<Step> = (0..40).map(|step| (20_000, Some((0, step % 3 == 0, 0)))).collect();
    steps.push((5 * 60_000, None));
    for faults in FAULTS {
        assert_eq!(block_on(play(2, faults, steps.clone())), 38, "{faults}");
    }
}
