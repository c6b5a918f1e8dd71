//! Paper trading against a venue in a process of its own: the verdict that its trades bring about is enforced and kept, and a
//! ladder that ruins too probably does not start.
#![cfg(unix)]

use crate::candlewick::Run;
use crate::two_runs::{BOT, run_until, venue_and_bot};
use serde_json::{Value, json};

/// One loss is enough to rule such an edge out.
const ENFORCED: &str = "[risk]\nenforce_verdict = true\nverdict = { alpha = 0.4, beta = 0.4, delta = 0.7 }\n";

#[test]
fn a_paper_run_is_judged_after_each_settlement_and_a_rejected_edge_opens_nothing_more() {
    let (_served, folder) = venue_and_bot("");
    let folder = folder.with("bot.toml", &BOT.replacen("[risk]\n", ENFORCED, 1));
    let ask = |command: &str| folder.run(&[command, "--journal", "paper.db", "--json"]);
    let printed = |command: &str| -> Value { ask(command).json() };
    // Signals that were refused by the verdict so far; none before there is a journal.
    let refused = || {
        let report = ask("report");
        if report.code == 0 { report.json()["refused"]["EdgeRejected"].as_u64().unwrap_or(0) } else { 0 }
    };
    let paper = || -> Run {
        let before = refused();
        let paper = ["paper", "--config", "bot.toml", "--journal", "paper.db", "--json"];
        run_until(&folder, &paper, || refused() > before)
    };
    let first = paper();
    let stderr = first.stderr.clone();
    let first = first.json();
    assert_eq!(first["bots"][0]["verdict"], "edge_rejected", "{first}");
    assert!(first["refused"]["EdgeRejected"].as_u64() > Some(0), "{first}");
    assert!(stderr.contains("btc: its edge is ruled out after"), "{stderr}");
    // What a simulated trade pays, and how late it comes, is assumed, by the run and by its journal.
    assert_eq!(first["edge"]["labels"], json!(["on assumed payout"]));

    // Started again it goes on where the verdict stood.
    let second = paper().json();
    assert_eq!(
        (&second["trades"], &second["bots"][0]["verdict"]),
        (&0.into(), &"edge_rejected".into()),
        "{second}"
    );
    assert!(second["refused"]["EdgeRejected"].as_u64() > Some(0), "{second}");

    // The journal holds when it fell, and brings it about again.
    let status = printed("status");
    assert_eq!(status["verdicts"][0]["verdict"], "edge_rejected");
    assert_eq!(status["verdicts"][0]["account_against"], first["bots"][0]["edge"]["account_against"]);
    let report = printed("report");
    assert_eq!(
        (&report["bots"][0]["verdict"], &report["trades"]),
        (&"edge_rejected".into(), &first["trades"])
    );
    assert_eq!(report["edge"]["labels"], json!(["on assumed payout"]));
    let parity = printed("parity");
    assert_eq!((&parity["ok"], &parity["runs"]), (&true.into(), &2.into()), "{parity}");
}

#[test]
fn a_ladder_that_ruins_too_probably_does_not_start_on_paper_either() {
    let (_served, folder) = venue_and_bot("");
    let ladder = BOT.replacen(
        "[risk]\n",
        "[account]\ninitial_balance = 80\n[risk]\nruin_horizon_trades = 60\nmax_drawdown_percent = 0\n",
        1,
    ) + "stake = { kind = \"martingale\", amount = 10, factor = 2, levels = 3 }\n";
    let folder = folder.with("bot.toml", &ladder);
    folder.run(&["paper", "--config", "bot.toml", "--journal", "paper.db", "--for", "1s", "--json"]).fails(
        2,
        &["risk.max_ruin_probability", "ladders of \"btc\"", "within 60 trades", "bring a balance of"],
    );
}
