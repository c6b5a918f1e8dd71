//! `walk-forward` as a user runs it: each window chooses as a sweep of its training would, the same after any kill, and the
//! hold-out opens once.

use crate::candlewick::Folder;
use crate::excerpt::MONDAY;
use crate::searched::{BOT, folder};
use serde_json::{Value, json};
use std::path::Path;

const SEARCHED: [&str; 12] = [
    "--config",
    "bot.toml",
    "--data",
    "BTCUSDT_1m.csv",
    "--min-trades",
    "10",
    "--param",
    "period=2..5",
    "--param",
    "oversold=10..40:10",
    "--param",
    "close_type=01:00,03:00",
];

pub(crate) fn walk<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["walk-forward", "--json"].into_iter().chain(SEARCHED).chain(more.iter().copied()).collect()
}

pub(crate) const FILES: [&str; 3] = ["windows.csv", "walk-forward.json", "trades.csv"];

#[track_caller]
fn assert_same(folder: &Folder, one: &str, two: &str) {
    for name in FILES {
        assert!(
            folder.read(&format!("{one}/{name}")) == folder.read(&format!("{two}/{name}")),
            "{name} differs"
        );
    }
}

fn sum(windows: &[Value], key: &str) -> u64 {
    windows.iter().map(|window| window["chosen"]["out_of_sample"][key].as_u64().unwrap()).sum()
}

#[test]
fn every_window_chooses_as_a_sweep_of_its_training_would_and_the_tests_are_joined() {
    let folder = folder(3);
    let run = folder.run(&walk(&["--quiet"]));
    assert_eq!(run.stderr, "");
    let walk = run.json();
    let windows = walk["windows"].as_array().unwrap();
    assert_eq!((windows.len(), &walk["scheme"]), (5, &json!("rolling")));
    for (place, window) in windows.iter().enumerate() {
        // Three minutes, and what comes to them, in whole candles.
        let at = |range: &str, end: &str| window[range][end].as_i64().unwrap();
        assert_eq!(at("test", "from") - at("training", "to"), 4 * 60_000);
        let [from, to] = ["from", "to"].map(|end| at("training", end).to_string());
        let out = format!("sweep-{place}");
        let alone = ["sweep", "--json", "--out", &out, "--from", &from, "--to", &to];
        let best = folder.run(&[&alone[..], &SEARCHED].concat()).json()["best"][0].take();
        let chosen = &window["chosen"];
        assert_eq!((&chosen["parameters"], &chosen["score"]), (&best["parameters"], &best["score"]));
        assert_eq!(chosen["in_sample"], best["figures"], "window {place}");
        let neighbours = &chosen["robustness"];
        assert!((2..=5).contains(&neighbours["neighbours"].as_u64().unwrap()), "{neighbours}");
    }
    let all = &walk["out_of_sample"];
    for key in ["trades", "won", "lost", "draw"] {
        assert_eq!(all[key].as_u64().unwrap(), sum(windows, key), "{key}");
    }
    let trades = folder.read("walk-forward/trades.csv");
    assert_eq!(trades.lines().count() as u64 - 1, all["trades"].as_u64().unwrap());
    let moments: Vec<i64> =
        trades.lines().skip(1).map(|line| line.split(',').nth(6).unwrap().parse().unwrap()).collect();
    assert!(moments.is_sorted() && moments[0] > windows[0]["test"]["from"].as_i64().unwrap());
    let [lower, rate, upper] =
        [&all["win_rate_interval"]["lower"], &all["win_rate"], &all["win_rate_interval"]["upper"]]
            .map(|number| number.as_f64().unwrap());
    assert!(lower < rate && rate < upper && upper < 0.9, "{lower} {rate} {upper}");
    for interval in ["win_rate_interval", "win_rate_wilson"] {
        assert_eq!(all[interval]["assumes"], "independent trades, looked at once");
    }
    // These candles have no edge.
    assert_ne!(walk["verdict"], "edge_shown");
    assert_eq!(folder.read("walk-forward/windows.csv").lines().count(), 6);
    let printed = folder.run(&[&walk_in_words()[..], &["--out", "words"]].concat());
    for part in [
        "verdict",
        "95 % at any look",
        "95 % if looked at once",
        "neighbours of the choices",
        "hold-out",
        "locked",
        "efficiency is the expectancy on the test divided by that in sample",
    ] {
        assert!(printed.stdout.contains(part), "no {part} in:\n{}", printed.stdout);
    }
    assert_same(&folder, "walk-forward", "words");
}

fn walk_in_words() -> Vec<&'static str> {
    ["walk-forward"].into_iter().chain(SEARCHED).collect()
}

#[test]
fn any_number_of_threads_leaves_the_same_files() {
    let folder = folder(2);
    for (place, way) in [
        &["--anchored"][..],
        &["--search", "tpe", "--trials", "12", "--objective", "expectancy", "--open-hold-out"],
        &["--search", "random", "--trials", "16", "--halving", "2", "--rungs", "2", "--embargo", "1h"],
    ]
    .into_iter()
    .enumerate()
    {
        let outs = ["1", "3"].map(|threads| {
            let out = format!("{place}-{threads}");
            folder.run(&[walk(way), vec!["--threads", threads, "--out", &out]].concat()).json();
            out
        });
        assert_same(&folder, &outs[0], &outs[1]);
    }
    // Anchored training begins with the first candle, always.
    let anchored: Value = serde_json::from_str(&folder.read("0-1/walk-forward.json")).unwrap();
    let starts = anchored["windows"].as_array().unwrap().iter().map(|window| &window["training"]["from"]);
    assert!(starts.clone().all(|start| *start == json!(MONDAY)) && starts.count() == 5);
}

/// How many lines the journals of a walk have.
#[cfg(unix)]
fn journalled(folder: &Folder, out: &str) -> usize {
    let lines =
        |path: &Path| std::fs::read(path).map_or(0, |text| text.split(|byte| *byte == b'\n').count() - 1);
    (1..=6).map(|window| lines(&folder.path(&format!("{out}/trials-{window:03}.jsonl")))).sum()
}

#[cfg(unix)]
#[test]
fn a_walk_that_is_killed_or_interrupted_ends_with_the_same_files() {
    let folder = folder(4);
    folder.run(&[walk(&["--open-hold-out"]), vec!["--out", "whole"]].concat()).json();
    let stopped = [walk(&["--open-hold-out"]), vec!["--out", "stopped", "--threads", "1"]].concat();
    // Within the first window, the second, the fourth, and the hold-out's: 33 lines each.
    for (signal, lines) in [("KILL", 9), ("INT", 40), ("KILL", 120), ("KILL", 170)] {
        let mut command = folder.command(&stopped);
        let quiet = std::process::Stdio::null;
        let mut process = command.stdout(quiet()).stderr(quiet()).spawn().unwrap();
        while journalled(&folder, "stopped") < lines {
            assert!(process.try_wait().unwrap().is_none(), "it ended before {lines} lines");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args([format!("-{signal}"), process.id().to_string()]).status().unwrap().success());
        let code = process.wait().unwrap().code();
        assert_eq!(code, (signal == "INT").then_some(130));
        assert!(!folder.path("stopped").join("windows.csv").exists(), "{signal} at {lines} came too late");
    }
    let before = journalled(&folder, "stopped") - 6;
    let resumed = folder.run(&stopped).json();
    assert_eq!(resumed["resumed"], json!(before), "no trial that ran runs again");
    assert_same(&folder, "whole", "stopped");
    assert_eq!(resumed["hold_out"]["openings"], 1);
}

#[test]
fn a_hold_out_opens_once_for_a_hypothesis_and_again_only_where_the_result_says_so() {
    let folder = folder(2);
    let locked = folder.run(&walk(&[])).json();
    assert_eq!(locked["hold_out"]["openings"], 0);
    assert!(locked["hold_out"]["opened"].is_null());
    let end = locked["windows"][4]["test"]["to"].as_i64().unwrap();
    // The trades of the last test settle before it begins.
    assert!(end + 4 * 60_000 <= locked["hold_out"]["from"].as_i64().unwrap());
    let opened = folder.run(&walk(&["--open-hold-out", "--out", "first"])).json();
    let hold_out = &opened["hold_out"];
    assert_eq!((&hold_out["openings"], &hold_out["opened"]["opened_for_others"]), (&json!(1), &json!(0)));
    assert_eq!(opened["windows"], locked["windows"], "opening it changes no window");
    let first = &hold_out["opened"];
    assert_eq!((&first["test"]["from"], &first["test"]["to"]), (&hold_out["from"], &hold_out["to"]));
    assert!(
        first["chosen"]["out_of_sample"]["trades"].as_u64().unwrap() > 20 && first["verdict"].is_string()
    );
    // The same run, in whatever folder, shows the same; another look is refused, whatever is changed for it.
    let repeated = folder.run(&walk(&["--open-hold-out", "--out", "second"])).json();
    assert_eq!(repeated["hold_out"], *hold_out);
    for other in [&["--objective", "expectancy"][..], &["--hold-out", "25"], &["--anchored"]] {
        let again = folder.run(&[walk(other), vec!["--open-hold-out", "--out", "third"]].concat());
        again.fails(5, &["the hold-out was opened once for this hypothesis", "--again"]);
    }
    let report = folder.run(&[walk(&["--anchored"]), vec!["--out", "third"]].concat()).json();
    assert_eq!(report["hold_out"]["openings"], 1, "a walk that leaves it locked says that it was opened");
    let again = ["--anchored", "--open-hold-out", "--again", "--out", "third"];
    let again = folder.run(&walk(&again)).json();
    assert_eq!(again["hold_out"]["openings"], 2);
    assert_ne!(again["hold_out"]["opened"]["verdict"], "edge_shown");
    let words =
        [&walk_in_words()[..], &["--anchored", "--open-hold-out", "--again", "--out", "third"]].concat();
    assert!(folder.run(&words).stdout.contains("NOT its first opening for this hypothesis: number 2"));
    // Other parameters are another hypothesis on candles that were looked at.
    let narrow =
        ["walk-forward", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--open-hold-out"];
    let narrow = [&narrow[..], &["--param", "period=2..4", "--out", "fourth", "--min-trades", "10"]].concat();
    assert_eq!(folder.run(&narrow).json()["hold_out"]["opened"]["opened_for_others"], 2);
    assert_eq!(folder.read(".candlewick/hold-outs.jsonl").lines().count(), 3);
}

#[test]
fn what_cannot_be_walked_is_refused_with_a_way_out() {
    let folder = folder(1);
    let check = |more: &[&str], code: i32, parts: &[&str]| {
        let run = folder.run(&walk(&[more, &["--out", "refused"]].concat()));
        run.fails(code, parts);
    };
    check(&["--train", "30d", "--test", "7d"], 2, &["no window fits", "30.00 d", "7.00 d"]);
    check(&["--train", "90"], 2, &["such as 90d or 12h"]);
    check(&["--hold-out", "120"], 2, &["a percentage from 0 to 90"]);
    check(&["--hold-out", "0", "--open-hold-out"], 2, &["nothing is held out"]);
    check(&["--again"], 2, &["--open-hold-out"]);
    check(&["--test", "1m", "--train", "2m"], 2, &["windows: use at most 1000"]);
    check(&["--param", "perid=2..9"], 2, &["has no parameter \"perid\""]);
    folder.run(&walk(&["--out", "one"])).json();
    let other = folder.run(&walk(&["--out", "one", "--embargo", "10m"]));
    other.fails(2, &["trials of another sweep, which differs in: walk"]);
}

#[test]
fn every_set_that_a_walk_tries_is_counted_once_for_all_later_reports_of_its_idea() {
    let folder = folder(2);
    let walked = folder.run(&walk(&[])).json();
    // Four periods by four thresholds by two expiries, and the walk.
    assert_eq!(walked["variants_tried"], 33);
    let ledger = folder.read("candlewick.variants.jsonl");
    assert_eq!(folder.run(&walk(&["--out", "again"])).json()["variants_tried"], 33);
    assert_eq!(folder.read("candlewick.variants.jsonl"), ledger);
    assert_same(&folder, "walk-forward", "again");
    let backtest = ["backtest", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    // One of the sets, and one that the walk did not try.
    let with = |params: &str| BOT.replace("{ period = 5 }", params);
    for (params, count) in [("{ period = 5, oversold = 20.0 }", 33), ("{ period = 9 }", 34)] {
        std::fs::write(folder.path("bot.toml"), with(params)).unwrap();
        assert_eq!(folder.run(&backtest).json()["variants"]["count"], count, "{params}");
    }
    let off = self::folder(2).with_variable("CANDLEWICK_VARIANTS__LEDGER", "");
    assert_eq!(off.run(&walk(&[])).json()["variants_tried"], Value::Null);
    let lost = off.with_variable("CANDLEWICK_VARIANTS__LEDGER", "no/such/folder/x");
    let report = lost.run(&walk(&["--out", "lost"])).json();
    assert!(report["uncounted"].is_string() && report["variants_tried"].is_null(), "{report}");
}

#[test]
fn a_hold_out_is_the_same_under_another_name_and_an_earlier_look_withholds_an_edge() {
    let folder = folder(2);
    let clean = folder.run(&walk(&["--open-hold-out", "--out", "first"])).json();
    assert_eq!(clean["hold_out"]["opened"]["looks"], json!([]));
    // The same candles under another name, the first one left out.
    let candles = folder.read("BTCUSDT_1m.csv");
    let (head, rows) = candles.split_once('\n').unwrap();
    let renamed = format!("{head}\n{}", rows.split_once('\n').unwrap().1);
    let bot = folder.read("bot.toml").replace("BTCUSDT", "MINE");
    let folder = folder.with("mine.csv", &renamed).with("mine.toml", &bot);
    let named: Vec<&str> = walk(&["--open-hold-out", "--out", "second"])
        .into_iter()
        .map(|text| match text {
            "bot.toml" => "mine.toml",
            "BTCUSDT_1m.csv" => "MINE@1m=mine.csv",
            other => other,
        })
        .collect();
    folder.run(&named).fails(5, &["the hold-out was opened once for this hypothesis"]);
    // Another range of parameters opens it, and says what looked at it before.
    let other: Vec<&str> =
        named.iter().map(|text| if *text == "period=2..5" { "period=2..4" } else { text }).collect();
    let opened = folder.run(&other).json();
    let looks = opened["hold_out"]["opened"]["looks"].to_string();
    assert!(looks.contains("looked at with this strategy before: 1 opening of a hold-out"), "{looks}");

    let folder = self::folder(2);
    let backtest = ["backtest", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    folder.run(&backtest).json();
    let opened = folder.run(&walk(&["--open-hold-out", "--out", "first"])).json();
    let hold_out = &opened["hold_out"]["opened"];
    assert!(hold_out["looks"].to_string().contains("before: 1 backtest"), "{hold_out}");
    assert_ne!(hold_out["verdict"], "edge_shown");
    // It shows what it showed, whatever looks at it later.
    folder.run(&backtest).json();
    let again = folder.run(&walk(&["--open-hold-out", "--out", "second"])).json();
    assert_eq!(again["hold_out"], opened["hold_out"]);

    // Another strategy's look may be this idea's under another name: it is said, and withholds nothing.
    let other = BOT.replace("rsi-reversal", "ema-cross").replace("params = { period = 5 }", "");
    let folder = self::folder(2).with("other.toml", &other);
    folder.run(&["backtest", "--json", "--config", "other.toml", "--data", "BTCUSDT_1m.csv"]).json();
    let hold_out = self::opened(&folder, &walk(&["--open-hold-out", "--out", "first"]));
    let unknown = hold_out["looks_unknown"].as_str().unwrap();
    assert!(unknown.contains("with other strategies before: ema-cross (1 look)"), "{hold_out}");
    assert_eq!(hold_out["looks"], json!([]));
}

/// What a walk says of the hold-out that it opens.
fn opened(folder: &Folder, arguments: &[&str]) -> Value {
    folder.run(arguments).json()["hold_out"]["opened"].take()
}

#[test]
fn a_look_at_a_hold_out_is_found_where_variants_are_not_counted_or_counted_elsewhere() {
    let ledger = |folder: Folder, name: &str| folder.with_variable("CANDLEWICK_VARIANTS__LEDGER", name);
    let wide = walk(&["--open-hold-out", "--out", "wide"]);
    // Another range of parameters, another name, and one candle less.
    let narrow: Vec<&str> = walk(&["--open-hold-out", "--out", "narrow"])
        .into_iter()
        .map(|text| match text {
            "period=2..5" => "period=2..4",
            "BTCUSDT_1m.csv" => "MINE@1m=mine.csv",
            "bot.toml" => "mine.toml",
            other => other,
        })
        .collect();
    let named = |folder: Folder| {
        let candles = folder.read("BTCUSDT_1m.csv");
        let (head, rows) = candles.split_once('\n').unwrap();
        let bot = folder.read("bot.toml").replace("BTCUSDT", "MINE");
        folder
            .with("mine.csv", &format!("{head}\n{}", rows.split_once('\n').unwrap().1))
            .with("mine.toml", &bot)
    };
    let off = ledger(named(folder(2)), "");
    let first = opened(&off, &wide);
    assert!(first["looks"].to_string().contains("is not known: variants are not counted"), "{first}");
    for look in ["", "new.jsonl"] {
        let off = ledger(named(folder(2)), "");
        off.run(&wide).json();
        let second = opened(&ledger(off, look), &narrow);
        assert!(second["looks"].to_string().contains("for other hypotheses: 1 opening"), "{second}");
    }
    // The first of all says that it is.
    let new = named(folder(2));
    let first = opened(&new, &wide);
    assert_eq!(first["looks"], json!([]));
    assert!(first["looks_unknown"].as_str().unwrap().contains("the ledger of variants begins"), "{first}");
    assert_eq!(opened(&new, &wide), first, "shown again");
    // A backtest that another ledger of the same project knows.
    let other = ledger(named(folder(2)), "other.jsonl");
    other.run(&["backtest", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"]).json();
    let found = opened(&ledger(other, "new.jsonl"), &narrow);
    assert!(found["looks"].to_string().contains("before: 1 backtest"), "{found}");
    assert_eq!(found["looks_unknown"], Value::Null);
}
