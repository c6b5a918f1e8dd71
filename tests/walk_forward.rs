//! `walk-forward`: windows select like sweeps, and a resumed walk has the same files.

use crate::sweep::folder;
use serde_json::{Value, json};

pub(crate) const FILES: [&str; 3] = ["windows.csv", "walk-forward.json", "trades.csv"];
const SEARCHED: &str = "--config bot.toml --data BTCUSDT_1m.csv --min-trades 10 --param period=2..5 --param oversold=10..40:10 \
                        --param close_type=01:00,03:00";

pub(crate) fn walk<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let start = ["walk-forward", "--json"].into_iter();
    start.chain(SEARCHED.split(' ')).chain(more.iter().copied()).collect()
}

#[test]
fn each_window_selects_like_a_sweep_of_its_training_span_and_tests_are_joined() {
    let folder = folder(3);
    let run = folder.run(&walk(&["--quiet"]));
    assert_eq!(run.stderr, "");
    let walk = run.json();
    let windows = walk["windows"].as_array().unwrap();
    assert_eq!((windows.len(), &walk["scheme"]), (5, &json!("rolling")));
    for (index, window) in windows.iter().enumerate() {
        let [from, to] = [&window["training"]["from"], &window["training"]["to"]];
        let alone = format!("sweep --json --out sweep-{index} --from {from} --to {to} {SEARCHED}");
        let best = folder.run_line(&alone).json()["best"][0].take();
        let chosen = &window["chosen"];
        assert_eq!((&chosen["parameters"], &chosen["score"]), (&best["parameters"], &best["score"]));
        assert_eq!(chosen["in_sample"], best["figures"], "window {index}");
    }
    let all = &walk["out_of_sample"];
    for key in ["trades", "won", "lost", "draw"] {
        let of_window = |window: &Value| window["chosen"]["out_of_sample"][key].as_u64().unwrap();
        assert_eq!(all[key], windows.iter().map(of_window).sum::<u64>(), "{key}");
    }
    let trades = folder.read("walk-forward/trades.csv");
    let moments: Vec<i64> =
        trades.lines().skip(1).map(|line| line.split(',').nth(6).unwrap().parse().unwrap()).collect();
    assert_eq!(all["trades"], moments.len());
    assert!(moments.is_sorted() && moments[0] > windows[0]["test"]["from"].as_i64().unwrap());
    assert!(walk["edge"]["shown"].is_null(), "these candles have no edge: {}", walk["edge"]);
}

#[cfg(unix)]
#[test]
fn killed_or_interrupted_walk_resumes_to_the_same_files() {
    use crate::sweep::{assert_same, journalled};
    use crate::sweep_killed::stop_when;
    let folder = folder(4);
    folder.run(&walk(&["--out", "whole"])).json();
    let stopped = walk(&["--out", "stopped", "--threads", "1"]);
    let lines = || -> usize {
        (1..=5).map(|window| journalled(&folder, &format!("stopped/trials-{window:03}.jsonl")).len()).sum()
    };
    // Within the first window, the second, the fourth and the fifth: 33 lines each.
    for (signal, code, count) in [("KILL", -1, 9), ("INT", 130, 40), ("KILL", -1, 120), ("KILL", -1, 137)] {
        let run = stop_when(&folder, &stopped, signal, || lines() >= count);
        assert_eq!(run.code, code, "{}", run.stderr);
        assert!(!folder.path("stopped/windows.csv").exists(), "{signal} at {count} came too late");
    }
    let before = lines() - 5;
    assert_eq!(folder.run(&stopped).json()["resumed"], json!(before));
    assert_same(&folder.path("whole"), &folder.path("stopped"), &FILES);
}

#[test]
fn refuses_impossible_walks_and_names_the_wrong_value() {
    let folder = folder(1);
    for (more, parts) in [
        (&["--train", "30d", "--test", "7d"][..], &["30.00 d", "7.00 d"][..]),
        (&["--train", "90"], &["90"]),
        (&["--test", "1m", "--train", "2m"], &["1000"]),
        (&["--param", "perid=2..9"], &["\"perid\""]),
    ] {
        folder.run(&walk(more)).fails(2, parts);
    }
    folder.run(&walk(&[])).json();
    folder.run(&walk(&["--embargo", "10m"])).fails(2, &["differences: walk"]);
}
