//! Journals read from a snapshot, projected into tables, compacted, exported, and restored from a backup.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::consecutive_runs::{judged, read_trades, run_until, venue_and_bot};
use crate::recording::{block_on, edit, execute, folder, lines, record_in_lock_step};
use candlewick_journal::{JournalUrl, Reader};
use candlewick_records::{JournalContents, TradeFilter};
use serde_json::{Value, json};

fn recorded_with_snapshots() -> Folder {
    let folder = folder();
    let bots = folder.read("bots.toml").replace("[runtime]\n", "[runtime]\nsnapshot_every = 50\n");
    let folder = folder.with("bots.toml", &bots);
    record_in_lock_step(&folder);
    folder
}

fn trades_of_all_lines(folder: &Folder) -> Vec<Value> {
    let url = JournalUrl::from_path(&folder.path("run.db"));
    let contents =
        block_on(async { JournalContents::read(&mut Reader::open(&url).await.unwrap()).await.unwrap() });
    let trades = TradeFilter::default().apply(&contents).unwrap();
    serde_json::to_value(trades).unwrap().as_array().unwrap().clone()
}

/// Runs a closure without the record of an earlier verification, so that no snapshot is trusted.
fn without_verification<T>(folder: &Folder, read: impl Fn() -> T) -> T {
    let (verified, aside) = (folder.path("run.db.verified"), folder.path("aside"));
    std::fs::rename(&verified, &aside).unwrap();
    let value = read();
    std::fs::rename(&aside, &verified).unwrap();
    value
}

#[test]
fn status_and_trades_from_the_last_snapshot_match_the_whole_journal() {
    let folder = recorded_with_snapshots();
    let verified = folder.query("journal verify", "run.db");
    assert!(verified["snapshots"].as_u64() > Some(10), "{verified}");
    assert_eq!(verified["snapshots_not_checked"], json!({}));
    let read = || (folder.query("status", "run.db"), folder.query("trades", "run.db"));
    let (status, trades) = read();
    assert!(trades.as_array().unwrap().len() > 20, "{trades}");
    assert_eq!(trades, json!(trades_of_all_lines(&folder)));
    assert_eq!(without_verification(&folder, read), (status.clone(), trades));
    // `status` skips a candle long before the snapshot. `journal verify` reads it.
    let recorded = lines(&folder.path("run.db"));
    let candle = recorded.iter().find(|stored| stored.line.body.contains("\"event\":\"candle\"")).unwrap();
    edit(
        &folder.path("run.db"),
        "UPDATE entries SET received = received + 1 \
         WHERE seq = (SELECT MIN(seq) FROM entries WHERE body LIKE '%\"event\":\"candle\"%')",
    );
    assert_eq!(folder.query("status", "run.db"), status);
    folder.run(&["journal", "verify", "--journal", "run.db"]).fails(5, &[&format!("entry {}:", candle.seq)]);
}

fn explained(folder: &Folder) -> Vec<(Value, String)> {
    let explain = |trade: &Value| {
        let intent = trade["intent_id"].to_string();
        let raw = folder.run(&["explain", &intent, "--raw", "--journal", "run.db"]);
        assert_eq!(raw.code, 0, "{}", raw.stderr);
        (folder.query(&format!("explain {intent}"), "run.db"), raw.stdout)
    };
    read_trades(folder, "run.db").iter().map(explain).collect()
}

#[test]
fn explanations_from_the_last_snapshot_match_the_whole_journal() {
    let (_served, folder) = venue_and_bot("");
    let bot = folder.read("bot.toml").replace("[runtime]\n", "[runtime]\nsnapshot_every = 20\n");
    let folder = folder.with("bot.toml", &bot);
    for _ in 0..2 {
        let before = judged(&folder, "run.db");
        let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
        run_until(&folder, &live, || judged(&folder, "run.db") > before + 1);
    }
    let verified = folder.query("journal verify", "run.db");
    assert!(verified["snapshots"].as_u64() > Some(2), "{verified}");
    let recent = explained(&folder);
    for run in [1, 2] {
        let is_settled = |one: &Value| one["trade"]["run"] == run && one["trade"]["state"] == "settled";
        let (one, _) = recent.iter().find(|(one, _)| is_settled(one)).unwrap();
        assert!(one["timeline"].as_array().unwrap().len() > 4, "{one}");
        assert_eq!((&one["exchanges_outside"], &one["indicators_missing"]), (&json!(0), &Value::Null));
        assert!(!one["indicators"].as_object().unwrap().is_empty(), "{one}");
    }
    assert_eq!(without_verification(&folder, || explained(&folder)), recent);
    // Displayed entries are checked against the hash, even those before the snapshot.
    edit(
        &folder.path("run.db"),
        "UPDATE entries SET received = received + 1 WHERE seq = (SELECT MAX(seq) FROM entries WHERE intent = 1)",
    );
    folder.query("status", "run.db");
    folder.run(&["explain", "1", "--journal", "run.db"]).fails(5, &["entry "]);
}

#[test]
fn tables_and_exports_match_a_fold_of_all_journal_lines() {
    let folder = folder();
    record_in_lock_step(&folder);
    let trades = folder.query("trades", "run.db");
    assert_eq!(trades, json!(trades_of_all_lines(&folder)));
    let check = |journal: &str| {
        assert_eq!(folder.query("trades", journal), trades, "{journal}");
        let verified = folder.query("journal verify", journal);
        assert_eq!(verified["tables_up_to"], verified["entries"], "{journal}: {verified}");
    };
    check("run.db");
    edit(&folder.path("run.db"), "UPDATE intents SET state = 'open' WHERE intent = 2");
    folder.run(&["journal", "verify", "--journal", "run.db"]).fails(3, &["row 2 of the `intents` table"]);
    folder.query("journal project --rebuild", "run.db");
    check("run.db");
    folder.query("journal compact small.db --keep 1h", "run.db");
    check("small.db");
    let export = |to: &str| folder.run(&["journal", "export", to, "--journal", "run.db"]);
    assert_eq!(export("table").code, 0);
    let printed = folder.run(&["trades", "--csv", "--journal", "run.db"]).stdout;
    assert_eq!(folder.read("table/intents.csv").trim_end(), printed.trim_end());
    export("table").fails(2, &["table"]);
    export("missing/folder").fails(2, &["missing/folder"]);
    assert!(!folder.path("missing").exists());
    let statements = "DROP VIEW trades; DROP TABLE intents; DROP TABLE figures; DROP TABLE projection; \
                      DELETE FROM _sqlx_migrations WHERE version = 4";
    execute(&folder.path("run.db"), statements);
    assert_eq!(folder.query("journal verify", "run.db")["tables_up_to"], Value::Null);
    folder.query("journal project", "run.db");
    check("run.db");
}

#[test]
fn compaction_keeps_every_trade_and_is_atomic() {
    let folder = recorded_with_snapshots();
    folder.query("journal compact small.db --keep 1h", "run.db");
    assert_eq!(folder.query("trades", "small.db"), folder.query("trades", "run.db"));
    for key in ["balance", "equity", "settled", "profit_today", "loss_streak", "verdicts", "wallet"] {
        let of = |journal: &str| folder.query("status", journal)[key].clone();
        assert_eq!(of("small.db"), of("run.db"), "{key}");
    }
    folder.run(&["why", "2026-01-06T01:00:00Z", "--journal", "small.db"]).fails(2, &["compacted"]);
    let compact = |to: &str| folder.run(&["journal", "compact", to, "--journal", "run.db"]);
    compact("small.db").fails(2, &["small.db"]);
    edit(
        &folder.path("small.db"),
        "UPDATE entries SET body = replace(body, '\"candles\":', '\"candles\":1') WHERE seq = 1",
    );
    folder.run(&["journal", "verify", "--journal", "small.db"]).fails(5, &["entry 1:"]);
    edit(&folder.path("run.db"), "UPDATE entries SET received = received + 1 WHERE seq = 4");
    compact("other.db").fails(5, &["entry 4:"]);
    let is_left = |name: &String| name.contains("partial") || name.starts_with("other.db");
    assert_eq!(folder.names().into_iter().find(is_left), None);
}

#[test]
fn backup_of_a_running_bot_is_restored_elsewhere_and_continues() {
    let (_served, folder) = venue_and_bot("");
    let live = |config: &'static str, journal: &'static str| {
        ["live", "--config", config, "--journal", journal, "--json", "--quiet"]
    };
    // A trade after the backup may look like a second one. An unsent order is in doubt until the list must have it.
    let settings = "[runtime]\nsecond_trade = \"alarm\"\nlist_lag_ms = 2000\n";
    let settings = folder.read("bot.toml").replace("[runtime]\n", settings);
    let folder = folder.with("restored.toml", &settings);
    std::fs::create_dir(folder.path("elsewhere")).unwrap();
    let restored = "elsewhere/restored.db";
    let first = run_until(&folder, &live("bot.toml", "run.db"), || {
        let has_traded = judged(&folder, "run.db") > 1;
        if has_traded {
            folder.run(&["journal", "compact", "small.db", "--journal", "run.db"]).fails(7, &[]);
            folder.query(&format!("journal backup {restored}"), "run.db");
        }
        has_traded
    });
    assert!(first.json()["trades"].as_u64() > Some(1), "{}", first.stdout);
    let settled: Vec<Value> =
        read_trades(&folder, restored).into_iter().filter(|trade| trade["state"] == "settled").collect();
    let has_settled = |trades: &[Value]| settled.iter().all(|trade| trades.contains(trade));
    assert!(settled.len() > 1 && has_settled(&read_trades(&folder, "run.db")), "{settled:?}");
    let status = folder.query("status", restored);
    assert_eq!((&status["holder"], status["settled"].as_u64()), (&Value::Null, Some(settled.len() as u64)));
    let profit: f64 = settled.iter().map(|trade| trade["pnl"].as_f64().unwrap()).sum();
    let report = folder.query("report", restored);
    assert!((report["pnl"].as_f64().unwrap() - profit).abs() < 1e-6, "{report}");
    let has_traded_on = || {
        let is_its_own = |trade: &Value| trade["run"] == 2 && trade["state"] == "settled";
        read_trades(&folder, restored).iter().any(is_its_own)
    };
    let second = run_until(&folder, &live("restored.toml", restored), has_traded_on);
    assert!(second.json()["trades"].as_u64() > Some(0), "{}", second.stdout);
    let after = read_trades(&folder, restored);
    assert!(has_settled(&after), "{settled:?} {after:?}");
    assert_eq!(folder.run(&["journal", "verify", "--journal", restored]).code, 0);
}
