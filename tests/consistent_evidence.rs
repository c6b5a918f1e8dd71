//! Evidence in five places: a backtest, its CSV, the same trades live, their journal, and `status`.

use crate::candlewick::{Folder, NO_LIMITS};
use crate::excerpt::{HOUR, MONDAY, shipped};
use serde_json::{Value, json};

/// Two bots with overlapping trades, latency and draws; the run evicts settled trades at once.
const BOTS: &str = r#"
[simulation]
latency_ms = 2500
payout_percent = 83.5
[simulation.ticks]
EURUSD = 0.0001
[runtime]
remember_s = 1
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

fn account(line: &Value) -> [&Value; 4] {
    ["account_for", "threshold_for", "account_against", "threshold_against"].map(|key| &line[key])
}

#[test]
fn same_trades_have_the_same_evidence_in_five_places() {
    let files = ["BTCUSDT_1m.csv", "EURUSD_1m.csv"];
    let candles = |name: &str| shipped(name, MONDAY, MONDAY + 5 * HOUR);
    let folder = Folder::new().with("bots.toml", &format!("{NO_LIMITS}{BOTS}"));
    let folder = files.iter().fold(folder, |folder, name| folder.with(name, &candles(name)));
    let run = |command: &str| {
        let arguments = command.split(' ').chain(["--config", "bots.toml", "--json", "--quiet"]);
        folder.run(&arguments.collect::<Vec<_>>()).json()
    };
    let data = "--data BTCUSDT_1m.csv --data EURUSD_1m.csv";
    let stored = run(&format!("backtest --trades stored.csv {data}"));
    let live = "live --sandbox --speed max --until-end --journal run.db --trades live.csv";
    let live = run(&format!("{live} {data}"));
    let files = ["stored.csv", "live.csv"].map(|file| run(&format!("edge verdict --trades {file}")));
    let journal = run("edge verdict --journal run.db");
    let report = run("report --journal run.db");
    let status = run("status --journal run.db");

    for place in [&stored, &live, &report] {
        assert_eq!(place["evidence"], json!({ "kind": "exploratory", "until": null, "run": null }));
    }
    assert!(stored["draw"].as_u64() > Some(0) && stored["trades"].as_u64() > Some(100), "{stored}");
    let all = account(&stored["edge"]);
    assert_eq!(all[1], 60.0, "two bots and all their trades share alpha");
    for place in [&live["edge"], &report["edge"], &journal["all"], &files[0]["all"], &files[1]["all"]] {
        assert_eq!(account(place), all);
    }
    for index in [0, 1] {
        let bot = account(&stored["bots"][index]["edge"]);
        assert!(bot[0].as_f64() != Some(1.0), "{stored}");
        let [live, report] = [&live, &report].map(|run| &run["bots"][index]["edge"]);
        for place in [live, report, &status["verdicts"][index]] {
            assert_eq!(account(place), bot);
        }
        for verdict in [&journal, &files[0], &files[1]] {
            let mut bots = verdict["bots"].as_array().unwrap().iter();
            let line = bots.find(|line| line["bot"] == stored["bots"][index]["bot"]).unwrap();
            assert_eq!(account(line), bot);
        }
    }
    assert_eq!(folder.read("stored.csv"), folder.read("live.csv"), "files must be identical");
    // The caveats of the backtest come from its file.
    assert_eq!(files[0]["all"]["labels"], stored["edge"]["labels"]);
    let by_unit = stored["lost"].as_f64().unwrap() / stored["won"].as_f64().unwrap() * 100.0;
    assert_eq!(stored["break_even_payout_percent"], by_unit);
    assert_ne!(stored["break_even_payout_percent_by_money"], by_unit, "stakes of a ladder depend on losses");
}
