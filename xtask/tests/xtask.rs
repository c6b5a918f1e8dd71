//! Maintainer commands run as processes. `bench` also needs the workspace's `candlewick` binary.
#![allow(clippy::unwrap_used, reason = "a failed command or a missing key fails the test")]

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, command: &str) -> Output {
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    xtask.args(command.split(' ')).current_dir(folder).env_clear().env("HOME", folder);
    xtask.output().unwrap()
}

fn document(command: &str) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), command);
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    assert!(!folder.path().join("candlewick.db").exists(), "the user's journal was written");
    (serde_json::from_slice(&output.stdout).unwrap(), log)
}

fn is_positive(value: &Value) -> bool {
    value.as_f64().is_some_and(|figure| figure > 0.0)
}

#[test]
fn bench_measures_each_work_and_the_whole_process() {
    let (figures, _) = document("bench --candles 20000 --rounds 1 --json");
    let works = figures["works"].as_array().unwrap();
    let decisions: Vec<_> = works.iter().map(|work| work["decisions"].as_u64().unwrap()).collect();
    // The third workload has ten bots on each of ten symbols that share candles. The others have one bot.
    assert_eq!(decisions, [20_000, 20_000, 200_000, 20_000]);
    for work in works {
        assert!(work["trades"].as_u64() > Some(100), "{work}");
        for figure in ["/backtest_ns/median", "/by_hand_ns/minimum", "/ratio", "/ratio_of_minima"] {
            assert!(is_positive(work.pointer(figure).unwrap()), "{figure} of {work}");
        }
        let [most, book, per_bot] =
            ["most_bytes", "book_bytes", "bytes_per_bot"].map(|name| work["memory"][name].as_f64().unwrap());
        assert!(most > book && book > 0.0, "{work}");
        assert!((per_bot * work["bots"].as_f64().unwrap() - (most - book)).abs() < 1.0, "{work}");
    }
    assert!(!figures["processor"]["model"].as_str().unwrap().is_empty(), "{figures}");
    assert_eq!(figures["process"]["candles"], 20_160);
    for figure in ["/backtest/median_ms", "/backtest/peak_mib", "/by_hand/minimum_ms", "/by_hand/peak_mib"] {
        assert!(is_positive(figures["process"].pointer(figure).unwrap()), "{figure} of {figures}");
    }
}

#[test]
fn selftest_matches_the_recorded_document() {
    let command = "selftest --paths 12 --seed 1 --json";
    let (mut found, _) = document(command);
    assert_eq!(found["passed"], true);
    let worlds = found["worlds"].as_array_mut().unwrap();
    // Break-even at a payout of 85 % is 1 / 1.85, and an edge of 0.04 per unit of stake 1.04 / 1.85.
    let expected = [(0.540_541, 1), (0.540_541, 3), (0.562_162, 1), (0.590_541, 1), (0.5, 1)];
    for (world, (planted, bots)) in worlds.iter_mut().zip(expected) {
        assert!((world["planted"].as_f64().unwrap() - planted).abs() < 1e-6, "{world}");
        // Two days with a trade every second minute.
        assert_eq!(world["trades"], 12 * bots * 2 * 720, "{world}");
        for promise in world["promises"].as_array_mut().unwrap() {
            promise["promise"] = "<text>".into();
        }
    }
    found["elapsed_ms"] = "<volatile>".into();
    let recorded: Value =
        serde_json::from_str(include_str!("../../tests/golden/base/selftest.json")).unwrap();
    assert_eq!(recorded["commands"], json!([{ "code": 0, "command": command, "stdout": found }]));
}

#[test]
fn selftest_paths_depend_on_the_seed() {
    let worlds =
        |seed: u64| document(&format!("selftest --paths 3 --seed {seed} --json")).0["worlds"].clone();
    assert_eq!(worlds(5), worlds(5));
    assert_ne!(worlds(5), worlds(6));
}

#[test]
#[cfg(unix)]
fn drill_notices_and_survives_every_failure() {
    let (drill, log) = document("drill --json");
    let scenes = drill["scenes"].as_array().unwrap();
    assert_eq!(scenes.len(), 5);
    for (scene, event, metric) in [
        (&scenes[0], "venue_silent", "candlewick_venue_heard"),
        (&scenes[1], "in_doubt", "candlewick_doubts_open"),
        (&scenes[2], "suspended", "candlewick_phase{phase=\"suspended\"}"),
    ] {
        assert!(scene["events"][event].as_u64() > Some(0), "{event}: {scene:#}");
        assert!(scene["seen"]["metrics"][metric].is_number(), "{metric}: {scene:#}");
    }
    for scene in scenes {
        assert_eq!(scene["held"], true, "{scene:#}");
        assert!(log.contains(&format!("  {}\n", scene["happened"].as_str().unwrap())), "{log}");
    }
    let promises = drill["promises"].as_array().unwrap();
    assert!(promises.len() == 5 && promises.iter().all(|promise| promise["held"] == true), "{drill:#}");
    let [intents, trades] = ["intents", "trades"].map(|name| drill[name].as_u64().unwrap());
    assert!(trades > 4 && intents >= trades, "{drill:#}");
    let found = |index: usize| promises[index]["found"].as_str().unwrap();
    assert!(found(0).contains(&format!("for {intents} intents")), "{drill:#}");
    assert!(found(1).starts_with(&format!("{trades} trades there, {trades} here")), "{drill:#}");
    assert!(!log.contains("WARN"), "{log}");
}

#[test]
fn unknown_work_fails_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "bench --profile nothing");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no work has \"nothing\" in its name"));
}
