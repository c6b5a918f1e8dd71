//! `walk-forward`: windows select like sweeps, a resumed walk has the same files, and the hold-out opens once.

use crate::candlewick::{Folder, bot_with};
use crate::sweep::{assert_same, folder};
use serde_json::{Value, json};

pub(crate) const FILES: [&str; 3] = ["windows.csv", "walk-forward.json", "trades.csv"];
const SEARCHED: &str = "--config bot.toml --data BTCUSDT_1m.csv --min-trades 10 --param period=2..5 --param oversold=10..40:10 \
                        --param close_type=01:00,03:00";
const BACKTEST: &str = "backtest --json --config bot.toml --data BTCUSDT_1m.csv";

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
    // These candles have no edge.
    assert_ne!(walk["verdict"], "edge_shown");
}

#[cfg(unix)]
#[test]
fn killed_or_interrupted_walk_resumes_to_the_same_files() {
    use crate::sweep::journalled;
    use crate::sweep_killed::stop_when;
    let folder = folder(4);
    folder.run(&walk(&["--open-hold-out", "--out", "whole"])).json();
    let stopped = walk(&["--open-hold-out", "--out", "stopped", "--threads", "1"]);
    let lines = || -> usize {
        (1..=6).map(|window| journalled(&folder, &format!("stopped/trials-{window:03}.jsonl")).len()).sum()
    };
    // Within the first window, the second, the fourth, and that of the hold-out: 33 lines each.
    for (signal, code, count) in [("KILL", -1, 9), ("INT", 130, 40), ("KILL", -1, 120), ("KILL", -1, 170)] {
        let run = stop_when(&folder, &stopped, signal, || lines() >= count);
        assert_eq!(run.code, code, "{}", run.stderr);
        assert!(!folder.path("stopped/windows.csv").exists(), "{signal} at {count} came too late");
    }
    let before = lines() - 6;
    let resumed = folder.run(&stopped).json();
    assert_eq!((&resumed["resumed"], &resumed["hold_out"]["openings"]), (&json!(before), &json!(1)));
    assert_same(&folder.path("whole"), &folder.path("stopped"), &FILES);
}

#[test]
fn hold_out_opens_once_per_hypothesis_and_again_only_on_demand() {
    let folder = folder(2);
    let open = |more: &[&'static str], out: &'static str| {
        folder.run(&walk(&[more, &["--open-hold-out", "--out", out]].concat()))
    };
    let locked = folder.run(&walk(&[])).json();
    assert_eq!((&locked["hold_out"]["openings"], &locked["hold_out"]["opened"]), (&json!(0), &Value::Null));
    // The trades of the last test settle before the hold-out begins.
    let end = locked["windows"][4]["test"]["to"].as_i64().unwrap();
    assert!(end + 4 * 60_000 <= locked["hold_out"]["from"].as_i64().unwrap());
    let opened = open(&[], "first").json();
    let hold_out = &opened["hold_out"];
    assert_eq!((&hold_out["openings"], &hold_out["opened"]["opened_for_others"]), (&json!(1), &json!(0)));
    assert_eq!(opened["windows"], locked["windows"], "opening the hold-out must not change windows");
    // The same run shows the same results in any folder. A different one is refused, whatever else it changes.
    assert_eq!(open(&[], "second").json()["hold_out"], *hold_out);
    for other in [&["--objective", "expectancy"][..], &["--hold-out", "25"], &["--anchored"]] {
        open(other, "third").fails(5, &["--again"]);
    }
    let report = folder.run(&walk(&["--anchored", "--out", "third"])).json();
    assert_eq!(report["hold_out"]["openings"], 1, "a locked hold-out reports its openings");
    let again = open(&["--anchored", "--again"], "third").json();
    assert_eq!(again["hold_out"]["openings"], 2);
    assert_ne!(again["hold_out"]["opened"]["verdict"], "edge_shown");
}

#[test]
fn refuses_impossible_walks_and_names_the_wrong_value() {
    let folder = folder(1);
    for (more, parts) in [
        (&["--train", "30d", "--test", "7d"][..], &["30.00 d", "7.00 d"][..]),
        (&["--train", "90"], &["90"]),
        (&["--hold-out", "120"], &["90"]),
        (&["--hold-out", "0", "--open-hold-out"], &["held out"]),
        (&["--again"], &["--open-hold-out"]),
        (&["--test", "1m", "--train", "2m"], &["1000"]),
        (&["--param", "perid=2..9"], &["\"perid\""]),
    ] {
        folder.run(&walk(more)).fails(2, parts);
    }
    folder.run(&walk(&[])).json();
    folder.run(&walk(&["--embargo", "10m"])).fails(2, &["differences: walk"]);
}

#[test]
fn each_set_of_a_walk_counts_once_in_later_reports_of_its_strategy() {
    let folder = folder(2);
    // Four periods by four thresholds by two expiries, plus the walk.
    assert_eq!(folder.run(&walk(&[])).json()["variants_tried"], 33);
    let ledger = folder.read(".state/candlewick/variants.jsonl");
    assert_eq!(folder.run(&walk(&["--out", "again"])).json()["variants_tried"], 33);
    assert_eq!(folder.read(".state/candlewick/variants.jsonl"), ledger);
    assert_same(&folder.path("walk-forward"), &folder.path("again"), &FILES);
    // A set of the walk, and one it did not try.
    for (params, count) in [("period = 5, oversold = 20.0", 33), ("period = 9", 34)] {
        std::fs::write(folder.path("bot.toml"), bot_with("rsi-reversal", params)).unwrap();
        assert_eq!(folder.run_line(BACKTEST).json()["variants"]["count"], count, "{params}");
    }
    let lost = self::folder(2).with_variable("CANDLEWICK_VARIANTS__LEDGER", "no/such/folder/x");
    let report = lost.run(&walk(&[])).json();
    assert!(report["uncounted"].is_string() && report["variants_tried"].is_null(), "{report}");
}

#[test]
fn reports_earlier_views_of_a_hold_out_and_ignores_later_ones() {
    let open = |folder: &Folder, out: &'static str| {
        let walk = walk(&["--open-hold-out", "--out", out]);
        folder.run(&walk).json()["hold_out"]["opened"].take()
    };
    let folder = folder(2);
    let clean = open(&folder, "first");
    assert_eq!(clean["looks"], json!([]));
    assert!(clean["looks_unknown"].is_string(), "the ledger begins with it: {clean}");
    let folder = self::folder(2);
    folder.run_line(BACKTEST).json();
    let seen = open(&folder, "first");
    assert!(seen["looks"].to_string().contains("1 backtest"), "{seen}");
    assert_ne!(seen["verdict"], "edge_shown");
    folder.run_line(BACKTEST).json();
    assert_eq!(open(&folder, "second"), seen);
}
