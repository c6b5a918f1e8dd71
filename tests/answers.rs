//! What a user gets for good input: reports, the configuration with its origins, documents for machines.

use crate::candlewick::{BACKTEST, BOT, Folder, candlewick, folder_with_bot, repository};
use serde_json::{Value, json};

#[test]
fn a_backtest_runs_anywhere_on_the_candles_that_are_shipped() {
    let folder = repository().join("backtest-data");
    let mut data = Vec::new();
    for name in ["BTCUSDT_1m", "BTCUSDT_5s", "EURUSD_1m", "EURUSD_5s", "GBPUSD_1m", "GBPUSD_5s"] {
        data.push("--data".to_owned());
        data.push(folder.join(format!("{name}.csv")).to_str().unwrap().to_owned());
    }
    let from_files: Vec<&str> =
        ["backtest", "--json"].into_iter().chain(data.iter().map(String::as_str)).collect();
    let (made, read) = (candlewick(&["backtest", "--json"]).json(), candlewick(&from_files).json());
    for key in ["data_hash", "journal_hash", "trades", "pnl"] {
        assert_eq!(made[key], read[key], "{key}");
    }
}

#[test]
fn the_report_has_its_keys_and_they_agree() {
    let folder = folder_with_bot("01:00", "05:00");
    let run = folder
        .run(&[&BACKTEST[..], &["--json", "--trades", "trades.csv", "--journal", "run.jsonl"]].concat());
    let report = run.json();
    let keys = [
        "candles",
        "trades",
        "won",
        "lost",
        "draw",
        "cancelled",
        "unsettled",
        "refused",
        "pnl",
        "final_balance",
        "win_rate",
        "break_even",
        "p_value",
        "verdict",
        "max_drawdown",
        "max_drawdown_percent",
        "longest_losing_streak",
        "data_hash",
        "journal_hash",
        "elapsed_ms",
        "candles_per_second",
        "unsettled_stakes",
        "notices",
    ];
    for key in keys {
        assert!(report.get(key).is_some(), "no {key} in {report}");
    }
    assert_eq!((&report["candles"], &report["verdict"]), (&json!(50), &json!("not_enough_trades")));
    let count = |key: &str| report[key].as_u64().unwrap();
    assert_eq!(count("trades"), count("won") + count("lost") + count("draw") + count("cancelled"));
    assert!(count("trades") > 0 && count("unsettled") > 0, "{report}");
    let balance = 10_000.0 + report["pnl"].as_f64().unwrap();
    assert_eq!(report["final_balance"].as_f64(), Some(balance));
    let trades = folder.read("trades.csv");
    let mut lines = trades.lines();
    let header = "bot,symbol,direction,amount,close_type,expiration_type,decision_time,open_time,open_price,\
                  close_time,close_price,payout,result,pnl,reason,payout_known,result_known,answered_payout,\
                  decision_utc,open_utc,close_utc";
    assert_eq!(lines.next(), Some(header));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len() as u64, count("trades") + count("unsettled"));
    let pnl: f64 = rows.iter().filter_map(|row| row[13].parse::<f64>().ok()).sum();
    assert_eq!(Some(pnl), report["pnl"].as_f64());
    assert!(rows.iter().all(|row| row[..6] == ["btc", "BTCUSDT", row[2], "10.00", "05:00", "TIME_FIXED"]));
    let settled = |row: &&Vec<&str>| row[9..14].iter().all(|cell| !cell.is_empty());
    let unsettled = |row: &&Vec<&str>| [9, 10, 12, 13].iter().all(|column| row[*column].is_empty());
    assert_eq!(rows.iter().filter(settled).count() as u64, count("trades"));
    for row in &rows {
        for (ms, date) in [(6, 18), (7, 19), (9, 20)] {
            let read = chrono::DateTime::parse_from_rfc3339(row[date])
                .map(|date| date.timestamp_millis().to_string());
            assert_eq!(row[ms], read.unwrap_or_default(), "{row:?}");
        }
    }
    assert_eq!(rows.iter().filter(unsettled).count() as u64, count("unsettled"));
    assert!(folder.read("run.jsonl").lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn later_origins_win_and_are_reported() {
    let folder = Folder::new()
        .with(
            "one.toml",
            &("[account]\ninitial_balance = 1\nmoney_scale = 1\n[risk]\nmax_open_trades = 5\n".to_owned()
                + BOT),
        )
        .with("two.toml", &("[account]\ninitial_balance = 2.5\n".to_owned() + &BOT.replace("btc", "other")))
        .with_variable("CANDLEWICK_RISK__MAX_OPEN_TRADES", "7");
    let shown =
        folder.run(&["config", "show", "--json", "--config", "one.toml", "--config", "two.toml"]).json();
    for (pointer, key, value, origin) in [
        ("/account/initial_balance", "account.initial_balance", json!(2.5), "two.toml"),
        ("/account/money_scale", "account.money_scale", json!(1), "one.toml"),
        ("/account/mode", "account.mode", json!("demo"), "default"),
        ("/risk/max_open_trades", "risk.max_open_trades", json!(7), "environment"),
        ("/bots/0/name", "bots[0].name", json!("other"), "two.toml"),
    ] {
        let found = (shown["configuration"].pointer(pointer), shown["origins"][key].as_str());
        assert_eq!(found, (Some(&value), Some(origin)), "{key}");
    }
    assert_eq!(shown["configuration"]["bots"].as_array().map(Vec::len), Some(1));
    let run = folder.with_variable("CANDLEWICK_RISK__MAX_OPN_TRADES", "7").run(&["config", "show"]);
    run.fails(2, &["risk.max_opn_trades (environment)", "\"max_open_trades\""]);
}

#[test]
fn what_config_show_prints_is_a_configuration_that_means_the_same() {
    let config =
        "[broker.headers]\nx-partner = \"a \\\"b\\\"\"\n[simulation.ticks]\n\"EURUSD.OTC\" = 0.00001\n";
    let folder = Folder::new().with("bot.toml", &(config.to_owned() + BOT));
    let first = folder.run(&["config", "show", "--config", "bot.toml"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let folder = folder.with("shown.toml", &first.stdout);
    let configuration =
        |file| folder.run(&["config", "show", "--json", "--config", file]).json()["configuration"].clone();
    assert_eq!(configuration("bot.toml"), configuration("shown.toml"));
}

#[test]
fn the_configurations_of_the_repository_are_sound() {
    for name in ["default.toml", "sandbox.toml", "demo.toml"] {
        let path = repository().join("config").join(name);
        let run = candlewick(&["config", "show", "--config", path.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        if name != "default.toml" {
            assert_eq!(
                candlewick(&["config", "check", "--config", path.to_str().unwrap()]).code,
                0,
                "{name}"
            );
        }
    }
}

#[test]
fn machines_get_one_document_and_no_colours() {
    for arguments in [
        &["strategy", "list"][..],
        &["strategy", "show", "signal-list"],
        &["config", "show"],
        &["config", "check"],
        &["config", "schema"],
        &["data", "generate", "--symbol", "EURUSD", "--days", "1"],
        &["backtest"],
    ] {
        let run = candlewick(&[arguments, &["--json"]].concat());
        assert!(!run.json().is_null() && !run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'));
        let plain = candlewick(arguments);
        assert!(plain.code == 0 && !plain.stdout.contains('\u{1b}'), "{}", plain.stderr);
    }
}
