//! Combined strategies: backtest, sweep, live, parity and explanation.

use crate::candlewick::{Folder, bot_with};
use crate::excerpt::folder_of_days;
use serde_json::{Value, json};

const DATA: [&str; 4] = ["--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
const LIVE: [&str; 9] =
    ["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db", "--trades", "live.csv"];

fn check_live(folder: &Folder) -> Value {
    let backtest = ["backtest", "--config", "bot.toml", "--trades", "tested.csv"];
    folder.run(&[&backtest[..], &DATA].concat()).json();
    let tested = folder.read("tested.csv");
    assert!(tested.lines().count() > 20, "{tested}");
    folder.run(&[&LIVE[..], &["--config", "bot.toml"], &DATA].concat()).json();
    assert_eq!(folder.read("live.csv"), tested);
    let parity = folder.query("parity", "run.db");
    assert_eq!(parity["unexplained"], 0, "{parity}");
    folder.query("explain 1", "run.db")
}

#[test]
fn vote_with_filters_trades_live_like_its_backtest_and_is_explained() {
    let vote = "vote = [{ strategy = \"rsi-reversal\", params = { period = 5 }, weight = 2.0 }, { strategy = \"bollinger-reversal\" }], \
                within = 3, filters = [{ volatility = { min = 0.00001 } }], invert = true";
    let folder = folder_of_days(2).with("bot.toml", &bot_with("combine", vote));
    let explained = check_live(&folder);
    let vote = &explained["conditions"][0];
    assert_eq!((&vote["side"], &vote["holds"]), (&json!("vote"), &json!(true)), "{vote}");
    let traded = explained["trade"]["direction"].as_str().unwrap();
    let summary = if traded == "BUY" { "BUY 0, SELL 3" } else { "BUY 3, SELL 0" };
    let note = vote["note"].as_str().unwrap();
    assert!(note.starts_with(summary) && note.ends_with(traded), "{note}");
    for indicator in ["rsi-reversal.view", "volatility.atr(14) / close"] {
        assert!(explained["indicators"][indicator].is_number(), "{indicator}: {explained}");
    }
    let why = format!("why {}", explained["trade"]["decision_time"]);
    let why = folder.query(&why, "run.db")["bots"][0].take();
    assert_eq!((&why["intent"], &why["conditions"]), (&json!(1), &explained["conditions"]), "{why}");
}

#[test]
fn run_header_shows_the_durations_of_parts_and_lists() {
    let rule = |expiry: &str| {
        format!("{{ strategy = \"rules\", params = {{ buy = \"close > open\", expiry = \"{expiry}\" }} }}")
    };
    let (five, bots, filter) = (rule("05:00"), rule(""), rule("03:00"));
    let inner = format!("{{ strategy = \"combine\", params = {{ first_of = [{five}] }} }}");
    let rows = [
        ("combine", format!("first_of = [{five}]"), "05:00 ("),
        ("combine", format!("first_of = [{bots}], filters = [{filter}]"), "01:00,"),
        ("combine", format!("vote = [{five}, {bots}], invert = true"), "05:00 or 01:00 ("),
        ("combine", format!("first_of = [{inner}]"), "05:00 ("),
        ("combine", format!("vote = [{five}, {bots}], expiry = \"10:00\""), "10:00 ("),
        ("signal-list", "file = \"mixed.csv\"".to_owned(), "01:00 or 15:00 ("),
        ("signal-list", "file = \"plain.csv\"".to_owned(), "01:00,"),
    ];
    let bots = rows.iter().zip('a'..).map(|((strategy, params, _), name)| {
        bot_with(strategy, params).replace("\"btc\"", &format!("\"{name}\""))
    });
    let list = "time,symbol,direction,close_type\n1767571260000,BTCUSDT,BUY,\n";
    let folder = folder_of_days(1)
        .with("bot.toml", &bots.collect::<String>())
        .with("mixed.csv", &format!("{list}1767571320000,BTCUSDT,BUY,15:00\n"))
        .with("plain.csv", list);
    let live = folder.run(&[&LIVE[..], &["--config", "bot.toml"], &DATA[..2]].concat());
    let summary = live.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for ((strategy, _, durations), name) in rows.iter().zip('a'..) {
        let line = format!("{name} {strategy} on BTCUSDT 1m, duration {durations}");
        assert!(summary.contains(&line), "no {line:?} in {summary}");
    }
}

#[test]
fn daily_gate_and_zoned_hours_match_the_backtest_and_report_their_state() {
    let part = "first_of = [{ strategy = \"rsi-reversal\", params = { period = 5 } }]";
    let hours = "filters = [{ hours = [\"08:00\", \"17:00\"], timezone = \"Europe/London\" }]";
    let gate = "gate = { after_virtual_losses = 1, resets = \"day\", day_timezone = \"Europe/London\" }";
    let bot = bot_with("combine", &format!("{part}, {gate}, {hours}"));
    let folder = folder_of_days(3).with("bot.toml", &bot);
    let explained = check_live(&folder);
    let (gate, is_open) = (&explained["gate"], &explained["indicators"]["gate.open"]);
    assert!(gate["before"].as_str().unwrap().starts_with("open") && *is_open == 1.0, "{explained}");
    assert_eq!(gate["moved"]["by"]["won"], false, "a virtual loss must have opened the gate: {gate}");
    // 25 hours are 1,500 minutes.
    let checked = folder.run(&["config", "check", "bot.toml", "--json"]).json();
    assert!(checked["notices"].to_string().contains("1500 candles before"), "{checked}");
}

#[test]
fn reports_a_ladder_that_continues_through_a_closed_gate() {
    let gated = "first_of = [{ strategy = \"rsi-reversal\" }], gate = { after_virtual_losses = 2, close_after_trades = 1 }";
    for (strategy, params, entry, expected) in [
        ("combine", gated, "next_candle", true),
        ("combine", gated, "next_signal", false),
        ("rsi-reversal", "period = 5", "next_candle", false),
    ] {
        let gale = "stake = { kind = 'gale', amount = 1, factor = 2, levels = 3, entry = 'ENTRY' }";
        let gale = gale.replace("ENTRY", entry);
        let folder = Folder::new().with("bot.toml", &(bot_with(strategy, params) + &gale));
        let notices = folder.run(&["config", "check", "bot.toml", "--json"]).json()["notices"].to_string();
        assert_eq!(notices.contains("while the gate is closed"), expected, "{strategy} {entry}: {notices}");
    }
}
