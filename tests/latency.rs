//! Backtests with the latencies of a recorded session.

use crate::recording::{folder, lines, record_in_lock_step, write};

const BACKTEST: [&str; 7] =
    ["backtest", "--quiet", "--config", "bots.toml", "--config", "no-latency.toml", "--latency-from"];
const DATA: [&str; 4] = ["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"];

#[test]
fn measured_latency_of_a_session_reproduces_its_trades() {
    let folder = folder().with("no-latency.toml", "[simulation]\nlatency_ms = 0\n");
    record_in_lock_step(&folder);
    let backtest = |latency: &[&str], trades: &str| {
        let run = folder.run(&[&BACKTEST[..6], &DATA, latency, &["--trades", trades]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder.read(trades)
    };
    let session = folder.read("live.csv");
    assert_ne!(backtest(&[], "without.csv"), session);
    assert_eq!(backtest(&["--latency-from", "run.db"], "with.csv"), session);
    let header = lines(&folder.path("run.db")).into_iter().take(1).map(|stored| stored.line);
    write(&folder.path("empty.db"), header);
    for (journal, code) in [("empty.db", 3), ("nowhere.db", 2)] {
        folder.run(&[&BACKTEST[..], &[journal], &DATA].concat()).fails(code, &[journal]);
    }
}
