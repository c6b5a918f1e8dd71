//! The program on a journal in a PostgreSQL server: the same run, the same answers as on a file, and a start after a start.
//!
//! `CANDLEWICK_TEST_POSTGRES` is the URL of a server on which databases may be made, with its password; `.ci/postgres`
//! provides it. The program itself gets the password from `PGPASSFILE`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what cannot be read or run fails its test")]

#[allow(dead_code, reason = "made for the other tests, of which there are more")]
mod candlewick;
#[allow(dead_code, reason = "made for the other tests, of which there are more")]
mod excerpt;
#[allow(dead_code, reason = "made for the other tests, of which there are more")]
mod recording;
mod seconds;
#[allow(dead_code, reason = "made for the other tests, of which there are more")]
mod serving;
mod two_runs;

use candlewick::Folder;
use serde_json::Value;
use sqlx::Connection;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;
use url::Url;

/// A database of one test, and the file that knows its password.
struct Database {
    /// With the password.
    url: Url,
    name: String,
    folder: TempDir,
}

fn server() -> Url {
    let url = std::env::var("CANDLEWICK_TEST_POSTGRES");
    let url = url.expect("CANDLEWICK_TEST_POSTGRES must name a server: run .ci/postgres");
    Url::parse(&url).expect("CANDLEWICK_TEST_POSTGRES is a URL")
}

fn run_on(url: &Url, statement: &str) {
    recording::block_on(async {
        let mut connection = sqlx::PgConnection::connect(url.as_str()).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement.to_owned())).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}

impl Database {
    fn create(test: &str) -> Self {
        let name = format!("candlewick_{test}_{}", std::process::id());
        run_on(&server(), &format!("CREATE DATABASE {name}"));
        let mut url = server();
        url.set_path(&name);
        let folder = tempfile::tempdir().unwrap();
        let database = Self { url, name, folder };
        let (user, password) = (database.url.username(), database.url.password().unwrap());
        std::fs::write(database.password_file(), format!("*:*:*:{user}:{password}\n")).unwrap();
        let only_ours = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(database.password_file(), only_ours).unwrap();
        database
    }

    fn password_file(&self) -> PathBuf {
        self.folder.path().join("passwords")
    }

    /// As the program is given it.
    fn journal(&self) -> String {
        let mut url = self.url.clone();
        url.set_password(None).unwrap();
        url.to_string()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        run_on(&server(), &format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

/// What is reported of both journals must be the same, but for where they lie.
fn check_same(folder: &Folder, command: &[&str], journals: [&str; 2]) {
    let printed = journals.map(|journal| {
        let run = folder.run(&[command, &["--journal", journal]].concat());
        assert_eq!(run.code, 0, "{command:?}: {}", run.stderr);
        // The chain of the copy is another: it holds no raw exchanges, so no seals of them.
        let lines = run
            .stdout
            .lines()
            .filter(|line| !line.contains("head_hash") && !line.contains("hash of the last line"));
        lines.collect::<Vec<_>>().join("\n").replace(journal, "JOURNAL")
    });
    let [file, server] = printed.map(|text| text.replace("sqlite://JOURNAL", "JOURNAL"));
    assert_eq!(server, file, "{command:?}");
}

#[test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
fn a_run_is_recorded_and_all_that_reads_it_reads_what_a_file_would_hold() {
    let database = Database::create("run");
    let journal = database.journal();
    let folder = recording::folder();
    let folder = folder.with_variable("PGPASSFILE", &database.password_file().to_string_lossy());
    let arguments = ["live", "--sandbox", "--speed", "max", "--until-end", "--json", "--quiet"];
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"];
    let more = ["--config", "bots.toml", "--journal", &journal];
    let report: Value = folder.run(&[&arguments[..], &more, &data].concat()).json();
    let trades = report["trades"].as_u64().unwrap();
    assert!(trades > 100, "{report}");

    let recorded = recording::lines_at(&database.url.as_str().parse().unwrap());
    recording::write(&folder.path("run.db"), recorded.iter().map(|stored| stored.line.clone()));
    for command in [
        &["trades", "--json"][..],
        &["trades"],
        &["report", "--json", "--run", "1"],
        &["why", "2026-01-06T03:00:00Z", "BTCUSDT", "--json"],
        &["parity", "--json"],
    ] {
        check_same(&folder, command, ["run.db", &journal]);
    }
    let ask = |command: &[&str]| folder.run(&[command, &["--journal", &journal]].concat());
    let explained = ask(&["explain", &trades.to_string()]);
    assert!(
        explained.code == 0 && explained.stdout.contains("POST /token/trades/open"),
        "{}",
        explained.stdout
    );
    let status = ask(&["status", "--json"]).json();
    assert_eq!((&status["entries"], &status["holder"]), (&recorded.len().into(), &Value::Null), "{status}");
    let parity = ask(&["parity", "--json"]).json();
    assert_eq!(parity["ok"], true, "{parity}");
    let doctor = folder.with_variable("CANDLEWICK_JOURNAL__URL", &journal);
    let printed = doctor.run(&["doctor", "--config", "bots.toml"]).stdout;
    assert!(
        printed.contains(&format!("holds {} entries, and their chain is whole", recorded.len())),
        "{printed}"
    );
    assert!(!printed.contains(database.url.password().unwrap()), "{printed}");
}

#[test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
fn a_run_after_a_clean_end_trades_on_and_both_are_replayed() {
    let database = Database::create("restart");
    let passwords = database.password_file();
    two_runs::check(&database.journal(), &[("PGPASSFILE", &passwords.to_string_lossy())], |_| ());
}

#[test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
fn a_journal_of_a_newer_program_is_refused_and_not_touched() {
    let database = Database::create("newer");
    let folder = recording::folder().with_variable("PGPASSFILE", &database.password_file().to_string_lossy());
    let journal = database.journal();
    let live = ["live", "--sandbox", "--for", "1s", "--quiet", "--json", "--config", "bots.toml"];
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv", "--journal", &journal];
    let run = || folder.run(&[&live[..], &data].concat());
    assert_eq!(run().code, 0);
    run_on(&database.url, "UPDATE _sqlx_migrations SET version = 99 WHERE version = 2");
    for command in [&["status"][..], &["trades"], &["report"], &["parity"]] {
        folder.run(&[command, &["--journal", &journal]].concat()).fails(2, &["schema 99", "newer"]);
    }
    run().fails(2, &["schema 99"]);
}
