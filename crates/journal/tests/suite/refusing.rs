//! Old journals are migrated; newer ones and other databases are rejected.

use super::fixture::{Fixture, commit_exchange, exchange, line};
use candlewick_journal::{JournalError, Reader};

/// A journal with the first schema and two lines. The hashes were computed independently.
const SCHEMA_1: &str = "
CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL,
    checksum {bytes} NOT NULL, execution_time BIGINT NOT NULL);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (1, 'journal', TRUE, {checksum}, 1);
CREATE TABLE entries (seq BIGINT NOT NULL PRIMARY KEY, run BIGINT NOT NULL, kind TEXT NOT NULL, intent BIGINT,
    at BIGINT NOT NULL, received BIGINT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX entries_by_intent ON entries (intent);
CREATE INDEX entries_by_at ON entries (at);
CREATE TABLE lease (id BIGINT NOT NULL PRIMARY KEY, token TEXT NOT NULL, program TEXT NOT NULL, pid BIGINT NOT NULL,
    host TEXT NOT NULL, machine TEXT NOT NULL, since BIGINT NOT NULL, heartbeat BIGINT NOT NULL,
    duration BIGINT NOT NULL, head_seq BIGINT NOT NULL, head_hash TEXT NOT NULL);
INSERT INTO lease VALUES (1, '', 'candlewick 0.1.0', 12, 'there', 'that', 500, 0, 30000, 2,
    'ce3388ffc96fdfcb41f86555192c1e67ef8eb3c0fec63c239a5ae43e8baa1eee');
INSERT INTO entries VALUES (1, 1, 'run', NULL, 1000, 1000, '{\"format\":1}',
    'e95a6fbf8340819b94a2e2054352c6d53226af64afa27d539417685994d5e632');
INSERT INTO entries VALUES (2, 1, 'event', 7, 2000, 2010, '{\"event\":\"in_doubt\",\"intent\":7}',
    'ce3388ffc96fdfcb41f86555192c1e67ef8eb3c0fec63c239a5ae43e8baa1eee');
";

/// SHA-384 of the first migration, which must never change.
const CHECKSUM_1: &str = "42d53fd151117b0d09a8093f7c7519638d74ea4f843fa480c2f6280117f7b39f\
                          7926ec1bfb1b39a5b9580f23a76c8438";

const BODIES: [&str; 2] = ["{\"format\":1}", "{\"event\":\"in_doubt\",\"intent\":7}"];

pub(crate) async fn make_schema_1(fixture: &Fixture) {
    let kind = if fixture.driver_url.starts_with("sqlite") { "BLOB" } else { "BYTEA" };
    let checksum = (fixture.bytes)(CHECKSUM_1);
    fixture.run(&SCHEMA_1.replace("{bytes}", kind).replace("{checksum}", &checksum)).await;
}

pub(crate) async fn migrates_old_journal(fixture: &Fixture) {
    make_schema_1(fixture).await;
    let mut store = fixture.open().await.unwrap();
    assert_eq!(store.head().seq, 2);
    store.record(line("3"));
    commit_exchange(&mut store, exchange(7, "a")).await;
    assert_eq!(fixture.bodies().await, [BODIES[0], BODIES[1], "3"]);
    assert_eq!(fixture.reader().await.exchanges_of_intent(7).await.unwrap(), [exchange(7, "a")]);
    assert_eq!(fixture.number("SELECT MAX(version) FROM _sqlx_migrations").await, 4);
}

pub(crate) async fn reads_old_journal_unchanged(fixture: &Fixture) {
    make_schema_1(fixture).await;
    assert_eq!(fixture.bodies().await, BODIES);
    let mut reader = fixture.reader().await;
    assert_eq!(reader.exchanges_of_intent(7).await.unwrap(), []);
    assert_eq!(reader.current_lease().await.unwrap(), None);
    assert_eq!(fixture.number("SELECT MAX(version) FROM _sqlx_migrations").await, 1);
}

pub(crate) async fn rejects_newer_journal(fixture: &Fixture) {
    fixture.written(&["1"]).await.close().await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 SELECT 5, 'more', success, checksum, 1 FROM _sqlx_migrations WHERE version = 2";
    fixture.run(newer).await;
    for error in [fixture.open().await.map(drop), Reader::open(&fixture.url).await.map(drop)] {
        let error = error.unwrap_err();
        assert!(matches!(error, JournalError::NewerSchema { found: 5, known: 4, .. }), "{error:?}");
        assert!(error.to_string().ends_with("use a newer program"), "{error}");
    }
    assert_eq!(fixture.number("SELECT COUNT(*) FROM entries").await, 1);
}

pub(crate) async fn rejects_other_database_without_changing_it(fixture: &Fixture) {
    fixture.run("CREATE TABLE customers (id BIGINT); INSERT INTO customers VALUES (7)").await;
    for error in [fixture.open().await.map(drop), Reader::open(&fixture.url).await.map(drop)] {
        assert_fails!(error, JournalError::NotAJournal { .. });
    }
    assert_eq!(fixture.number("SELECT MAX(id) FROM customers").await, 7);
    // The table names are right, but the migrations are from another program.
    make_schema_1(fixture).await;
    let strange = (fixture.bytes)("00");
    fixture.run(&format!("UPDATE _sqlx_migrations SET checksum = {strange}")).await;
    assert_fails!(fixture.open().await, JournalError::NotAJournal { .. });
}
