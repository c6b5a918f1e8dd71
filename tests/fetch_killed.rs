//! `data fetch`, killed at random moments and repeated, fills the catalog like an undisturbed run.
#![cfg(unix)]

use crate::excerpt::MONDAY;
use crate::fetching::{Fixture, with_relay};
use crate::relay::Relay;
use serde_json::Value;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

const SIGKILL: i32 = 9;
const KILLS: u64 = 5;
/// Minimum number of requests before a kill; candles are stored ten pages at a time.
const MIN_REQUESTS: u64 = 15;
const SERIES: [&str; 2] = ["BTCUSDT@5s", "ETHUSDT@5s"];
/// Five-second candles of a day with one closed hour.
const CANDLES_A_DAY: u64 = 17_280 - 720;
const DAYS: u64 = 3;

fn candles(seed: i64) -> String {
    let mut text = String::from("time,open,high,low,close,volume\n");
    for index in (0..5 * 17_280 + 1_000).filter(|index| index % 17_280 >= 720) {
        let price = |index: i64| 1_000 + (index * seed) % 97 - (index * index) % 89;
        let (open, close) = (price(index), price(index + 1));
        let (low, high) = (open.min(close), open.max(close));
        let _ = writeln!(text, "{},{open},{high},{low},{close},{index}", MONDAY + index * 5_000);
    }
    text
}

fn fetch(catalog: &str) -> Vec<&str> {
    let what = ["data", "fetch", SERIES[0], SERIES[1], "--from", "2026-01-05", "--to", "2026-01-08"];
    [&what[..], &["--rate", "0", "--limit", "500", "--catalog", catalog, "--json"]].concat()
}

fn listed(fixture: &Fixture, catalog: &str) -> Vec<Value> {
    let list = fixture.folder.run(&["data", "list", "--catalog", catalog, "--json"]).json();
    list.as_array().unwrap().clone()
}

fn sum(series: &[Value], key: &str) -> u64 {
    series.iter().map(|one| one[key].as_u64().unwrap()).sum()
}

/// Kills runs on one catalog, and returns the number of stored candles after each kill. Together they make fewer
/// requests than a `whole` run; the last one always stores part of a series.
fn kill_and_restart(fixture: &Fixture, relay: &Relay, whole: u64, mut seed: u64) -> Vec<u64> {
    let most = whole / (KILLS + 1);
    let mut stored = Vec::new();
    for kill in 1..=KILLS {
        relay.forget();
        let mut command = fixture.folder.command(&fetch("killed"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = MIN_REQUESTS + (seed >> 33) % (most - MIN_REQUESTS);
        let requests = if kill == KILLS { most } else { random };
        relay.wait_for(requests as usize, |_| true);
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL), "the fetch is still running");
        stored.push(sum(&listed(fixture, "killed"), "candles"));
    }
    stored
}

#[test]
fn repeatedly_killed_fetch_ends_with_the_same_candles() {
    let (bitcoin, ether) = (candles(7), candles(11));
    let fixture = Fixture::new(&[("BTCUSDT_5s.csv", &bitcoin), ("ETHUSDT_5s.csv", &ether)], "latency:1:10ms");
    let (fixture, relay) = with_relay(fixture);
    let run = |to: &str| fixture.folder.run(&fetch(to)).json()["series"].as_array().unwrap().clone();
    let alone = run("alone");
    let (total, requests) = (sum(&alone, "new"), sum(&alone, "requests"));
    assert_eq!(total, 2 * DAYS * CANDLES_A_DAY);
    let seed = std::env::var("FETCH_SEED").map_or(1, |seed| seed.parse().unwrap());
    let stored = kill_and_restart(&fixture, &relay, requests, seed);
    let last = stored[stored.len() - 1];
    assert!(stored.is_sorted() && last > 0, "{stored:?} of seed {seed}");
    assert_eq!(last + sum(&run("killed"), "new"), total, "stored candles were fetched again: {seed}");
    let hashes = |catalog| -> Vec<Value> {
        listed(&fixture, catalog).iter().map(|series| series["data_hash"].clone()).collect()
    };
    assert_eq!(hashes("killed"), hashes("alone"));
    for (series, served) in SERIES.iter().zip([&bitcoin, &ether]) {
        let exported = fixture.export(series, "killed");
        assert_eq!(exported, fixture.export(series, "alone"), "{series}");
        let lines = exported.lines().count() as u64;
        assert!(served.starts_with(&exported) && lines == DAYS * CANDLES_A_DAY + 1, "{series}");
    }
}
