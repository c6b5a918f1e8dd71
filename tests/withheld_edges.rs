//! Edges that a run cannot prove are withheld, and results name their assumptions.

use crate::candlewick::Folder;
use crate::regimes::{FOLLOW, follower};
use serde_json::{Value, json};

const STRONG: &str = "edge:0.65:5m";

fn follow(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&FOLLOW, more].concat()).json()
}

#[track_caller]
fn check(report: &Value, withheld: &[&str], labels: &[&str]) {
    let edge = &report["edge"];
    assert_eq!(report["verdict"], "exploratory");
    assert_eq!((&edge["withheld"], &edge["labels"]), (&json!(withheld), &json!(labels)));
    assert!(edge["account_for"].as_f64() >= Some(20.0), "{edge}");
}

#[test]
fn names_assumptions_of_an_edge_and_withholds_it_on_coarse_data() {
    let folder = follower(STRONG, "");
    let labels = ["on assumed payout", "hypothesis"];
    check(&follow(&folder, &[]), &[], &labels);
    let coarse = follow(&folder, &["--allow-coarse"]);
    check(&coarse, &["expiries may be shorter than the candles"], &labels);
}

#[test]
fn withholds_an_edge_if_gaps_cancel_more_than_one_percent_of_trades() {
    for (every, is_withheld) in [(2_001, false), (41, true)] {
        let folder = follower(STRONG, "");
        let whole = folder.read("BTCUSDT_5m.csv");
        let kept = whole.lines().enumerate().filter(|(line, _)| *line == 0 || line % every != 0);
        let gappy: String = kept.flat_map(|(_, line)| [line, "\n"]).collect();
        let report = follow(&folder.with("BTCUSDT_5m.csv", &gappy), &[]);
        let trades = report["trades"].as_f64().unwrap();
        let share = report["cancelled"].as_f64().unwrap() / trades;
        assert!(trades > 5_000.0 && share > 0.0 && (share > 0.01) == is_withheld, "{share} of {trades}");
        assert_eq!(report["verdict"], "exploratory");
        assert_eq!(report["edge"]["withheld"].as_array().unwrap().len(), usize::from(is_withheld));
    }
}

#[test]
fn labels_candles_not_fetched_from_the_venue_as_hypothesis() {
    let venue = "https://prices.example";
    for (source, labels) in
        [(venue, &["on assumed payout"][..]), ("https://other.example", &["on assumed payout", "hypothesis"])]
    {
        let folder = follower(STRONG, "").with_variable("CANDLEWICK_BROKER__PRICE_URL", venue);
        let import = format!("data import BTCUSDT_5m.csv --catalog candles --source {source}");
        assert_eq!(folder.run_line(&import).code, 0);
        let stored = folder.run_line("backtest --config bot.toml --catalog candles --json").json();
        check(&stored, &[], labels);
        // The same candles in a file have no source.
        assert_eq!(follow(&folder, &[])["edge"]["labels"][1], "hypothesis");
    }
}
