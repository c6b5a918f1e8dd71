//! What is found of a run beside its figures: findings, sensitivity, and the variants that were tried.

use crate::candlewick::{BACKTEST, Folder, folder_with_bot};
use crate::regimes::{FOLLOW, follower};
use serde_json::{Value, json};

const LEDGER: &str = "candlewick.variants.jsonl";

fn backtest(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&BACKTEST[..], &["--json"], more].concat()).json()
}

fn kinds(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

#[test]
fn a_report_shows_what_it_is_made_of() {
    let folder = folder_with_bot("01:00", "05:00");
    let report = backtest(&folder, &[]);
    let trades = report["trades"].as_u64().unwrap();
    for breakdown in report["breakdowns"].as_array().unwrap() {
        let cells = breakdown["cells"].as_array().unwrap();
        let sum: u64 = cells.iter().map(|cell| cell["trades"].as_u64().unwrap()).sum();
        assert_eq!(sum, trades, "{breakdown}");
    }
    let last = report["equity"].as_array().unwrap().last().unwrap()["balance"].as_f64().unwrap();
    assert!((last - 10_000.0 - report["pnl"].as_f64().unwrap()).abs() < 1e-6);
    assert!(kinds(&report).contains(&"too_few_trades"), "{report}");
    assert_eq!(report.get("sensitivity"), None);
}

#[test]
fn a_run_is_repeated_on_other_settings_when_asked() {
    let folder = folder_with_bot("01:00", "05:00");
    let report = backtest(&folder, &["--sensitivity"]);
    let curves = report["sensitivity"]["curves"].as_array().unwrap();
    let settings: Vec<&str> = curves.iter().map(|curve| curve["setting"].as_str().unwrap()).collect();
    assert_eq!(settings, ["latency_ms", "payout_percent", "path", "stress"]);
    // On its own settings the run is repeated to the cent.
    for curve in curves {
        let own =
            curve["points"].as_array().unwrap().iter().find(|point| point["is_own"] == json!(true)).unwrap();
        assert_eq!((&own["pnl"], &own["trades"]), (&report["pnl"], &report["trades"]), "{curve}");
    }
}

#[test]
fn each_variant_is_counted_once_and_the_report_corrects_for_all() {
    let folder = folder_with_bot("01:00", "05:00");
    let count = |report: &Value| report["variants"]["count"].as_u64().unwrap();
    assert_eq!(count(&backtest(&folder, &[])), 1);
    let once = folder.read(LEDGER);
    assert_eq!(count(&backtest(&folder, &[])), 1);
    assert_eq!(folder.read(LEDGER), once);
    let other = folder.with("other.toml", "[risk]\ncooldown_after_loss_s = 600\n");
    let report = backtest(&other, &["--config", "other.toml"]);
    assert_eq!(count(&report), 2);
    assert!(
        kinds(&report).contains(&"many_variants") && kinds(&report).contains(&"in_sample_only"),
        "{report}"
    );
    if let Some(p_value) = report["p_value"].as_f64() {
        let corrected = report["variants"]["p_value_bonferroni"].as_f64().unwrap();
        assert!((corrected - (2.0 * p_value).min(1.0)).abs() < 1e-12);
    }
}

#[test]
fn nothing_is_counted_where_that_is_turned_off_and_a_ledger_that_cannot_be_written_is_reported() {
    let folder = folder_with_bot("01:00", "05:00");
    let off = folder.with_variable("CANDLEWICK_VARIANTS__LEDGER", "");
    let report = backtest(&off, &[]);
    assert!(report.get("variants").is_none() && !off.path(LEDGER).exists());
    let lost = off.with_variable("CANDLEWICK_VARIANTS__LEDGER", "no/such/folder/x");
    let report = backtest(&lost, &[]);
    assert!(report["notices"].to_string().contains("not counted"), "{}", report["notices"]);
}

#[test]
fn an_edge_that_the_best_of_many_variants_shows_by_luck_is_withheld() {
    let folder = follower("edge:0.58:5m", "");
    let alone = folder.run(&FOLLOW).json();
    assert_eq!((&alone["verdict"], &alone["variants"]["count"]), (&json!("edge_shown"), &json!(1)));
    // As many others as would take an account of four million.
    let others: Vec<String> = (0..200_000).map(|name| format!("[\"{name:016x}\",null,null]")).collect();
    let ledger =
        folder.read(LEDGER).replace("\"variants\":[", &format!("\"variants\":[{},", others.join(",")));
    let folder = folder.with(LEDGER, &ledger);
    let report = folder.run(&FOLLOW).json();
    assert_eq!(
        (&report["verdict"], &report["variants"]["count"]),
        (&json!("not_enough_trades"), &json!(200_001))
    );
    let withheld = "of 200001 variants that were tried one may do so well by luck";
    assert_eq!(report["edge"]["withheld"], json!([withheld]));
}
