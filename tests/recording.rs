//! Journals recorded by the binary, copied with a change, or edited.

use crate::candlewick::{Folder, Run};
use crate::excerpt::{DAY, HOUR, MONDAY, shipped};
use candlewick_journal::{ChainHash, Holder, JournalUrl, Line, Reader, Store, StoredLine};
use sqlx::Connection;
use std::path::Path;
use tokio::runtime::Builder;

const BOTS: &str = r#"
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 2
max_trades_per_day = 0
daily_loss_limit = 0
max_drawdown_percent = 0
allow_opposite = true
max_signal_delay_ms = 30000
[broker]
timeout_ms = 500
retry_pause_ms = 20
[runtime]
watch_prices = false
list_lag_ms = 10000
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
params = { period = 2, oversold = 45.0, overbought = 55.0 }
close_type = "01:00"
expiration_type = "TIME_FIXED"
[[bots]]
name = "gbp"
symbol = "GBPUSD"
asset_type = "forex"
interval = "1m"
strategy = "rsi-reversal"
params = { period = 3, oversold = 45.0, overbought = 55.0 }
close_type = "02:00"
expiration_type = "CANDLE_CLOSE"
"#;

const MAX_STARTS: u32 = 20;

pub(crate) fn folder() -> Folder {
    let part = |name: &str| shipped(name, MONDAY + DAY, MONDAY + DAY + 6 * HOUR);
    Folder::new()
        .with("bots.toml", BOTS)
        .with("BTCUSDT_1m.csv", &part("BTCUSDT_1m.csv"))
        .with("GBPUSD_1m.csv", &part("GBPUSD_1m.csv"))
}

pub(crate) fn record(folder: &Folder, arguments: &[&str]) -> Run {
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"];
    let common = ["live", "--sandbox", "--json", "--quiet", "--config", "bots.toml", "--journal", "run.db"];
    folder.run(&[&common, arguments, &data].concat())
}

pub(crate) fn record_in_lock_step(folder: &Folder) -> Run {
    record(folder, &["--speed", "max", "--until-end", "--trades", "live.csv"])
}

pub(crate) fn record_under(folder: &Folder, profile: &str) {
    for seed in 1..=MAX_STARTS {
        std::fs::write(folder.path("seed.toml"), format!("[sandbox]\nseed = {seed}\n")).unwrap();
        let run = ["--speed", "300", "--for", "6s", "--faults", profile, "--config", "seed.toml"];
        if record(folder, &run).code == 0 {
            return;
        }
        // A failed start may have written its header.
        for name in ["run.db", "run.db-wal", "run.db-shm"] {
            drop(std::fs::remove_file(folder.path(name)));
        }
    }
    panic!("no run began under {profile}");
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

pub(crate) fn lines(path: &Path) -> Vec<StoredLine> {
    lines_at(&JournalUrl::from_path(path))
}

pub(crate) fn lines_at(url: &JournalUrl) -> Vec<StoredLine> {
    block_on(async {
        let mut reader = Reader::open(url).await.unwrap();
        let mut lines: Vec<StoredLine> = Vec::new();
        loop {
            let from = lines.last().map_or(1, |last| last.seq + 1);
            let page = reader.lines(from, 5_000).await.unwrap();
            if page.is_empty() {
                return lines;
            }
            lines.extend(page);
        }
    })
}

pub(crate) fn write(path: &Path, lines: impl IntoIterator<Item = Line>) {
    block_on(async {
        let holder = Holder::current_process("test");
        let mut store = Store::open(&JournalUrl::from_path(path), &holder).await.unwrap();
        for line in lines {
            let is_seal = line.body.starts_with("{\"exchanges\":");
            let body = if is_seal { "{}".to_owned() } else { line.body };
            store.record(Line { body, ..line });
        }
        store.close().await.unwrap();
    });
}

pub(crate) async fn connect(path: &Path) -> sqlx::SqliteConnection {
    sqlx::SqliteConnection::connect(&format!("sqlite:{}", path.display())).await.unwrap()
}

pub(crate) fn execute(path: &Path, statements: &'static str) {
    block_on(async {
        let mut connection = connect(path).await;
        sqlx::raw_sql(statements).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}

pub(crate) fn edit(path: &Path, sql: &'static str) {
    block_on(async {
        let mut connection = connect(path).await;
        let done = sqlx::query(sql).execute(&mut connection).await.unwrap();
        assert_eq!(done.rows_affected(), 1, "{sql}");
        connection.close().await.unwrap();
    });
}

pub(crate) fn forge(path: &Path, sql: &'static str) {
    edit(path, sql);
    forge_chain(path);
}

pub(crate) fn forge_chain(path: &Path) {
    let recorded = lines(path);
    block_on(async {
        let mut connection = connect(path).await;
        let mut forging = connection.begin().await.unwrap();
        let mut hash = ChainHash::GENESIS;
        for stored in recorded {
            hash = hash.next(stored.seq, &stored.line);
            let update = sqlx::query("UPDATE entries SET hash = ? WHERE seq = ?").bind(hash.to_string());
            update.bind(stored.seq.cast_signed()).execute(&mut *forging).await.unwrap();
        }
        let head = sqlx::query("UPDATE lease SET head_hash = ?").bind(hash.to_string());
        head.execute(&mut *forging).await.unwrap();
        forging.commit().await.unwrap();
        connection.close().await.unwrap();
    });
}
