//! `tune` as a user without Rust runs it: a planted edge is shown, and held by the hold-out; on candles without one it says so; what is
//! missing or broken is told with the command that mends it; what is stopped goes on.

use crate::candlewick::{Folder, Run};
use serde_json::{Value, json};

/// Follows the candle before, or the run of candles before.
const FOLLOW: &str = r#"
about = "Follows the last candles."
buy = "rising(close, candles)"
sell = "falling(close, candles)"
[parameters]
candles = { default = 1, min = 1, max = 3 }
"#;

/// The same as it stands, without a parameter.
const FIXED: &str = "buy = \"close > open\"\nsell = \"close < open\"\n";

/// A folder with the rule and twenty days of five-minute candles in which each goes the way of the one before it so often.
fn folder(rule: &str, regime: &str) -> Folder {
    let folder = Folder::new().with("my.toml", rule);
    let generated = folder.run(&[
        "data",
        "generate",
        "--symbol",
        "BTCUSDT",
        "--interval",
        "5m",
        "--days",
        "20",
        "--regime",
        regime,
        "--seed",
        "3",
    ]);
    assert_eq!(generated.code, 0, "{}", generated.stderr);
    folder
}

fn tune(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["tune", "my.toml", "--data", "BTCUSDT_5m.csv"], more].concat())
}

fn next(report: &Value) -> String {
    report["next"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_planted_edge_is_shown_and_then_held_by_the_hold_out() {
    let folder = folder(FOLLOW, "edge:0.66:5m");
    let shown = tune(&folder, &["--json", "--quiet"]);
    assert_eq!(shown.stderr, "");
    let shown = shown.json();
    assert_eq!(shown["conclusion"], "edge_shown", "{shown:#}");
    assert!(next(&shown).contains("--open-hold-out"), "{shown:#}");
    assert_eq!(shown["walk_forward"]["hold_out"]["openings"], 0);
    assert_eq!(shown["bot"]["searched"], json!(["candles"]));
    assert_eq!((&shown["sweep"]["trials"], &shown["sweep"]["search"]), (&json!(3), &json!("grid")));
    // The sweep has not seen the hold-out: with what lies between, its candles end before it.
    let from = shown["walk_forward"]["hold_out"]["from"].as_i64().unwrap();
    let windows = shown["walk_forward"]["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 5);
    assert!(windows[4]["test"]["to"].as_i64().unwrap() < from);
    assert!(windows.iter().all(|window| window["training"]["from"] == windows[0]["training"]["from"]));
    assert!(!folder.path(".candlewick/hold-outs.jsonl").exists(), "nothing was opened");

    let held = tune(&folder, &["--open-hold-out", "--html", "page.html"]);
    assert_eq!(held.code, 0, "{}", held.stderr);
    for part in [
        "rules on BTCUSDT@5m: The edge held",
        "live --sandbox --config tune/best.toml --speed max --until-end --journal",
        "checks hold",
        "opened 20",
    ] {
        assert!(held.stdout.contains(part), "no {part} in:\n{}", held.stdout);
    }
    let report: Value = serde_json::from_str(&folder.read("tune/report.json")).unwrap();
    assert_eq!(report["conclusion"], "edge_held");
    let opened = &report["walk_forward"]["hold_out"]["opened"];
    // What is tried on the hold-out is the best set of the sweep, found on the very same candles.
    assert_eq!(opened["chosen"]["parameters"], report["sweep"]["best"][0]["parameters"]);
    assert_eq!(opened["chosen"]["in_sample"], report["sweep"]["best"][0]["figures"]);
    assert_eq!(report["sweep"]["resumed"], 3, "what had run is not run again");
    assert_eq!(report["walk_forward"]["hold_out"]["openings"], 1);
    let page = folder.read("page.html");
    for part in ["The edge held", "<li>let it trade the sandbox", "id=\"windows\"", "id=\"best\""] {
        assert!(page.contains(part), "no {part} in the page");
    }
    // The best set trades as it stands.
    let best = ["backtest", "--config", "tune/best.toml", "--json", "--quiet"];
    assert!(folder.run(&best).json()["trades"].as_u64().unwrap() > 100);
    // That was a look at the hold-out: of another search it is said before anything is opened.
    let seen = tune(&folder, &["--out", "seen", "--param", "candles=1..2", "--json"]).json();
    assert_eq!(seen["conclusion"], "edge_shown", "{seen:#}");
    let words = seen["words"].as_str().unwrap();
    assert!(words.contains("not unseen") && words.contains("1 backtest"), "{words}");
    assert!(next(&seen).contains("candles that nobody has looked at"), "{seen:#}");
    // It stands among the steps as well, whatever these come to.
    let other = tune(&folder, &["--out", "seen", "--param", "candles=1..2"]).stdout;
    assert!(other.contains("hold-out seen before"), "{other}");
    // The same command shows the same again; another rule on the same candles begins anew beside it.
    let again = tune(&folder, &["--open-hold-out", "--json"]).json();
    assert_eq!(
        (&again["conclusion"], &again["walk_forward"]["hold_out"]),
        (&report["conclusion"], &report["walk_forward"]["hold_out"])
    );
    std::fs::write(folder.path("my.toml"), FOLLOW.replace("max = 3", "max = 2")).unwrap();
    assert_eq!(tune(&folder, &["--json"]).json()["sweep"]["trials"], 2);
}

#[test]
fn on_candles_without_an_edge_it_says_so_and_keeps_the_hold_out_locked() {
    let folder = folder(FOLLOW, "random-walk");
    let run = tune(&folder, &["--open-hold-out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for part in [
        "rules on BTCUSDT@5m: No edge",
        "There is nothing here to trade",
        "change the idea",
        "the hold-out stays locked",
    ] {
        assert!(run.stdout.contains(part), "no {part} in:\n{}", run.stdout);
    }
    let report: Value = serde_json::from_str(&folder.read("tune/report.json")).unwrap();
    assert_eq!(
        (&report["conclusion"], &report["walk_forward"]["verdict"]),
        (&json!("no_edge"), &json!("edge_rejected"))
    );
    assert_eq!(report["walk_forward"]["hold_out"]["openings"], 0);
    assert!(!folder.path(".candlewick/hold-outs.jsonl").exists(), "nothing was opened");
    assert!(folder.read("tune/report.html").contains("<h2>No edge</h2>"));
}

/// Of one-minute candles of EURUSD some trades draw when prices are rounded to 0.00001, as they are without a configuration.
#[test]
fn the_best_set_has_the_same_figures_in_a_backtest() {
    let folder = Folder::new().with("my.toml", FOLLOW);
    let generated = folder.run(&["data", "generate", "--symbol", "EURUSD", "--days", "5", "--seed", "3"]);
    assert_eq!(generated.code, 0, "{}", generated.stderr);
    let report = folder.run(&["tune", "my.toml", "--data", "EURUSD_1m.csv", "--json"]).json();
    let steps = "[simulation.ticks] EURUSD = 0.00001 for the same figures";
    assert!(report["notices"].to_string().contains(steps), "{report:#}");
    let best = &report["sweep"]["best"][0]["figures"];
    assert!(best["draw"].as_i64() > Some(0), "no trade draws, which would be the same without steps: {best}");
    let until = report["walk_forward"]["hold_out"]["from"].to_string();
    let again = folder.run(&["backtest", "--config", "tune/best.toml", "--to", &until, "--json"]).json();
    for figure in ["trades", "won", "lost", "draw", "pnl"] {
        assert_eq!(again[figure], best[figure], "{figure}");
    }
    assert!(!again["notices"].to_string().contains("[simulation.ticks]"), "{}", again["notices"]);
}

#[test]
fn a_rule_without_parameters_is_tested_as_it_stands() {
    for (regime, expected) in [("edge:0.66:5m", "edge_shown"), ("random-walk", "no_edge")] {
        let folder = folder(FIXED, regime);
        let run = tune(&folder, &["--json"]);
        let report = run.json();
        assert!(run.stderr.contains("sweep: skipped"), "{}", run.stderr);
        assert_eq!((&report["conclusion"], &report["sweep"]), (&json!(expected), &Value::Null), "{report:#}");
        assert_eq!(report["bot"]["searched"], json!([]));
        // One sixth trains nobody; the five others are tests.
        let windows = report["walk_forward"]["windows"].as_array().unwrap();
        let length = |range: &Value| range["to"].as_i64().unwrap() - range["from"].as_i64().unwrap();
        assert_eq!((windows.len(), length(&windows[0]["training"])), (5, length(&windows[0]["test"])));
        assert!(folder.read("tune/best.toml").contains("file = \"my.toml\""));
        assert!(tune(&folder, &[]).stdout.contains("skipped: there is no parameter with a range"));
    }
}

#[test]
fn an_edge_on_a_payout_that_nobody_pays_is_withheld() {
    let folder = folder(FIXED, "edge:0.66:5m").with("p.toml", "[simulation]\npayout_percent = 185\n");
    let run = tune(&folder, &["--config", "p.toml"]);
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["Edge shown, but withheld", "a payout of 185 % is assumed, and above 100 % a coin toss earns"]
    {
        assert!(words.contains(part), "no {part} in:\n{}{}", run.stdout, run.stderr);
    }
    let report: Value = serde_json::from_str(&folder.read("tune/report.json")).unwrap();
    assert_eq!(report["conclusion"], "edge_withheld", "{report:#}");
}

#[test]
fn candles_that_are_missing_or_broken_are_told_with_the_command_that_mends_it() {
    let folder = Folder::new().with("my.toml", FOLLOW);
    let commands =
        ["candlewick data fetch BTCUSDT@1m", "candlewick data import FILE --symbol BTCUSDT --interval 1m"];
    let check = |arguments: &[&str], code: i32, parts: &[&str]| {
        folder.run(&[&["tune"], arguments].concat()).fails(code, parts);
    };
    check(&["my.toml"], 3, &[&["the catalog data is empty"][..], &commands].concat());
    check(
        &["my.toml", "--data", "BTCUSDT_1m.csv"],
        3,
        &[&["there is no file BTCUSDT_1m.csv"][..], &commands].concat(),
    );
    check(&["my.toml", "--data", "BTCUSDT@1m"], 3, &commands);
    let euro = ["data", "generate", "--symbol", "EURUSD", "--days", "1", "--catalog", "data"];
    assert_eq!(folder.run(&euro).code, 0);
    check(&["my.toml"], 3, &[&["the catalog data holds EURUSD@1m"][..], &commands].concat());
    // The built-in example bots are nobody's idea.
    check(&[], 2, &["there is no bot to tune", "candlewick tune rule.toml"]);
    // A mistake in the rule is told before any candle is asked for.
    let folder = folder.with("my.toml", "buy = \"rsy(14) < 30\"\n");
    folder.run(&["tune", "my.toml"]).fails(3, &["my.toml, line 1", "did you mean `rsi`?"]);
    let spoiled = ["data", "generate", "--symbol", "BTCUSDT", "--days", "2", "--bad-rows", "9", "--out", "."];
    assert_eq!(folder.run(&spoiled).code, 0);
    let folder = folder.with("my.toml", FOLLOW);
    let broken = folder.run(&["tune", "my.toml", "--data", "BTCUSDT_1m.csv"]);
    broken.fails(3, &["the candles are not sound", "candlewick data check BTCUSDT_1m.csv", "--fix"]);
    // Too few candles for windows.
    let few = ["data", "generate", "--symbol", "ETHUSDT", "--interval", "1h", "--days", "1", "--out", "."];
    assert_eq!(folder.run(&few).code, 0);
    folder
        .run(&["tune", "my.toml", "--data", "ETHUSDT_1h.csv"])
        .fails(3, &["give at least", "before the hold-out: bring more"]);
    // Whatever part of the rule it is that takes so many is named, with what takes fewer.
    let folder = folder.with("my.toml", "buy = \"rsi(5) < 30 and close > ema(50)@12h\"\n");
    let parts = ["`ema(50)@12h` needs", "candles of 1h", "`sma(50)@12h` only 612"];
    let data = ["--data", "EURUSD_1h.csv"];
    let long = ["data", "generate", "--symbol", "EURUSD", "--interval", "1h", "--days", "20", "--out", "."];
    assert_eq!(folder.run(&long).code, 0);
    folder.run(&[&["tune", "my.toml"][..], &data].concat()).fails(3, &parts);
    let check = ["strategy", "check", "rules", "--param", "file=my.toml"];
    folder.run(&[&check[..], &data].concat()).fails(3, &[&["twice the warm-up"][..], &parts].concat());
    let run = folder.run(&[&["backtest", "--rules", "my.toml"][..], &data].concat());
    let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    // A short one is not worth a line.
    let folder = folder.with("my.toml", "buy = \"close > sma(2)\"\n");
    let run = folder.run(&[&["backtest", "--rules", "my.toml"][..], &data].concat());
    assert!(!run.stdout.contains("`sma(2)` needs"), "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn stopped_or_killed_it_goes_on_and_ends_with_the_same_results() {
    let rule = FOLLOW.replace("candles, ", "").replace("max = 3", "max = 40");
    let folder = folder(&rule, "edge:0.66:5m");
    let whole = tune(&folder, &["--json", "--out", "whole", "--threads", "1"]).json();
    let arguments =
        ["tune", "my.toml", "--data", "BTCUSDT_5m.csv", "--json", "--out", "stopped", "--threads", "1"];
    let lines = || {
        let trials = std::fs::read_dir(folder.path("stopped")).into_iter().flatten().flatten();
        let walk = |entry: std::fs::DirEntry| {
            ["sweep/trials.jsonl", "walk-forward/trials-001.jsonl", "walk-forward/trials-004.jsonl"]
                .map(|name| {
                    std::fs::read_to_string(entry.path().join(name)).map_or(0, |text| text.lines().count())
                })
                .iter()
                .sum::<usize>()
        };
        trials.map(walk).sum::<usize>()
    };
    for (signal, many) in [("KILL", 10), ("INT", 60), ("KILL", 100)] {
        let mut command = folder.command(&arguments);
        let quiet = std::process::Stdio::null;
        let mut process = command.stdout(quiet()).stderr(quiet()).spawn().unwrap();
        while lines() < many {
            assert!(process.try_wait().unwrap().is_none(), "it ended before {many} lines");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args([format!("-{signal}"), process.id().to_string()]).status().unwrap().success());
        assert_eq!(process.wait().unwrap().code(), (signal == "INT").then_some(130));
        assert!(!folder.path("stopped/report.json").exists(), "{signal} at {many} came too late");
    }
    let resumed = folder.run(&arguments).json();
    assert_eq!(resumed["sweep"]["resumed"], 40, "{resumed:#}");
    assert!(resumed["walk_forward"]["resumed"].as_u64().unwrap() > 40);
    for part in ["conclusion", "words", "next", "candles"] {
        assert_eq!(resumed[part], whole[part], "{part}");
    }
    for part in ["best", "luck"] {
        assert_eq!(resumed["sweep"][part], whole["sweep"][part], "{part}");
    }
    for part in ["windows", "edge", "hold_out", "out_of_sample"] {
        assert_eq!(resumed["walk_forward"][part], whole["walk_forward"][part], "{part}");
    }
}

/// Eight losses in a row are one in 256 on candles of chance, so that the gate leaves a handful of trades of thousands of signals.
#[test]
fn of_a_gate_that_leaves_too_few_trades_it_says_so_and_what_helps() {
    let bot = "[[bots]]\nname = \"gated\"\nsymbol = \"BTCUSDT\"\ninterval = \"5m\"\nstrategy = \"combine\"\nclose_type = \"05:00\"\n\
               [bots.params]\nfirst_of = [{ name = \"rule\", strategy = \"rules\", params = { file = \"my.toml\" } }]\n\
               gate = { after_virtual_losses = 8 }\n";
    for (rule, is_searched) in [(FIXED, false), (FOLLOW, true)] {
        let folder = folder(rule, "random-walk").with("bot.toml", bot);
        let tune = ["tune", "--config", "bot.toml", "--data", "BTCUSDT_5m.csv"];
        let run = folder.run(&tune);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let report: Value = serde_json::from_str(&folder.read("tune/report.json")).unwrap();
        assert_eq!(report["conclusion"], "not_enough_trades", "{report:#}");
        let gate = &report["gate"];
        let (signals, traded) = (gate["signals"].as_u64().unwrap(), gate["traded"].as_u64().unwrap());
        assert!(signals > 1_000 && traded < 40, "{gate}");
        let refused = signals - traded;
        let row = format!("{traded} of {signals} signals were traded, {refused} refused by the closed gate");
        let cause = format!(
            "The gate is the cause: before the hold-out it let {traded} of {signals} signals be traded"
        );
        for part in [
            &row,
            &cause,
            "tune the rule without its gate first",
            "or loosen the gate",
            "not searched, since they only choose",
        ] {
            assert!(run.stdout.contains(part), "no {part} in:\n{}", run.stdout);
        }
        // More candles, and those of a venue at that, are no help.
        assert!(!next(&report).contains("data fetch"), "{}", next(&report));
        assert_eq!(report["bot"]["searched"], if is_searched { json!(["rule.candles"]) } else { json!([]) });
        // The next step that it names is there to be run, whether or not a set counted.
        let best = folder.run(&["config", "check", "--config", "tune/best.toml"]);
        assert_eq!(best.code, 0, "{}", best.stderr);
    }
}

#[test]
fn where_more_candles_would_come_from_is_said_by_where_these_came_from() {
    let folder = folder("buy = \"crosses_above(rsi(14), 80)\"\n", "random-walk");
    let of_file = tune(&folder, &["--json"]).json();
    assert_eq!(of_file["conclusion"], "not_enough_trades", "{of_file:#}");
    assert!(
        next(&of_file).contains("name a longer file than") && next(&of_file).contains("--data BTCUSDT@5m"),
        "{}",
        next(&of_file)
    );
    let made = ["data", "generate", "--symbol", "BTCUSDT", "--interval", "5m", "--days", "20", "--catalog"];
    assert_eq!(folder.run(&made).code, 0);
    let of_catalog =
        folder.run(&["tune", "my.toml", "--data", "BTCUSDT@5m", "--out", "made", "--json"]).json();
    assert!(next(&of_catalog).contains("these candles are made by chance"), "{}", next(&of_catalog));

    std::fs::rename(folder.path("data"), folder.path("kept")).unwrap();
    let elsewhere =
        ["tune", "my.toml", "--data", "BTCUSDT@5m", "--catalog", "kept", "--out", "kept-tune", "--quiet"];
    assert_eq!(folder.run(&elsewhere).code, 0);
    folder.run(&["backtest", "--config", "kept-tune/best.toml", "--json", "--quiet"]).json();
}
