//! No look-ahead: what a run does until a moment does not depend on later candles.

use crate::candlewick::Folder;
use crate::excerpt::{HOUR, MINUTE, MONDAY, before, shipped};
use serde_json::Value;

fn settings(latency_ms: i64, rounding: &str) -> String {
    let bot = |[name, symbol, strategy, close_type, expiration_type, params]: [&str; 6]| {
        format!(
            "[[bots]]\nname = \"{name}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\nstrategy = \"{strategy}\"\n\
             close_type = \"{close_type}\"\nexpiration_type = \"{expiration_type}\"\nparams = {{ {params} }}\n"
        )
    };
    let often = "period = 3, oversold = 45.0, overbought = 55.0";
    let trend = "trend_seconds = 120, trend_period = 2, period = 2, distance = 20.0";
    let bots = [
        ["fixed", "BTCUSDT", "rsi-reversal", "01:00", "TIME_FIXED", often],
        ["close", "EURUSD", "rsi-reversal", "02:00", "CANDLE_CLOSE", often],
        ["next", "BTCUSDT", "ema-cross", "05:00", "NEXT_CANDLE", "fast = 2, slow = 4"],
        ["trend", "BTCUSDT", "trend-filter", "03:00", "TIME_FIXED", trend],
        ["list", "EURUSD", "signal-list", "01:00", "TIME_FIXED", "file = \"signals.csv\""],
    ];
    format!(
        "[simulation]\nlatency_ms = {latency_ms}\nopen_rounding = \"{rounding}\"\n[risk]\nmax_open_trades = 0\n\
         max_open_trades_per_symbol = 3\ndaily_loss_limit = 0\n{}",
        bots.map(bot).concat()
    )
}

fn journal(settings: &str, candles: [&str; 2]) -> Vec<String> {
    let signals = (1..60).map(|index| format!("{},EURUSD,BUY\n", MONDAY + index * 4 * MINUTE));
    let folder = Folder::new()
        .with("bots.toml", settings)
        .with("signals.csv", &signals.fold("time,symbol,direction\n".to_owned(), |list, line| list + &line))
        .with("BTCUSDT_1m.csv", candles[0])
        .with("EURUSD_1m.csv", candles[1]);
    let backtest = ["backtest", "--json", "--config", "bots.toml", "--journal", "run.jsonl"];
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv"];
    let run = folder.run(&[&backtest[..], &data].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    folder.read("run.jsonl").lines().skip(1).map(str::to_owned).collect()
}

/// The entries up to a moment. Actions belong to the event before them.
fn until(journal: &[String], moment: i64) -> &[String] {
    let is_later = |line: &String| {
        let entry: Value = serde_json::from_str(line).expect("a line of JSON");
        entry["at"].as_i64().is_some_and(|at| at > moment)
    };
    &journal[..journal.iter().position(is_later).unwrap_or(journal.len())]
}

#[test]
fn run_over_the_first_candles_is_the_beginning_of_the_whole_run() {
    let candles = ["BTCUSDT_1m.csv", "EURUSD_1m.csv"].map(|file| shipped(file, MONDAY, MONDAY + 4 * HOUR));
    for (latency_ms, rounding) in [(0, "none"), (1_500, "second_end"), (61_000, "second_end")] {
        let settings = settings(latency_ms, rounding);
        let whole = journal(&settings, [&candles[0], &candles[1]]);
        for minutes in [1, 7, 60, 61, 62, 63, 64, 65, 120, 179, 239] {
            let end = MONDAY + minutes * MINUTE;
            let part = journal(&settings, [&before(&candles[0], end), &before(&candles[1], end)]);
            // In the last second an order may arrive whose price is not known yet.
            let (part, whole) = (until(&part, end - 1_000), until(&whole, end - 1_000));
            let case = format!("after {minutes} minutes, at {latency_ms} ms");
            assert_eq!(part.iter().zip(whole).find(|(part, whole)| part != whole), None, "{case}");
            assert_eq!(part.len(), whole.len(), "{case}");
            assert!(minutes < 60 || part.len() as i64 > 2 * minutes, "{} entries {case}", part.len());
        }
    }
}
