//! Journals written by an older and by a newer program.
#![cfg(unix)]

use crate::candlewick::{Folder, repository};
use crate::consecutive_runs::{self, read_trades};
use crate::recording::{block_on, connect, edit, execute, folder, forge_chain, record_in_lock_step};
use serde_json::Value;
use sqlx::Connection;

const PRESENT: i64 = 4;

fn set_back(folder: &Folder) {
    let path = folder.path("run.db");
    execute(
        &path,
        "DROP VIEW trades; DROP TABLE intents; DROP TABLE figures; DROP TABLE projection; DROP TABLE wires; \
         DROP TABLE orders; ALTER TABLE lease DROP COLUMN started; DELETE FROM _sqlx_migrations WHERE version > 1; \
         UPDATE entries SET body = '{}' WHERE body LIKE '{\"exchanges\":%'",
    );
    forge_chain(&path);
    std::fs::remove_file(folder.path("run.db.verified")).unwrap();
}

fn schema(folder: &Folder) -> i64 {
    block_on(async {
        let mut connection = connect(&folder.path("run.db")).await;
        let version = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations");
        let version = version.fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        version
    })
}

fn has_request(folder: &Folder, intent: &str) -> bool {
    folder.query(&format!("explain {intent}"), "run.db").to_string().contains("POST /token/trades/open")
}

#[test]
fn reads_an_older_journal_unchanged_and_migrates_it_at_the_next_run() {
    let folder = consecutive_runs::check("run.db", &[], |folder| {
        assert!(has_request(folder, "1"));
        set_back(folder);
        assert!(!has_request(folder, "1"));
        for command in ["status", "trades", "report", "parity"] {
            let run = folder.run(&[command, "--journal", "run.db"]);
            assert_eq!(run.code, 0, "{command}: {}", run.stderr);
        }
        assert_eq!(schema(folder), 1, "readers change nothing");
    });
    assert_eq!(schema(&folder), PRESENT);
    let is_second = |trade: &&Value| trade["run"] == 2 && trade["state"] == "settled";
    let last = read_trades(&folder, "run.db").iter().rfind(is_second).unwrap()["intent_id"].to_string();
    assert!(has_request(&folder, &last));
}

#[test]
fn refuses_a_newer_journal_and_leaves_it_unchanged() {
    let folder = folder();
    record_in_lock_step(&folder);
    edit(&folder.path("run.db"), "UPDATE _sqlx_migrations SET version = 99 WHERE version = 4");
    let bytes = || std::fs::read(folder.path("run.db")).unwrap();
    let before = bytes();
    let live = ["live", "--sandbox", "--until-end", "--speed", "max", "--quiet", "--config", "bots.toml"];
    let live = [&live[..], &["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"]].concat();
    let (explain, why) = (["explain", "1"], ["why", "2026-01-06"]);
    for command in [&["status"][..], &["trades"], &["report"], &explain, &why, &["parity"], &live] {
        folder.run(&[command, &["--journal", "run.db"]].concat()).fails(2, &["newer", "schema 99"]);
    }
    assert!(bytes() == before, "the journal was changed");
}

/// The earlier program used one name for two limits. The open trade was on that symbol.
#[test]
fn old_refusal_with_a_shared_limit_name_shows_the_limit_that_applied() {
    let fixture = repository().join("tests/fixtures/journal-before-delays/run.db");
    let folder = Folder::new();
    std::fs::copy(fixture, folder.path("run.db")).unwrap();
    let why = folder.query("why 2026-01-05T00:37:00Z", "run.db");
    let refusal = why["bots"][0]["refusal"].as_str().unwrap();
    assert!(refusal.contains("max_open_trades_per_symbol"), "{why}");
}
