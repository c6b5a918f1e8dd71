//! Reproducibility: equal inputs give equal runs, other inputs other hashes, and later candles change nothing.

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

fn candles() -> [String; 2] {
    ["BTCUSDT_1m.csv", "EURUSD_1m.csv"].map(|file| shipped(file, MONDAY, MONDAY + 4 * HOUR))
}

fn run(settings: &str, candles: &[String; 2]) -> ([Value; 2], String) {
    let signals = (1..60).map(|index| format!("{},EURUSD,BUY\n", MONDAY + index * 4 * MINUTE));
    let folder = Folder::new()
        .with("bots.toml", settings)
        .with("signals.csv", &signals.fold("time,symbol,direction\n".to_owned(), |list, line| list + &line))
        .with("BTCUSDT_1m.csv", &candles[0])
        .with("EURUSD_1m.csv", &candles[1]);
    let backtest = "backtest --json --config bots.toml --journal run.jsonl";
    let report = folder.run_line(&format!("{backtest} --data BTCUSDT_1m.csv --data EURUSD_1m.csv")).json();
    (["data_hash", "journal_hash"].map(|key| report[key].clone()), folder.read("run.jsonl"))
}

#[test]
fn runs_are_reproducible_and_hashes_distinguish_settings_and_candles() {
    let (settings, candles) = (settings(1_500, "second_end"), candles());
    let (hashes, journal) = run(&settings, &candles);
    assert!(hashes.iter().all(|hash| hash.as_str().map(str::len) == Some(64)), "{hashes:?}");
    assert!(run(&settings, &candles) == (hashes.clone(), journal), "the journals differ");
    for (from, to) in [
        ("latency_ms = 1500", "latency_ms = 1501"),
        ("period = 3", "period = 4"),
        ("\"fixed\"", "\"other\""),
        ("[risk]", "[account]\ninitial_balance = 10001\n[risk]"),
    ] {
        let other = run(&settings.replacen(from, to, 1), &candles).0;
        assert!(other[0] == hashes[0] && other[1] != hashes[1], "{to}: {other:?}");
    }
    let fewer = candles.each_ref().map(|series| before(series, MONDAY + 3 * HOUR));
    let other = run(&settings, &fewer).0;
    assert!(other[0] != hashes[0] && other[1] != hashes[1], "{other:?}");
}

/// Journal entries up to a moment, without the header. Actions belong to the event before them.
fn until(journal: &str, moment: i64) -> Vec<&str> {
    let is_earlier = |line: &&str| {
        let entry: Value = serde_json::from_str(line).expect("lines must be JSON");
        entry["at"].as_i64().is_none_or(|at| at <= moment)
    };
    journal.lines().skip(1).take_while(is_earlier).collect()
}

#[test]
fn run_over_the_first_candles_is_a_prefix_of_the_whole_run() {
    let candles = candles();
    for (latency_ms, rounding) in [(0, "none"), (1_500, "second_end"), (61_000, "second_end")] {
        let settings = settings(latency_ms, rounding);
        let whole = run(&settings, &candles).1;
        for minutes in [1, 7, 60, 61, 62, 63, 64, 65, 120, 179, 239] {
            let end = MONDAY + minutes * MINUTE;
            let part = run(&settings, &candles.each_ref().map(|series| before(series, end))).1;
            // An order of the last second may still wait for its price.
            let (part, whole) = (until(&part, end - 1_000), until(&whole, end - 1_000));
            let case = format!("after {minutes} minutes, at {latency_ms} ms");
            assert_eq!(part.iter().zip(&whole).find(|(part, whole)| part != whole), None, "{case}");
            assert_eq!(part.len(), whole.len(), "{case}");
            assert!(minutes < 60 || part.len() as i64 > 2 * minutes, "{} entries {case}", part.len());
        }
    }
}
