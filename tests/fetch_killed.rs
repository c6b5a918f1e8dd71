//! `data fetch` is killed, by SIGKILL, at random moments, and run again: the catalog becomes the one of a run that
//! nobody disturbed.
#![cfg(unix)]

use crate::fetching::{Fixture, seen};
use crate::relay::Relay;
use serde_json::Value;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

const SIGKILL: i32 = 9;
const KILLS: usize = 5;
/// The fewest requests that a run makes before it is killed; candles are kept ten pages at a time.
const FEWEST: u64 = 15;
const SERIES: [&str; 2] = ["BTCUSDT@5s", "ETHUSDT@5s"];
/// 2026-01-05 00:00 UTC.
const MONDAY: i64 = 1_767_571_200_000;
/// Candles of five seconds in a day, the closed hour left out, and the days that are fetched.
const A_DAY: u64 = 17_280 - 720;
const DAYS: u64 = 3;

/// Five days and more of prices that go up and down, with a closed hour every day.
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

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    /// From 0 to below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn fetch(catalog: &str) -> Vec<&str> {
    let what = ["data", "fetch", SERIES[0], SERIES[1], "--from", "2026-01-05", "--to", "2026-01-08"];
    [&what[..], &["--rate", "0", "--limit", "500", "--catalog", catalog, "--json"]].concat()
}

fn hashes(fixture: &Fixture, catalog: &str) -> Vec<Value> {
    let list = fixture.folder.run(&["data", "list", "--catalog", catalog, "--json"]).json();
    list.as_array().unwrap().iter().map(|series| series["data_hash"].clone()).collect()
}

/// Kills as many runs on one new catalog, each when it has made some number of requests, together fewer than the `whole`
/// takes, and the last so many that one of the two series has surely been kept in part. Answers how many candles were there
/// after each.
fn kill_and_restart(fixture: &Fixture, relay: &Relay, whole: u64, seed: u64) -> Vec<u64> {
    let mut dice = Dice(seed);
    let most = whole / (KILLS as u64 + 1);
    let mut there = Vec::new();
    for kill in 1..=KILLS {
        relay.forget();
        let mut command = fixture.folder.command(&fetch("killed"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let requests = if kill == KILLS { most } else { FEWEST + dice.below(most - FEWEST) };
        relay.wait_for(requests as usize, |_| true);
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL), "it is under way");
        // Whatever is there can be read.
        let list = fixture.folder.run(&["data", "list", "--catalog", "killed", "--json"]).json();
        there.push(list.as_array().unwrap().iter().map(|one| one["candles"].as_u64().unwrap()).sum::<u64>());
    }
    there
}

#[test]
fn killed_at_random_moments_a_fetch_ends_as_one_that_was_left_alone() {
    let (bitcoin, ether) = (candles(7), candles(11));
    let fixture = Fixture::new(&[("BTCUSDT_5s.csv", &bitcoin), ("ETHUSDT_5s.csv", &ether)], "latency:1:10ms");
    let (fixture, relay) = seen(fixture);
    let alone = fixture.folder.run(&fetch("alone")).json();
    let sum = |printed: &Value, key: &str| {
        printed["series"].as_array().unwrap().iter().map(|one| one[key].as_u64().unwrap()).sum::<u64>()
    };
    let (total, requests) = (sum(&alone, "new"), sum(&alone, "requests"));
    assert_eq!(total, 2 * DAYS * A_DAY, "{alone}");

    let seed = std::env::var("FETCH_SEED").map_or(1, |seed| seed.parse().unwrap());
    let there = kill_and_restart(&fixture, &relay, requests, seed);
    let last = fixture.folder.run(&fetch("killed")).json();
    let new = sum(&last, "new");
    println!("FETCH_SEED={seed}: after each kill {there:?} of {total}, then {new} more");
    assert!(there.is_sorted() && there[KILLS - 1] > 0, "{there:?}");
    assert_eq!(there[KILLS - 1] + new, total, "what was there did not come again");

    assert_eq!(hashes(&fixture, "killed"), hashes(&fixture, "alone"));
    for (series, served) in SERIES.iter().zip([&bitcoin, &ether]) {
        let exported = fixture.export(series, "killed");
        assert_eq!(exported, fixture.export(series, "alone"), "{series}");
        // Up to the end of the third day, it is what the venue was given.
        let lines = exported.lines().count() as u64;
        assert!(served.starts_with(&exported) && lines == DAYS * A_DAY + 1, "{series}");
    }
}
