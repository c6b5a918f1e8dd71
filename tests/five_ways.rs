//! One account wherever it is computed: a backtest, its CSV, the same trades live, their journal and `status`.

use crate::candlewick::Folder;
use crate::excerpt::{HOUR, MONDAY, shipped};
use serde_json::Value;

/// Two bots whose trades overlap, with a latency, prices coarse enough for draws, and expiries of their own; a run forgets a trade that is
/// over as soon as it may.
const BOTS: &str = r#"
[simulation]
latency_ms = 2500
payout_percent = 83.5
[simulation.ticks]
EURUSD = 0.0001
[runtime]
remember_s = 1
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 0
max_trades_per_day = 0
daily_loss_limit = 0
max_drawdown_percent = 0
allow_opposite = true
allow_duplicate = true
[[bots]]
name = "-often: one"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
params = { period = 3, oversold = 45.0, overbought = 55.0 }
close_type = "05:00"
stake = { kind = "martingale", amount = 1.0, factor = 2.0, levels = 3 }
[[bots]]
name = "calm"
symbol = "EURUSD"
asset_type = "forex"
interval = "1m"
strategy = "rsi-reversal"
params = { period = 4, oversold = 40.0, overbought = 60.0 }
close_type = "03:00"
"#;

/// What an account is said to be, wherever it stands: every digit of it.
fn account(line: &Value) -> [&Value; 4] {
    ["account_for", "threshold_for", "account_against", "threshold_against"].map(|key| &line[key])
}

#[test]
fn the_same_trades_have_the_same_account_in_five_places() {
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 5 * HOUR))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", MONDAY, MONDAY + 5 * HOUR))
        .with("bots.toml", BOTS);
    let config = ["--config", "bots.toml", "--json", "--quiet"];
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv"];
    let run = |command: &[&str]| folder.run(&[command, &config].concat()).json();
    let stored = run(&[&["backtest", "--trades", "stored.csv"][..], &data].concat());
    let live =
        ["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db", "--trades", "live.csv"];
    let live = run(&[&live[..], &data].concat());
    let files = ["stored.csv", "live.csv"].map(|file| run(&["edge", "verdict", "--trades", file]));
    let journal = run(&["edge", "verdict", "--journal", "run.db"]);
    let report = run(&["report", "--journal", "run.db"]);
    let status = run(&["status", "--journal", "run.db"]);

    assert!(stored["draw"].as_u64() > Some(0) && stored["trades"].as_u64() > Some(100), "{stored}");
    let all = account(&stored["edge"]);
    assert_eq!(all[1], 60.0, "two bots and all their trades share alpha");
    assert_eq!([account(&live["edge"]), account(&report["edge"]), account(&journal["all"])], [all; 3]);
    for file in &files {
        assert_eq!(account(&file["all"]), all);
    }
    for place in [0, 1] {
        let bot = account(&stored["bots"][place]["edge"]);
        let name = &stored["bots"][place]["bot"];
        assert!(bot[0].as_f64() != Some(1.0), "{stored}");
        assert_eq!(
            [account(&live["bots"][place]["edge"]), account(&report["bots"][place]["edge"])],
            [bot; 2]
        );
        assert_eq!(account(&status["verdicts"][place]), bot);
        for said in [&journal, &files[0], &files[1]] {
            let line = said["bots"].as_array().unwrap().iter().find(|line| line["bot"] == *name).unwrap();
            assert_eq!(account(line), bot);
        }
    }
    assert_eq!(folder.read("stored.csv"), folder.read("live.csv"), "to the byte");
    // What the backtest assumed is said of its file as well.
    assert_eq!(files[0]["all"]["labels"], stored["edge"]["labels"]);
    let by_unit = stored["lost"].as_f64().unwrap() / stored["won"].as_f64().unwrap() * 100.0;
    assert_eq!(stored["break_even_payout_percent"], by_unit);
    assert_ne!(stored["break_even_payout_percent_by_money"], by_unit, "a ladder stakes by what was lost");
}
