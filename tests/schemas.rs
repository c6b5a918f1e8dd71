//! Journals of an earlier and of a newer program, under this one.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::recording::{block_on, edit, folder, forge_chain, record_in_lock_step};
use crate::two_runs;
use sqlx::Connection;

/// The schema that this program writes.
const PRESENT: i64 = 4;

/// Makes a journal what the first schema had: requests were neither kept nor sealed then, and nothing was remembered beside it.
fn set_back(folder: &Folder) {
    block_on(async {
        let url = format!("sqlite:{}", folder.path("run.db").display());
        let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
        let statements = "DROP VIEW trades; DROP TABLE intents; DROP TABLE figures; DROP TABLE projection; DROP TABLE wires; DROP TABLE orders; ALTER TABLE lease DROP COLUMN started; DELETE FROM _sqlx_migrations WHERE version > 1; \
                          UPDATE entries SET body = '{}' WHERE body LIKE '{\"exchanges\":%'";
        sqlx::raw_sql(statements).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
    forge_chain(&folder.path("run.db"));
    std::fs::remove_file(folder.path("run.db.verified")).unwrap();
}

fn schema(folder: &Folder) -> i64 {
    block_on(async {
        let url = format!("sqlite:{}", folder.path("run.db").display());
        let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
        let version = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations");
        let version = version.fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        version
    })
}

#[test]
fn the_journal_of_an_earlier_program_is_read_as_it_is_and_migrated_by_the_next_run() {
    let folder = two_runs::check("run.db", &[], |folder| {
        let explain = || folder.run(&["explain", "1", "--journal", "run.db"]).stdout;
        assert!(explain().contains("POST /token/trades/open"), "{}", explain());
        set_back(folder);
        assert!(explain().contains("settled") && !explain().contains("POST"), "{}", explain());
        for command in ["status", "trades", "report", "parity"] {
            let run = folder.run(&[command, "--journal", "run.db"]);
            assert_eq!(run.code, 0, "{command}: {}", run.stderr);
        }
        assert_eq!(schema(folder), 1, "whoever reads changes nothing");
    });
    assert_eq!(schema(&folder), PRESENT);
    let trades = folder.run(&["trades", "--journal", "run.db", "--json"]).json();
    let is_of_second_run = |trade: &&serde_json::Value| trade["run"] == 2 && trade["state"] == "settled";
    let last = trades.as_array().unwrap().iter().rfind(is_of_second_run).expect("the second run has traded");
    let explained = folder.run(&["explain", &last["intent_id"].to_string(), "--journal", "run.db"]);
    assert!(explained.stdout.contains("POST /token/trades/open"), "{}", explained.stdout);
}

#[test]
fn the_journal_of_a_newer_program_is_refused_and_not_touched() {
    let folder = folder();
    record_in_lock_step(&folder);
    assert_eq!(schema(&folder), PRESENT);
    edit(&folder.path("run.db"), "UPDATE _sqlx_migrations SET version = 99 WHERE version = 4");
    let bytes = || std::fs::read(folder.path("run.db")).unwrap();
    let before = bytes();
    let live = ["live", "--sandbox", "--until-end", "--speed", "max", "--quiet", "--config", "bots.toml"];
    let live = [&live[..], &["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"]].concat();
    for command in [
        &["status"][..],
        &["trades"],
        &["report"],
        &["explain", "1"],
        &["why", "2026-01-06"],
        &["parity"],
        &live,
    ] {
        let run = folder.run(&[command, &["--journal", "run.db"]].concat());
        run.fails(2, &["written by a newer program (schema 99, this one knows 4): use the newer program"]);
    }
    assert!(bytes() == before, "it was changed");
}
