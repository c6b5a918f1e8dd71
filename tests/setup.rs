//! Setup before the first run: a configuration from a few answers, and mistakes found before any trade.

use crate::candlewick::{Folder, candlewick};

const RULE: &str = "buy = \"close > open\"\n";

#[test]
fn created_configuration_trades_at_once_and_is_not_overwritten() {
    let folder = Folder::new().with("my.rule.toml", RULE);
    for (file, answers, written) in [
        ("a.toml", "--symbol EURUSD --expiry 05:00 --payout 85", "payout_percent = 85 "),
        ("b.toml", "--strategy rules --stake 5%", "file = \"b.rule.toml\""),
        ("c.toml", "--rules my.rule.toml", "file = \"my.rule.toml\""),
    ] {
        folder.run_line(&format!("config init {file} {answers}"));
        let text = folder.read(file);
        assert!(text.contains(written), "{text}");
        assert_eq!(folder.run_line(&format!("config check {file}")).code, 0, "{file}");
        let report = folder.run_line(&format!("backtest --config {file} --json")).json();
        assert!(report["trades"].as_u64() > Some(0), "{file}: {report}");
        folder.run_line(&format!("config init {file}")).fails(2, &[file]);
        assert_eq!(folder.read(file), text);
    }
    assert_eq!(folder.read("my.rule.toml"), RULE);
}

#[test]
fn names_wrong_answers_and_writes_nothing() {
    let folder = Folder::new().with("my.rule.toml", RULE);
    for (answers, named) in [
        ("--strategy rsi-reversl", "bots[0].strategy = \"rsi-reversl\" (candlewick.toml)"),
        ("--expiry soon", "close_type"),
        ("--stake much", "\"much\""),
        ("--payout 0.85", "85?"),
        ("--rules none.toml", "none.toml"),
        ("--strategy ema-cross --rules my.rule.toml", "--rules"),
    ] {
        folder.run_line(&format!("config init {answers}")).fails(2, &[named]);
        assert!(!folder.path("candlewick.toml").exists(), "{answers}");
    }
}

#[test]
fn finds_stakes_beyond_every_limit_before_the_first_trade() {
    let with = |risk: &str| {
        let folder = Folder::new();
        folder.run_line("config init --stake 10");
        let text = folder.read("candlewick.toml").replace("[[bots]]", &format!("{risk}\n[[bots]]"));
        folder.with("candlewick.toml", &text)
    };
    let folder = with("max_stake = 5.0");
    for command in ["config check", "backtest", "live --sandbox --for 1s"] {
        folder.run_line(&format!("{command} --config candlewick.toml")).fails(2, &["risk.max_stake", "5.00"]);
    }
    // Another balance would help.
    let folder = with("max_stake_percent = 0.05");
    assert_eq!(folder.run_line("backtest --config candlewick.toml --json").json()["trades"], 0);
    let checked = folder.run_line("config check --config candlewick.toml --json").json();
    assert_eq!((&checked["sound"], &checked["idle_bots"]), (&false.into(), &1.into()), "{checked}");
}

#[test]
fn wrong_asset_type_is_not_reported_as_an_unreachable_venue() {
    let folder = Folder::new();
    folder.run_line("config init --symbol EUR/USD");
    let text = folder.read("candlewick.toml");
    assert!(text.contains("symbol = \"EURUSD\"") && text.contains("\"forex\""), "{text}");
    let folder = folder.with("candlewick.toml", &text.replace("\"forex\"", "\"crypto\""));
    let run = folder.run_line("live --sandbox --quiet --for 1s --config candlewick.toml");
    run.fails(2, &["EURUSD", "asset_type"]);
}

#[test]
fn prints_the_version_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(candlewick(&["--version"]).stdout, format!("candlewick {version}\nfeatures: tui\n"));
    assert_eq!(candlewick(&["-V"]).stdout, format!("candlewick {version}\n"));
}
