//! `strategy check` as a user runs it; what it catches, and whom it does not accuse, `tests/corpus` shows.

use crate::candlewick::{Folder, candles, candlewick};

#[test]
fn a_strategy_that_comes_along_passes_every_check_that_there_is_something_for() {
    let report = candlewick(&["strategy", "check", "rsi-reversal", "--param", "period=7", "--json"]).json();
    assert_eq!((&report["passed"], &report["params"]["period"]), (&true.into(), &7.into()));
    let checks = report["checks"].as_array().unwrap();
    let named: Vec<&str> = checks.iter().map(|check| check["check"].as_str().unwrap()).collect();
    assert_eq!(
        named.join(" "),
        "numbers determinism isolation look-ahead foresight declaration warm-up restart extremes memory files clock processes \
         outside speed"
    );
    for check in checks {
        let expected = if check["check"] == "files" { "not_run" } else { "passed" };
        assert_eq!(check["result"], expected, "{check}");
    }
    // The index over 7 candles is stable to 1e-9 after 8 + 135; a tenth of that moves no decision.
    let warmup = &report["warmup"];
    assert_eq!(warmup["declared"], 143);
    assert!((8..=143).contains(&warmup["needed"].as_u64().unwrap()), "{warmup}");
    assert!(report["signals"].as_u64().unwrap() > 500 && report["candle_ns"].as_u64().unwrap() > 0);
}

#[test]
fn its_table_is_for_people() {
    let run = candlewick(&["strategy", "check", "ema-cross"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for part in
        ["random walk (", "look-ahead    passed", "warmup() says 240", "a strategy that does nothing takes"]
    {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
}

#[test]
fn what_cannot_be_checked_says_why() {
    candlewick(&["strategy", "check", "rsi-reversl"]).fails(2, &["did you mean \"rsi-reversal\""]);
    candlewick(&["strategy", "check", "my.toml"]).fails(2, &["strategy check rules --param file=my.toml"]);
    candlewick(&["strategy", "check", "rsi-reversal", "--param", "period=0"])
        .fails(2, &["period = 0 is outside"]);
    candlewick(&["strategy", "check", "signal-list"]).fails(2, &["file is missing"]);
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(200));
    let few = ["strategy", "check", "rsi-reversal", "--data", "BTCUSDT_1m.csv"];
    folder.run(&few).fails(3, &["BTCUSDT_1m.csv: give at least 690 candles: there are 200"]);
}
