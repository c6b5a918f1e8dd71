//! Paper trading at a venue in its own process: the verdict is enforced and survives a restart.
#![cfg(unix)]

use crate::consecutive_runs::{BOT, run_until, venue_and_bot};
use serde_json::{Value, json};

const ENFORCED: &str = "[risk]\nenforce_verdict = true\nverdict = { alpha = 0.4, beta = 0.4, delta = 0.7 }\n";

#[test]
fn judges_a_paper_run_after_each_settlement_and_stops_on_a_rejected_edge() {
    let (_served, folder) = venue_and_bot("");
    let folder = folder.with("bot.toml", &BOT.replacen("[risk]\n", ENFORCED, 1));
    let ask = |command: &str| folder.run(&[command, "--journal", "paper.db", "--json"]);
    let refused = || {
        let report = ask("report");
        if report.code == 0 { report.json()["refused"]["EdgeRejected"].as_u64().unwrap_or(0) } else { 0 }
    };
    let paper = || -> Value {
        let before = refused();
        let paper = ["paper", "--config", "bot.toml", "--journal", "paper.db", "--json"];
        let ended = run_until(&folder, &paper, || refused() > before).json();
        assert_eq!(ended["bots"][0]["verdict"], "edge_rejected", "{ended}");
        assert!(ended["refused"]["EdgeRejected"].as_u64() > Some(0), "{ended}");
        ended
    };
    let first = paper();
    assert_eq!(first["evidence"]["kind"], "live");
    assert_eq!(first["edge"]["labels"], json!(["on assumed payout"]));
    assert_eq!(paper()["trades"], 0, "a restart keeps the verdict");
    let verdict = &ask("status").json()["verdicts"][0];
    assert_eq!(verdict["verdict"], "edge_rejected");
    assert_eq!(verdict["account_against"], first["bots"][0]["edge"]["account_against"]);
    let report = ask("report").json();
    assert_eq!((&report["trades"], &report["edge"]["labels"]), (&first["trades"], &first["edge"]["labels"]));
    let parity = ask("parity").json();
    assert_eq!((&parity["ok"], &parity["runs"]), (&true.into(), &2.into()), "{parity}");
}
