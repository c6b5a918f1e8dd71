//! Schema of a journal database: creation, migration and version check.

use super::JournalUrl;
use super::connection::Connection;
use super::fault::{from_migrate, from_sqlx};
use crate::JournalError;
use crate::error::Result;
use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType};
use sqlx::{AnyConnection, SqlSafeStr};

pub(crate) const SCHEMA_VERSION: i64 = 4;
pub(crate) const OPERATOR_ORDERS_MIN_SCHEMA: i64 = 3;
const MIGRATIONS_TABLE: &str = "_sqlx_migrations";
/// Migrations in ascending order of version. Never change an existing migration.
const MIGRATIONS: [(i64, &str, &str); 4] = [
    (1, "journal", include_str!("../../migrations/1_journal.sql")),
    (2, "wires", include_str!("../../migrations/2_wires.sql")),
    (3, "orders", include_str!("../../migrations/3_orders.sql")),
    (4, "tables", include_str!("../../migrations/4_tables.sql")),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundSchema {
    Nothing,
    Schema(i64),
}

pub(crate) async fn inspect(connection: &mut Connection) -> Result<FoundSchema> {
    let (url, is_server) = (connection.url().clone(), connection.is_server());
    inspect_on(connection.any_connection(), is_server, &url).await
}

pub(crate) async fn inspect_on(
    any: &mut AnyConnection,
    is_server: bool,
    url: &JournalUrl,
) -> Result<FoundSchema> {
    let fault = |error| from_sqlx(error, url);
    let tables = if is_server {
        "SELECT CAST(table_name AS TEXT) FROM information_schema.tables WHERE table_schema = current_schema()"
    } else {
        "SELECT name FROM sqlite_master WHERE type = 'table'"
    };
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut *any).await.map_err(fault)?;
    if tables.is_empty() {
        return Ok(FoundSchema::Nothing);
    }
    for table in [MIGRATIONS_TABLE, "entries", "lease"] {
        if !tables.iter().any(|name| name == table) {
            let reason = format!("the database has tables, but no table {table}");
            return Err(JournalError::NotAJournal { url: url.to_string(), reason });
        }
    }
    let newest = "SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations";
    let found: i64 = sqlx::query_scalar(newest).fetch_one(any).await.map_err(fault)?;
    if found > SCHEMA_VERSION {
        return Err(JournalError::NewerSchema { url: url.to_string(), found, known: SCHEMA_VERSION });
    }
    Ok(FoundSchema::Schema(found))
}

/// Migrates a database to [`SCHEMA_VERSION`]. The caller's transaction must exclude other processes.
pub(crate) async fn migrate(any: &mut AnyConnection, url: &JournalUrl) -> Result<()> {
    let fault = |error| from_migrate(error, url);
    any.ensure_migrations_table(MIGRATIONS_TABLE).await.map_err(fault)?;
    let applied = any.list_applied_migrations(MIGRATIONS_TABLE).await.map_err(fault)?;
    for (version, name, sql) in MIGRATIONS {
        let migration =
            Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false);
        match applied.iter().find(|applied| applied.version == version) {
            Some(applied) if applied.checksum == migration.checksum => {}
            Some(_) => return Err(from_migrate(MigrateError::VersionMismatch(version), url)),
            None => {
                any.apply(MIGRATIONS_TABLE, &migration).await.map_err(fault)?;
            }
        }
    }
    Ok(())
}
