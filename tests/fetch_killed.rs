//! `data fetch` is killed, by SIGKILL, at random moments, and run again: the catalog becomes the one of a run that
//! nobody disturbed.
#![cfg(unix)]

use crate::fetching::Fixture;
use candlewick_broker::clock::Stopwatch;
use serde_json::Value;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::Duration;

const SIGKILL: i32 = 9;
const KILLS: usize = 5;
/// On a machine that is sometimes busier than at others, a kill can come too late: then once more, sooner.
const ROUNDS: u32 = 4;
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
    /// From 0 to below 1.
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
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

/// Kills as many runs on one new catalog, each some time after its start. Answers its name, and how many candles were
/// there after each; nothing when a run was over before its time.
fn kill_and_restart(fixture: &Fixture, seed: u64, span: Duration) -> Option<(String, Vec<u64>)> {
    let (mut dice, catalog) = (Dice(seed), format!("killed-{seed}"));
    let mut there = Vec::new();
    for _ in 0..KILLS {
        let mut command = fixture.folder.command(&fetch(&catalog));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Together less than the whole takes, so that each strikes a run that is under way.
        std::thread::sleep(span.mul_f64(0.02 + 0.16 * dice.roll()) + Duration::from_millis(20));
        child.kill().unwrap();
        if child.wait().unwrap().signal() != Some(SIGKILL) {
            return None;
        }
        // Whatever is there can be read.
        let list = fixture.folder.run(&["data", "list", "--catalog", &catalog, "--json"]).json();
        there.push(list.as_array().unwrap().iter().map(|one| one["candles"].as_u64().unwrap()).sum::<u64>());
    }
    Some((catalog, there))
}

#[test]
fn killed_at_random_moments_a_fetch_ends_as_one_that_was_left_alone() {
    let (bitcoin, ether) = (candles(7), candles(11));
    let fixture = Fixture::new(&[("BTCUSDT_5s.csv", &bitcoin), ("ETHUSDT_5s.csv", &ether)], "latency:1:10ms");
    let watch = Stopwatch::start();
    let alone = fixture.folder.run(&fetch("alone")).json();
    let span = watch.elapsed();
    let new = |told: &Value| {
        told["series"].as_array().unwrap().iter().map(|one| one["new"].as_u64().unwrap()).sum::<u64>()
    };
    let total = new(&alone);
    assert_eq!(total, 2 * DAYS * A_DAY, "{alone}");

    let seed = std::env::var("FETCH_SEED").map_or(1, |seed| seed.parse().unwrap());
    let (catalog, there) = (0..ROUNDS)
        .find_map(|round| kill_and_restart(&fixture, seed + u64::from(round), span / 2_u32.pow(round)))
        .expect("a run can be killed five times before it is over");
    let last = fixture.folder.run(&fetch(&catalog)).json();
    println!(
        "FETCH_SEED={seed}: alone in {span:?}; after each kill {there:?} of {total}, then {} more",
        new(&last)
    );
    assert!(there.is_sorted() && there[KILLS - 1] > 0, "{there:?}");
    assert_eq!(there[KILLS - 1] + new(&last), total, "what was there did not come again");

    assert_eq!(hashes(&fixture, &catalog), hashes(&fixture, "alone"));
    for (series, served) in SERIES.iter().zip([&bitcoin, &ether]) {
        let exported = fixture.export(series, &catalog);
        assert_eq!(exported, fixture.export(series, "alone"), "{series}");
        // Up to the end of the third day, it is what the venue was given.
        let lines = exported.lines().count() as u64;
        assert!(served.starts_with(&exported) && lines == DAYS * A_DAY + 1, "{series}");
    }
}
