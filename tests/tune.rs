//! `tune`: conclusions, inconclusive candles and gates, and a stopped run that resumes.

use crate::candlewick::{Folder, Run};
use crate::regimes::generate_market;
use serde_json::json;

const FOLLOW: &str = r#"
about = "Follows the last candles."
buy = "rising(close, candles)"
sell = "falling(close, candles)"
[parameters]
candles = { default = 1, min = 1, max = 3 }
"#;

const FIXED: &str = "buy = \"close > open\"\nsell = \"close < open\"\n";

fn folder(rule: &str, regime: &str) -> Folder {
    let candles = generate_market("BTCUSDT_5m.csv", &format!("--days 20 --seed 3 --regime {regime}"));
    Folder::new().with("my.toml", rule).with("BTCUSDT_5m.csv", &candles)
}

fn tune(folder: &Folder, more: &str) -> Run {
    folder.run_line(&format!("tune my.toml --data BTCUSDT_5m.csv --json {more}"))
}

#[test]
fn promising_bot_has_a_page_and_a_next_step() {
    let folder = folder(FOLLOW, "edge:0.66:5m");
    let report = tune(&folder, "--html page.html").json();
    assert_eq!(report["conclusion"], "promising", "{report:#}");
    assert!(report["next"].to_string().contains("candlewick confirm"), "{report:#}");
    let page = folder.read("page.html");
    assert!(page.contains("id=\"windows\"") && page.contains("id=\"best\""));
    assert!(folder.run_line("backtest --config tune/best.toml --json").json()["trades"].as_u64() > Some(100));
    // The same candles, which are now recognized as synthetic.
    let generate =
        "data generate --symbol BTCUSDT --interval 5m --days 20 --seed 3 --force --regime edge:0.66:5m";
    assert_eq!(folder.run_line(generate).code, 0);
    let next = tune(&folder, "").json()["next"].to_string();
    assert!(next.contains("data fetch") && !next.contains("confirm"), "{next}");
    let folder = folder.with("my.toml", &FOLLOW.replace("max = 3", "max = 2"));
    assert_eq!(tune(&folder, "").json()["sweep"]["trials"], 2, "another rule is another search");
}

#[test]
fn concludes_from_the_walk_forward_tests() {
    for (rule, regime, more, conclusion) in [
        (FOLLOW, "random-walk", "", "no_edge"),
        (FIXED, "random-walk", "", "no_edge"),
        (FIXED, "edge:0.66:5m", "", "promising"),
        // Real payouts never exceed the stake.
        (FIXED, "edge:0.66:5m", "--config payout.toml", "edge_withheld"),
    ] {
        let folder = folder(rule, regime).with("payout.toml", "[simulation]\npayout_percent = 185\n");
        let report = tune(&folder, more).json();
        assert_eq!(report["conclusion"], conclusion, "{report:#}");
        assert_eq!(report["sweep"].is_null(), rule == FIXED, "nothing to search");
    }
}

/// Some trades draw if prices are rounded to 0.00001, the default without a configuration.
#[test]
fn best_set_has_the_same_figures_in_a_backtest() {
    let folder = Folder::new().with("my.toml", FOLLOW);
    assert_eq!(folder.run_line("data generate --symbol EURUSD --days 5 --seed 3").code, 0);
    let report = folder.run_line("tune my.toml --data EURUSD_1m.csv --json").json();
    let best = &report["sweep"]["best"][0]["figures"];
    assert!(best["draw"].as_i64() > Some(0), "without draws, rounding changes nothing: {best}");
    let again = folder.run_line("backtest --config tune/best.toml --json").json();
    for figure in ["trades", "won", "lost", "draw", "pnl"] {
        assert_eq!(again[figure], best[figure], "{figure}");
    }
}

#[test]
fn names_missing_and_broken_candles_and_suggests_a_command() {
    let folder = Folder::new()
        .with("my.toml", FOLLOW)
        .with("wrong.toml", "buy = \"rsy(14) < 30\"\n")
        .with("long.toml", "buy = \"rsi(5) < 30 and close > ema(50)@12h\"\n");
    let fetch = ["data fetch BTCUSDT@1m", "data import FILE --symbol BTCUSDT --interval 1m"];
    for data in ["", "--data BTCUSDT_1m.csv", "--data BTCUSDT@1m"] {
        folder.run_line(&format!("tune my.toml {data}")).fails(3, &fetch);
    }
    for candles in [
        "--symbol EURUSD --days 1 --catalog data",
        "--symbol BTCUSDT --days 2 --bad-rows 9 --out bad",
        "--symbol ETHUSDT --interval 1h --days 1 --out .",
        "--symbol EURUSD --interval 1h --days 20 --out .",
    ] {
        assert_eq!(folder.run_line(&format!("data generate {candles}")).code, 0, "{candles}");
    }
    for (arguments, code, parts) in [
        ("tune my.toml", 3, &["EURUSD@1m", fetch[0], fetch[1]][..]),
        ("tune", 2, &["tune rule.toml"]),
        ("tune wrong.toml", 3, &["wrong.toml, line 1", "`rsi`"]),
        ("tune my.toml --data bad/BTCUSDT_1m.csv", 3, &["data check", "--fix"]),
        ("tune my.toml --data ETHUSDT_1h.csv", 3, &["provide at least"]),
        ("tune long.toml --data EURUSD_1h.csv", 3, &["`ema(50)@12h`"]),
        ("strategy check rules --param file=long.toml --data EURUSD_1h.csv", 3, &["`ema(50)@12h`"]),
    ] {
        folder.run_line(arguments).fails(code, parts);
    }
}

#[cfg(unix)]
#[test]
fn stopped_run_resumes_to_the_same_results() {
    use crate::sweep_killed::stop_when;
    let rule = FOLLOW.replace("candles, ", "").replace("max = 3", "max = 40");
    let folder = folder(&rule, "edge:0.66:5m");
    let whole = tune(&folder, "--out whole --threads 1").json();
    let line = "tune my.toml --data BTCUSDT_5m.csv --json --out stopped --threads 1";
    let arguments: Vec<&str> = line.split(' ').collect();
    let lines = || -> usize {
        let searches = std::fs::read_dir(folder.path("stopped")).into_iter().flatten().flatten();
        let names = ["sweep/trials.jsonl", "walk-forward/trials-001.jsonl", "walk-forward/trials-004.jsonl"];
        let files = searches.flat_map(|search| names.map(|name| search.path().join(name)));
        files.map(|file| std::fs::read_to_string(file).map_or(0, |text| text.lines().count())).sum()
    };
    for (signal, code, count) in [("KILL", -1, 10), ("INT", 130, 60), ("KILL", -1, 100)] {
        assert_eq!(stop_when(&folder, &arguments, signal, || lines() >= count).code, code);
        assert!(!folder.path("stopped/report.json").exists(), "{signal} at {count} came too late");
    }
    let resumed = folder.run(&arguments).json();
    assert_eq!(resumed["sweep"]["resumed"], 40, "{resumed:#}");
    assert!(resumed["walk_forward"]["resumed"].as_u64() > Some(40));
    let pointers = "/conclusion /candles /sweep/best /sweep/luck /walk_forward/windows /walk_forward/edge \
                    /walk_forward/out_of_sample";
    for pointer in pointers.split_whitespace() {
        assert_eq!(resumed.pointer(pointer), whole.pointer(pointer), "{pointer}");
    }
}

/// On random candles, eight losses in a row have a probability of 1/256.
#[test]
fn blames_a_strict_gate_instead_of_suggesting_more_candles() {
    let bot = "[[bots]]\nname = \"gated\"\nsymbol = \"BTCUSDT\"\ninterval = \"5m\"\nstrategy = \"combine\"\nclose_type = \"05:00\"\n\
               [bots.params]\nfirst_of = [{ name = \"rule\", strategy = \"rules\", params = { file = \"my.toml\" } }]\n\
               gate = { after_virtual_losses = 8 }\n";
    for (rule, searched) in [(FIXED, json!([])), (FOLLOW, json!(["rule.candles"]))] {
        let folder = folder(rule, "random-walk").with("bot.toml", bot);
        let report = folder.run_line("tune --config bot.toml --data BTCUSDT_5m.csv --json").json();
        assert_eq!(report["conclusion"], "not_enough_trades", "{report:#}");
        let gate = &report["gate"];
        assert!(gate["signals"].as_u64() > Some(1_000), "{gate}");
        assert!(gate["traded"].as_u64().is_some_and(|traded| traded < 40), "{gate}");
        let next = report["next"].to_string();
        assert!(next.contains("gate") && !next.contains("data fetch"), "{next}");
        assert_eq!(report["bot"]["searched"], searched);
        assert_eq!(folder.run_line("config check tune/best.toml").code, 0);
    }
}

#[test]
fn best_set_of_a_catalog_in_another_folder_runs() {
    let folder = Folder::new().with("my.toml", FIXED);
    let generate = "data generate --symbol BTCUSDT --interval 5m --days 20 --catalog kept";
    assert_eq!(folder.run_line(generate).code, 0);
    folder.run_line("tune my.toml --data BTCUSDT@5m --catalog kept --json").json();
    folder.run_line("backtest --config tune/best.toml --json").json();
}
