//! The same inputs and settings give the same run, in whichever process, to the byte.

use crate::candlewick::{Folder, Run};
use crate::excerpt::{DAY, HOUR, MONDAY, shipped};

const BOTS: &str = r#"
[simulation]
latency_ms = 1500
[[bots]]
name = "rsi"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
close_type = "01:00"
[[bots]]
name = "cross"
symbol = "EURUSD"
interval = "1m"
strategy = "ema-cross"
close_type = "05:00"
expiration_type = "CANDLE_CLOSE"
"#;

struct Journalled {
    run: Run,
    journal: String,
    trades: String,
}

fn replay(settings: &str, hours: i64) -> Journalled {
    let folder = Folder::new()
        .with("bots.toml", settings)
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + hours * HOUR))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", MONDAY, MONDAY + hours * HOUR));
    let run = folder.run_line(
        "backtest --json --config bots.toml --data BTCUSDT_1m.csv --data EURUSD_1m.csv --journal run.jsonl \
         --trades trades.csv",
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    Journalled { run, journal: folder.read("run.jsonl"), trades: folder.read("trades.csv") }
}

#[test]
fn two_processes_write_the_same_journal() {
    let hours = 3 * DAY / HOUR;
    let (one, two) = (replay(BOTS, hours), replay(BOTS, hours));
    assert!(one.journal.lines().count() > 5_000 && one.trades.lines().count() > 50);
    assert!(one.journal == two.journal, "the journals differ");
    assert!(one.trades == two.trades, "the trades differ");
    let (one, two) = (one.run.json(), two.run.json());
    for key in ["journal_hash", "data_hash"] {
        assert_eq!(one[key].as_str().map(str::len), Some(64), "{key}");
        assert_eq!(one[key], two[key], "{key}");
    }
}

#[test]
fn the_hashes_distinguish_settings_and_candles() {
    let hash = |run: &Journalled, key: &str| run.run.json()[key].as_str().unwrap().to_owned();
    let first = replay(BOTS, 6);
    for (what, other) in [
        ("latency", BOTS.replace("1500", "1501")),
        ("a parameter", BOTS.replace("\"rsi-reversal\"", "\"rsi-reversal\"\nparams = { period = 13 }")),
        ("a name", BOTS.replace("\"cross\"", "\"other\"")),
        ("the balance", format!("[account]\ninitial_balance = 10001\n{BOTS}")),
    ] {
        assert_ne!(other, BOTS);
        let other = replay(&other, 6);
        assert_eq!(hash(&first, "data_hash"), hash(&other, "data_hash"), "{what}");
        assert_ne!(hash(&first, "journal_hash"), hash(&other, "journal_hash"), "{what}");
    }
    let longer = replay(BOTS, 7);
    assert_ne!(hash(&first, "data_hash"), hash(&longer, "data_hash"));
    assert_ne!(hash(&first, "journal_hash"), hash(&longer, "journal_hash"));
}
