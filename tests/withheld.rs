//! An edge that a run cannot prove is not said to be shown, and what a result assumes stands beside it.

use crate::candlewick::Folder;
use crate::regimes::{FOLLOW, follower};
use serde_json::{Value, json};

/// So strong an edge that every run below would show it.
const STRONG: &str = "edge:0.65:5m";

fn follow(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&FOLLOW, more].concat()).json()
}

/// What is said of the run: the verdict, why it is withheld, what is assumed.
fn said(report: &Value) -> (&Value, &Value, &Value) {
    (&report["verdict"], &report["edge"]["withheld"], &report["edge"]["labels"])
}

#[test]
fn an_edge_is_shown_with_what_is_assumed_and_withheld_on_coarse_data() {
    let folder = follower(STRONG, "");
    let labels = json!(["on assumed payout", "hypothesis"]);
    assert_eq!(said(&follow(&folder, &[])), (&json!("edge_shown"), &json!([]), &labels));
    let coarse = follow(&folder, &["--allow-coarse"]);
    let why = json!(["expiries may be shorter than the candles"]);
    assert_eq!(said(&coarse), (&json!("not_enough_trades"), &why, &labels));
    // Withheld is not unseen: the account has what it needs.
    assert!(coarse["edge"]["account_for"].as_f64() >= Some(20.0), "{}", coarse["edge"]);
    let printed = folder.run(&FOLLOW[..5]).stdout;
    let line = printed.lines().next().unwrap();
    assert!(line.starts_with("verdict: edge shown after trade "), "{line}");
    assert!(line.ends_with(". Caveats: payout assumed; prices not from this venue"), "{line}");
}

/// The candles without every so many-th one.
fn gappy(folder: Folder, every: usize) -> Folder {
    let whole = folder.read("BTCUSDT_5m.csv");
    let kept = whole.lines().enumerate().filter(|(line, _)| *line == 0 || line % every != 0);
    let gappy: String = kept.flat_map(|(_, line)| [line, "\n"]).collect();
    folder.with("BTCUSDT_5m.csv", &gappy)
}

#[test]
fn an_edge_is_withheld_when_gaps_call_off_more_than_one_trade_in_a_hundred() {
    for (every, is_withheld) in [(2_001, false), (41, true)] {
        let report = follow(&gappy(follower(STRONG, ""), every), &[]);
        let trades = report["trades"].as_f64().unwrap();
        let share = report["cancelled"].as_f64().unwrap() / trades;
        assert!(trades > 5_000.0 && share > 0.0 && (share > 0.01) == is_withheld, "{share} of {trades}");
        let verdict = if is_withheld { "not_enough_trades" } else { "edge_shown" };
        let why = format!("{:.1} % of the trades were cancelled for gaps", 100.0 * share);
        let why = if is_withheld { json!([why]) } else { json!([]) };
        assert_eq!((&report["verdict"], &report["edge"]["withheld"]), (&json!(verdict), &why));
    }
}

#[test]
fn only_candles_that_were_fetched_from_the_venue_are_no_hypothesis() {
    let venue = "https://prices.example";
    for (source, labels) in [
        (venue, json!(["on assumed payout"])),
        ("https://other.example", json!(["on assumed payout", "hypothesis"])),
    ] {
        let folder = follower(STRONG, "").with_variable("CANDLEWICK_BROKER__PRICE_URL", venue);
        let import = ["data", "import", "BTCUSDT_5m.csv", "--catalog", "candles", "--source", source];
        let run = folder.run(&import);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let stored = ["backtest", "--config", "bot.toml", "--catalog", "candles", "--json"];
        let report = folder.run(&stored).json();
        assert_eq!(said(&report), (&json!("edge_shown"), &json!([]), &labels), "{source}");
        // The same candles in a file do not say whose they are.
        assert_eq!(follow(&folder, &[])["edge"]["labels"][1], "hypothesis");
    }
}
