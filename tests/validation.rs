//! `strategy check`: refused strategies and candles. `tests/corpus` shows what it catches.

use crate::candlewick::{Folder, candles};

#[test]
fn strategies_that_cannot_be_checked_are_named() {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(200));
    for (arguments, code, parts) in [
        ("rsi-reversl", 2, &["\"rsi-reversal\""][..]),
        ("my.toml", 2, &["rules --param file=my.toml"]),
        ("rsi-reversal --param period=0", 2, &["period = 0"]),
        ("signal-list", 2, &["file"]),
        ("rsi-reversal --data BTCUSDT_1m.csv", 3, &["BTCUSDT_1m.csv", "690", "200"]),
    ] {
        folder.run_line(&format!("strategy check {arguments}")).fails(code, parts);
    }
}
