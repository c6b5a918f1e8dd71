//! Variants that were tried: how reports count them, and how they withhold an edge.

use crate::candlewick::{BACKTEST, Folder, candles, folder_with_bot};
use crate::regimes::{FOLLOW, follower};
use serde_json::{Value, json};

const LEDGER: &str = "candlewick.variants.jsonl";

fn backtest(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&BACKTEST[..], &["--json"], more].concat()).json()
}

fn count_of(folder: &Folder, more: &[&str]) -> u64 {
    let report = backtest(folder, more);
    report["variants"]["count"].as_u64().unwrap_or_else(|| panic!("{report}"))
}

fn finding<'a>(report: &'a Value, kind: &str) -> Option<&'a Value> {
    report["findings"].as_array().unwrap().iter().find(|finding| finding["kind"] == kind)
}

#[test]
fn each_variant_counts_once_and_the_report_corrects_for_all() {
    let folder = folder_with_bot("01:00", "05:00");
    assert_eq!(count_of(&folder, &[]), 1);
    let once = folder.read(LEDGER);
    assert_eq!(count_of(&folder, &[]), 1);
    assert_eq!(folder.read(LEDGER), once);
    let other = folder.with("other.toml", "[risk]\nmax_trades_per_hour = 1\n");
    let report = backtest(&other, &["--config", "other.toml"]);
    assert_eq!(report["variants"]["count"], 2);
    for kind in ["many_variants", "in_sample_only"] {
        assert!(finding(&report, kind).is_some(), "{kind}: {report}");
    }
    if let Some(p_value) = report["p_value"].as_f64() {
        let corrected = report["variants"]["p_value_bonferroni"].as_f64().unwrap();
        assert!((corrected - (2.0 * p_value).min(1.0)).abs() < 1e-12);
    }
}

#[test]
fn variants_that_are_not_counted_are_a_finding() {
    let off = folder_with_bot("01:00", "05:00").with_variable("CANDLEWICK_VARIANTS__LEDGER", "");
    let report = backtest(&off, &[]);
    assert!(report.get("variants").is_none() && !off.path(LEDGER).exists());
    assert!(finding(&report, "variants_unknown").is_some(), "{report}");
    let swept = off.run(&[&["sweep", "--json"], &BACKTEST[1..], &["--param", "period=2..3"]].concat()).json();
    assert!(swept["variants_tried"].is_null(), "{swept}");
    let lost = off.with_variable("CANDLEWICK_VARIANTS__LEDGER", "no/such/folder/x");
    let report = backtest(&lost, &[]);
    assert!(report["notices"].to_string().contains("not counted"), "{}", report["notices"]);
    assert!(finding(&report, "variants_unknown").is_some(), "{report}");
}

#[test]
fn an_edge_that_the_best_of_many_variants_shows_by_luck_is_withheld() {
    let alone = follower("edge:0.58:5m", "").run(&FOLLOW).json();
    assert_eq!((&alone["verdict"], &alone["variants"]["count"]), (&json!("edge_shown"), &json!(1)));
    // More variants than the evidence of this edge allows, in a line of an earlier version.
    let others: Vec<String> = (0..200_000).map(|name| format!("[\"{name:016x}\",null,null]")).collect();
    let ledger = format!(
        "{{\"key\":\"0123456789abcdef\",\"strategy\":\"signal-list\",\"symbols\":[\"ETHUSDT\"],\"interval\":\"5m\",\
         \"from\":0,\"to\":9,\"variants\":[{}]}}\n",
        others.join(",")
    );
    let report = follower("edge:0.58:5m", "").with(LEDGER, &ledger).run(&FOLLOW).json();
    assert_eq!(report["verdict"], "not_enough_trades");
    assert_eq!(report["variants"]["count"], 200_001);
    assert!(report["edge"]["withheld"][0].as_str().unwrap().contains("200001 variants"), "{report}");
}

#[test]
fn a_lost_ledger_withholds_an_edge_from_then_on() {
    for damage in [Some(""), Some("{}\n"), None] {
        let folder = follower("edge:0.58:5m", "");
        assert_eq!(folder.run(&FOLLOW).json()["variants"]["is_first"], true);
        match damage {
            Some(text) => std::fs::write(folder.path(LEDGER), text).unwrap(),
            None => std::fs::remove_file(folder.path(LEDGER)).unwrap(),
        }
        for _ in 0..2 {
            let report = folder.run(&FOLLOW).json();
            assert_eq!(report["verdict"], "not_enough_trades");
            let withheld = report["edge"]["withheld"].to_string();
            assert!(withheld.contains("variants unknown"), "{withheld}");
            assert_eq!(finding(&report, "variants_unknown").unwrap()["severity"], "serious");
        }
    }
}

fn open_time(candle: usize) -> String {
    candles(50).lines().nth(1 + candle).unwrap().split(',').next().unwrap().to_owned()
}

/// Returns a folder with a bot that trades a list with a signal at every other candle, so that trades may be open at the end of
/// any part of the candles.
fn list(close_type: &str) -> Folder {
    let bot = "[simulation]\nlatency_ms = 0\nopen_rounding = \"none\"\n[account]\ninitial_balance = 10000\n[[bots]]\nname = \"a\"\n\
               symbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"signal-list\"\nparams = { file = \"list.csv\" }\n";
    let list = (1..25).map(|index| format!("{},BTCUSDT,BUY\n", open_time(2 * index - 1)));
    let list = list.fold("time,symbol,direction\n".to_owned(), |text, row| text + &row);
    Folder::new().with("bot.toml", &format!("{bot}close_type = \"{close_type}\"\n")).with("list.csv", &list)
}

/// Returns the candles at these indices.
fn part(range: std::ops::Range<usize>) -> String {
    let all = candles(50);
    let rows: Vec<&str> = all.split_inclusive('\n').collect();
    rows[0].to_owned() + &rows[1..][range].concat()
}

#[test]
fn chosen_candles_are_variants_and_candles_that_were_added_are_not() {
    let mut folder = list("01:00");
    let (from, to) = (open_time(7), open_time(40));
    for (candles, more, count) in [
        (0..30, &[] as &[&str], 1),
        (0..50, &[], 1),
        (0..50, &["--from", &from], 2),
        (0..50, &["--to", &to], 3),
        (0..50, &["--to", &to], 3),
        (3..50, &[], 4),
        // Without the last candles, after a run that has seen them.
        (0..45, &[], 5),
    ] {
        folder = folder.with("BTCUSDT_1m.csv", &part(candles.clone()));
        assert_eq!(count_of(&folder, more), count, "{candles:?} {more:?}");
    }
}

#[test]
fn a_strategy_is_one_variant_however_its_candles_grow() {
    for close_type in ["01:00", "03:00"] {
        let mut folder = list(close_type);
        for end in 20..=50 {
            folder = folder.with("BTCUSDT_1m.csv", &part(0..end));
            assert_eq!(count_of(&folder, &[]), 1, "{close_type} {end}");
        }
    }
}

#[test]
fn a_strategy_that_was_rewritten_while_its_candles_grew_is_another_variant() {
    for (is_rewritten, variants, sets) in [(false, 1, 3), (true, 2, 4)] {
        let folder = list("01:00").with("BTCUSDT_1m.csv", &part(0..40));
        assert_eq!(count_of(&folder, &[]), 1);
        // The default state knows what was noted.
        let state = if is_rewritten { "new" } else { ".candlewick" };
        let mut folder = folder
            .with("BTCUSDT_1m.csv", &candles(50))
            .with("state.toml", &format!("[data]\nstate = \"{state}\"\n"));
        if is_rewritten {
            // A program of the same name and version that traded otherwise.
            let noted = folder.read(LEDGER);
            let (before, trades) = noted.trim_end().trim_end_matches("\"]]}").rsplit_once('"').unwrap();
            assert_eq!(trades.len(), 16);
            folder = folder.with(LEDGER, &format!("{before}\"{}\"]]}}\n", "0".repeat(16)));
        }
        for _ in 0..2 {
            assert_eq!(count_of(&folder, &["--config", "state.toml"]), variants);
        }
        let search = ["--config", "state.toml", "--param", "close_type=01:00,02:00,03:00", "--out"];
        for out in ["first", "again"] {
            let swept = [&["sweep", "--json"], &BACKTEST[1..], &search, &[out]].concat();
            assert_eq!(folder.run(&swept).json()["variants_tried"], sets, "{out}");
        }
    }
}
