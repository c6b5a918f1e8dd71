//! `data generate` as a user runs it: a planted edge that a strategy can trade, and spoiled files that a check finds out.

use crate::candlewick::Folder;
use serde_json::Value;
use std::fmt::Write as _;

const PERIOD_MS: i64 = 300_000;

/// Sixty days of five-minute candles in the catalog, and their rows: open time, open, close.
fn generated(regime: &str) -> (Folder, Vec<(i64, f64, f64)>) {
    let folder = Folder::new();
    let generate =
        ["data", "generate", "--symbol", "BTCUSDT", "--interval", "5m", "--days", "60", "--regime", regime];
    assert_eq!(folder.run(&generate).code, 0);
    let rows = folder.read("BTCUSDT_5m.csv");
    let rows = rows.lines().skip(1).map(|line| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        (cells[0] as i64, cells[1], cells[4])
    });
    let rows = rows.collect();
    (folder, rows)
}

/// What follows candles of such a market.
pub(crate) const FOLLOW: [&str; 6] =
    ["backtest", "--config", "bot.toml", "--data", "BTCUSDT_5m.csv", "--json"];

/// A bot that follows candles for five minutes, by a list of signals, with these settings besides.
pub(crate) fn follower(regime: &str, settings: &str) -> Folder {
    let (folder, rows) = generated(regime);
    let mut list = String::from("time,symbol,direction\n");
    // Every second one: a trade opens two seconds after its signal, and so ends within the next span.
    for (time, open, close) in rows[..rows.len() - 3].iter().step_by(2) {
        let direction = if close > open { "BUY" } else { "SELL" };
        writeln!(list, "{},BTCUSDT,{direction}", time + PERIOD_MS).unwrap();
    }
    let bot = "[[bots]]\nname = \"follow\"\nsymbol = \"BTCUSDT\"\ninterval = \"5m\"\nstrategy = \"signal-list\"\n\
               close_type = \"05:00\"\nparams = { file = \"list.csv\" }\n[risk]\ndaily_loss_limit = 0\n\
               max_drawdown_percent = 0\nmax_trades_per_day = 0\n[account]\ninitial_balance = 10000000\n";
    folder.with("list.csv", &list).with("bot.toml", &format!("{bot}{settings}"))
}

fn follow(regime: &str, settings: &str) -> Value {
    follower(regime, settings).run(&FOLLOW).json()
}

#[test]
fn a_strategy_earns_the_edge_that_was_planted_and_nothing_on_a_random_walk() {
    for (regime, chance, verdict) in
        [("edge:0.58:5m", 0.58, "edge_shown"), ("random-walk", 0.5, "edge_rejected")]
    {
        let report = follow(regime, "");
        assert_eq!((&report["verdict"], &report["bots"][0]["verdict"]), (&verdict.into(), &verdict.into()));
        let (won, lost) = (report["won"].as_f64().unwrap(), report["lost"].as_f64().unwrap());
        let decided = won + lost;
        assert!(decided > 8_500.0, "{regime}: {won} won, {lost} lost");
        let error = (chance * (1.0 - chance) / decided).sqrt();
        let rate = won / decided;
        assert!((rate - chance).abs() < 3.0 * error, "{regime}: {rate} of {decided}, standard error {error}");
    }
}

#[test]
fn an_edge_at_a_latency_that_nobody_has_is_not_said_to_be_shown() {
    let report = follow("edge:0.65:5m", "[simulation]\nlatency_ms = 0\n");
    assert_eq!(report["verdict"], "not_enough_trades");
    let withheld = "a latency of 0 ms is below the usual 2000 ms";
    assert_eq!(report["edge"]["withheld"], serde_json::json!([withheld]));
    assert!(report["edge"]["account_for"].as_f64().unwrap() >= 20.0, "{report}");
}

#[test]
fn an_edge_at_a_payout_that_nobody_pays_is_not_said_to_be_shown() {
    for settings in ["payout_percent = 185", "payout_percent_by_symbol = { BTCUSDT = 185.0 }"] {
        let report = follow("edge:0.58:5m", &format!("[simulation]\n{settings}\n"));
        assert_eq!(report["verdict"], "not_enough_trades");
        let withheld = "a payout of 185 % is assumed, and above 100 % a coin toss earns";
        assert_eq!(report["edge"]["withheld"], serde_json::json!([withheld]));
        assert!(report["edge"]["account_for"].as_f64().unwrap() >= 20.0, "{report}");
    }
    let all = follow("edge:0.58:5m", "[simulation]\npayout_percent = 100\n");
    assert_eq!(all["verdict"], "edge_shown");
}

#[test]
fn spoiled_candles_are_made_on_demand_and_found_by_a_check() {
    let folder = Folder::new();
    let generate =
        ["data", "generate", "--symbol", "BTCUSDT", "--days", "2", "--gaps", "5", "--bad-rows", "9"];
    let printed = folder.run(&generate);
    assert!(
        printed.stdout.contains("synthetic, seed 1, 5 gaps, 9 bad rows"),
        "{}{}",
        printed.stdout,
        printed.stderr
    );
    let check = |file: &str| -> Value {
        let run = folder.run(&["data", "check", file, "--json"]);
        assert_eq!(run.code, 5, "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    };
    let found = check("BTCUSDT_1m.csv");
    let kinds = "unreadable not-finite price volume range misaligned unsorted duplicate spike";
    for kind in kinds.split(' ') {
        assert_eq!(found[0]["counts"][kind], 1, "{kind}");
    }
    let gaps = [&generate[..8], &["--out", "gaps"]].concat();
    assert_eq!(folder.run(&gaps).code, 0);
    let gaps = check("gaps/BTCUSDT_1m.csv");
    assert_eq!((&gaps[0]["problems"], &gaps[0]["counts"]["gap"]), (&5.into(), &5.into()));
    // Six of the bad rows are no candles.
    let missing = |found: &Value| found[0]["missing"].as_u64().unwrap();
    assert_eq!(missing(&found), missing(&gaps) + 6);
    let catalog = [&generate[..], &["--catalog"]].concat();
    folder.run(&catalog).fails(2, &["--bad-rows", "--catalog"]);
    let bad = ["data", "generate", "--symbol", "BTCUSDT", "--regime", "edge:0.6:7m"];
    folder.run(&[&bad[..], &["--force"]].concat()).fails(2, &["regime: a span of 7m"]);
    folder.run(&[&bad[..5], &["bull"]].concat()).fails(2, &["\"bull\" is not a regime", "edge:0.58:5m"]);
}
