//! A session of two symbols with lost order replies and a faulty stream replays to the same decisions.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, HOUR, MINUTE, MONDAY, shipped};
use crate::recording::lines;
use crate::{check_parity, events_named, run};
use candlewick_journal::LineKind;
use serde_json::Value;
use std::collections::BTreeSet;

const BOTS: &str = r#"
[broker]
stream = true
stream_silence_ms = 1000
requests_per_second = 0
timeout_ms = 500
retry_pause_ms = 20
[runtime]
watch_prices = false
price_every_ms = 1000
list_lag_ms = 10000
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 2
max_trades_per_day = 0
daily_loss_limit = 0
max_drawdown_percent = 0
allow_opposite = true
max_signal_delay_ms = 30000
[sandbox]
seed = 20260106
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1m"
strategy = "first-move"
close_type = "01:00"
expiration_type = "TIME_FIXED"
[[bots]]
name = "gbp"
symbol = "GBPUSD"
asset_type = "forex"
interval = "1m"
strategy = "first-move"
close_type = "01:00"
expiration_type = "TIME_FIXED"
"#;
/// 120 pushes, twice a second of real time, so that each fault strikes several times.
const FAULTS: &str = "stream-drop:0.002,stream-stall:0.001:2s,stream-duplicate:0.1,stream-reorder:0.1,stream-garbage:0.05,drop-after:0.2";
const SYMBOLS: [&str; 2] = ["BTCUSDT", "GBPUSD"];

pub(crate) fn check() {
    let part = |symbol: &str| shipped(&format!("{symbol}_1m.csv"), MONDAY + DAY, MONDAY + DAY + 6 * HOUR);
    let candles = SYMBOLS.map(part);
    let folder = Folder::new().with("bots.toml", BOTS);
    let folder = folder.with("BTCUSDT_1m.csv", &candles[0]).with("GBPUSD_1m.csv", &candles[1]);
    let common = ["live", "--sandbox", "--json", "--config", "bots.toml", "--journal", "run.db"];
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"];
    let how = ["--speed", "60", "--for", "60s", "--faults", FAULTS];
    let ran = run(&folder, &[&common[..], &data, &how].concat());
    let events = ran.events();
    for (symbol, candles) in SYMBOLS.iter().zip(&candles) {
        check_candles(&events, symbol, candles);
        check_prices(&folder, symbol);
    }
    for notice in ["no price stream for", "prices of 2 symbols are streamed again"] {
        assert!(ran.stderr.contains(notice), "no {notice:?} in:\n{}", ran.stderr);
    }
    check_trades(&folder, &events);
    check_parity(&folder);
}

fn check_candles(events: &[Value], symbol: &str, file: &str) {
    let heard = events_named(events, "candle").filter(|candle| candle["symbol"] == symbol);
    let heard: Vec<i64> = heard.map(|candle| candle["time"].as_i64().unwrap()).collect();
    let (first, last) = (heard[0], heard[heard.len() - 1]);
    let stored = file.lines().skip(1).map(|line| line.split(',').next().unwrap().parse::<i64>().unwrap());
    let expected: Vec<i64> = stored.filter(|time| (first..=last).contains(time)).collect();
    assert_eq!(heard, expected, "{symbol}");
    assert!(last - first >= 20 * MINUTE, "{symbol}: {} candles", heard.len());
}

fn check_prices(folder: &Folder, symbol: &str) {
    let lines = lines(&folder.path("run.db")).into_iter().filter(|entry| entry.line.kind == LineKind::Event);
    let bodies: Vec<Value> = lines.map(|stored| serde_json::from_str(&stored.line.body).unwrap()).collect();
    let place = SYMBOLS.iter().position(|known| *known == symbol).unwrap();
    let prices = bodies.iter().filter(|body| body["event"] == "price" && body["symbol"] == place);
    let times: Vec<i64> = prices.map(|body| body["price"]["time"].as_i64().unwrap()).collect();
    assert!(times.len() > 300, "{symbol}: {} prices", times.len());
    assert!(times.is_sorted_by(|before, after| before <= after), "{symbol}: {times:?}");
}

/// Each intent has at most one trade, and each trade of the venue an intent.
fn check_trades(folder: &Folder, events: &[Value]) {
    let opened: Vec<&str> =
        events_named(events, "opened").map(|event| event["venue_id"].as_str().unwrap()).collect();
    assert!(opened.len() > 10, "{opened:?}");
    assert_eq!(opened.iter().collect::<BTreeSet<_>>().len(), opened.len(), "{opened:?}");
    assert!(events_named(events, "in_doubt").count() > 0, "no answer to an order was lost");
    let status = run(folder, &["status", "--journal", "run.db", "--json"]).json();
    for none in ["strange_trades", "in_doubt", "in_flight"] {
        assert_eq!(status[none], Value::Array(Vec::new()), "{none}");
    }
}
