//! Baseline for the journal benchmark: commits one row to a table of the same shape, and nothing else.

use sqlx::{AnyConnection, Connection};
use std::time::{Duration, Instant};

pub(crate) struct BareTable {
    connection: AnyConnection,
    rows: i64,
}

impl BareTable {
    pub(crate) async fn create(url: &str) -> Self {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(url).await.unwrap();
        let wal = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL";
        if url.starts_with("sqlite") {
            sqlx::raw_sql(wal).execute(&mut connection).await.unwrap();
        }
        let table = "CREATE TABLE entries (seq BIGINT NOT NULL PRIMARY KEY, run BIGINT NOT NULL, \
                     kind TEXT NOT NULL, intent BIGINT, at BIGINT NOT NULL, received BIGINT NOT NULL, \
                     body TEXT NOT NULL, hash TEXT NOT NULL)";
        sqlx::raw_sql(table).execute(&mut connection).await.unwrap();
        Self { connection, rows: 0 }
    }

    pub(crate) async fn commit(&mut self, (at, received): (i64, i64), body: &str) -> Duration {
        self.rows += 1;
        let begun = Instant::now();
        sqlx::query("INSERT INTO entries VALUES ($1, $2, $3, $4, $5, $6, $7, $8)")
            .bind(self.rows)
            .bind(1_i64)
            .bind("event")
            .bind(7_i64)
            .bind(at)
            .bind(received)
            .bind(body)
            .bind("ce3388ffc96fdfcb41f86555192c1e67ef8eb3c0fec63c239a5ae43e8baa1eee")
            .execute(&mut self.connection)
            .await
            .unwrap();
        begun.elapsed()
    }
}
