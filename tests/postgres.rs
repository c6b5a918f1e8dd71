//! Journals on the PostgreSQL server `CANDLEWICK_TEST_POSTGRES`, a URL with password provided by `.ci/postgres`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed read or command fails the test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod candlewick;
mod consecutive_runs;
#[allow(dead_code, reason = "other tests use the rest")]
mod excerpt;
mod golden_case;
#[allow(dead_code, reason = "other tests use the rest")]
mod recording;
mod seconds;
#[allow(dead_code, reason = "other tests use the rest")]
mod serving;

use candlewick::Folder;
use serde_json::Value;
use sqlx::Connection;
use std::io::Write;
use url::Url;

struct Database {
    url: Url,
    name: String,
    passwords: tempfile::NamedTempFile,
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
        // Readable only by its owner.
        let mut passwords = tempfile::NamedTempFile::new().unwrap();
        writeln!(passwords, "*:*:*:{}:{}", url.username(), url.password().unwrap()).unwrap();
        Self { url, name, passwords }
    }

    fn password_file(&self) -> String {
        self.passwords.path().to_string_lossy().into_owned()
    }

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

/// Reads a journal without its chain hash, which differs in copies without the raw exchanges.
fn read(folder: &Folder, command: &[&str], journal: &str) -> Value {
    let mut document = folder.run(&[command, &["--journal", journal, "--json"]].concat()).json();
    if let Some(fields) = document.as_object_mut() {
        fields.remove("head_hash");
    }
    document
}

#[test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
fn journal_on_a_server_reads_like_the_same_journal_in_a_file() {
    let database = Database::create("run");
    let journal = database.journal();
    let folder = recording::folder().with_variable("PGPASSFILE", &database.password_file());
    let arguments = ["live", "--sandbox", "--speed", "max", "--until-end", "--json", "--quiet"];
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"];
    let more = ["--config", "bots.toml", "--journal", &journal];
    let report = folder.run(&[&arguments[..], &more, &data].concat()).json();
    let trades = report["trades"].as_u64().unwrap();
    assert!(trades > 100, "{report}");
    let recorded = recording::lines_at(&database.url.as_str().parse().unwrap());
    recording::write(&folder.path("run.db"), recorded.iter().map(|stored| stored.line.clone()));
    let moment = ["why", "2026-01-06T03:00:00Z", "BTCUSDT"];
    for command in [&["trades"][..], &["report", "--run", "1"], &moment, &["parity"]] {
        let [file, server] = ["run.db", &journal].map(|journal| read(&folder, command, journal));
        assert_eq!(server, file, "{command:?}");
    }
    assert_eq!(read(&folder, &["parity"], &journal)["ok"], true);
    let explained = read(&folder, &["explain", &trades.to_string()], &journal);
    let request = explained["timeline"][1]["detail"].as_str().unwrap();
    assert!(request.starts_with("POST /token/trades/open"), "{explained}");
    let status = read(&folder, &["status"], &journal);
    assert_eq!((&status["entries"], &status["holder"]), (&recorded.len().into(), &Value::Null), "{status}");
    let doctor = folder.with_variable("CANDLEWICK_JOURNAL__URL", &journal);
    let printed = doctor.run(&["doctor", "--config", "bots.toml"]).stdout;
    assert!(printed.contains(&format!("{} entries", recorded.len())), "{printed}");
    assert!(!printed.contains(database.url.password().unwrap()), "{printed}");
}

#[test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
fn recorded_journal_on_a_server_reads_as_recorded() {
    let database = Database::create("golden");
    run_on(&database.url, &String::from_utf8(golden_case::unpack("postgres.sql.gz")).unwrap());
    let folder = Folder::new().with_variable("PGPASSFILE", &database.password_file());
    let commands = ["journal verify --json", "trades --json", "parity --json"];
    golden_case::check("journal-postgres", &commands, |words| {
        let mut document = folder.run(&[words, &["--journal", &database.journal()]].concat()).json();
        if let Some(document) = document.as_object_mut() {
            document.remove("journal"); // its name and port differ
        }
        document
    });
}

#[test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
fn restart_after_a_clean_end_continues_and_parity_replays_both_runs() {
    let database = Database::create("restart");
    consecutive_runs::check(&database.journal(), &[("PGPASSFILE", &database.password_file())], |_| ());
}
