//! Tried variants: reports count them, and they withhold an edge.

use crate::candlewick::{BACKTEST, Folder, folder_with_bot};
use crate::regimes::{FOLLOW, follower};
use serde_json::{Value, json};

const LEDGER: &str = ".state/candlewick/variants.jsonl";
/// Ledger of earlier versions.
const EARLIER_LEDGER: &str = "candlewick.variants.jsonl";

fn backtest(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&BACKTEST[..], &["--json"], more].concat()).json()
}

fn count_variants(folder: &Folder, more: &[&str]) -> u64 {
    let report = backtest(folder, more);
    report["variants"]["count"].as_u64().unwrap_or_else(|| panic!("{report}"))
}

fn finding<'a>(report: &'a Value, kind: &str) -> Option<&'a Value> {
    report["findings"].as_array().unwrap().iter().find(|finding| finding["kind"] == kind)
}

#[test]
fn each_variant_counts_once_and_the_report_corrects_for_all() {
    let folder = folder_with_bot("01:00", "05:00");
    assert_eq!(count_variants(&folder, &[]), 1);
    let once = folder.read(LEDGER);
    assert_eq!(count_variants(&folder, &[]), 1);
    assert_eq!(folder.read(LEDGER), once);
    let other = folder.with("other.toml", "[risk]\nmax_trades_per_hour = 1\n");
    let report = backtest(&other, &["--config", "other.toml"]);
    assert_eq!(report["variants"]["count"], 2);
    for kind in ["many_variants", "in_sample_only"] {
        assert!(finding(&report, kind).is_some(), "{kind}: {report}");
    }
}

#[test]
fn reports_uncounted_variants_as_a_finding() {
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
fn withholds_a_lucky_edge_of_the_best_of_many_variants() {
    let alone = follower("edge:0.58:5m", "").run(&FOLLOW).json();
    assert_eq!((&alone["verdict"], &alone["variants"]["count"]), (&json!("edge_shown"), &json!(1)));
    // More variants than the evidence of this edge allows, in a line of an earlier version.
    let others: Vec<String> = (0..200_000).map(|name| format!("[\"{name:016x}\",null,null]")).collect();
    let ledger = format!(
        "{{\"key\":\"0123456789abcdef\",\"strategy\":\"signal-list\",\"symbols\":[\"ETHUSDT\"],\"interval\":\"5m\",\
         \"from\":0,\"to\":9,\"variants\":[{}]}}\n",
        others.join(",")
    );
    let report = follower("edge:0.58:5m", "").with(EARLIER_LEDGER, &ledger).run(&FOLLOW).json();
    assert_eq!(report["verdict"], "not_enough_trades");
    assert_eq!(report["variants"]["count"], 200_001);
    assert!(report["edge"]["withheld"][0].as_str().unwrap().contains("200001 variants"), "{report}");
}

#[test]
fn lost_ledger_withholds_every_later_edge() {
    let folder = follower("edge:0.58:5m", "");
    assert_eq!(folder.run(&FOLLOW).json()["variants"]["is_first"], true);
    std::fs::remove_file(folder.path(LEDGER)).unwrap();
    for _ in 0..2 {
        let report = folder.run(&FOLLOW).json();
        assert_eq!(report["verdict"], "not_enough_trades");
        let withheld = report["edge"]["withheld"].to_string();
        assert!(withheld.contains("variants unknown"), "{withheld}");
        assert_eq!(finding(&report, "variants_unknown").unwrap()["severity"], "serious");
    }
}
