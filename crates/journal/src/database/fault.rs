//! Mapping from database errors to journal errors.

use super::{JournalUrl, Location};
use crate::JournalError;
use sqlx::migrate::MigrateError;
use std::borrow::Cow;
use std::io;

pub(crate) trait WithUrl<T> {
    fn with_url(self, url: &JournalUrl) -> Result<T, JournalError>;
}

impl<T> WithUrl<T> for Result<T, sqlx::Error> {
    fn with_url(self, url: &JournalUrl) -> Result<T, JournalError> {
        self.map_err(|error| from_sqlx(error, url))
    }
}

pub(crate) fn from_sqlx(error: sqlx::Error, place: &JournalUrl) -> JournalError {
    let url = place.to_string();
    match &error {
        sqlx::Error::Database(fault) => {
            let code = fault.code().unwrap_or(Cow::Borrowed("")).into_owned();
            match place.location() {
                Location::File(path) => match code.parse() {
                    Ok(code) if is_unwritable(code) => {
                        JournalError::NotWritable { path: path.clone(), source: io::Error::other(error) }
                    }
                    code => from_sqlite(code.unwrap_or_default(), url, error),
                },
                Location::Server(_) => from_postgres(&code, url, error),
            }
        }
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed | sqlx::Error::BeginFailed => {
            JournalError::Unavailable { url, source: error.into() }
        }
        // A connection that is lost in the middle of a response causes a protocol error.
        sqlx::Error::Protocol(_) => JournalError::Unavailable { url, source: error.into() },
        sqlx::Error::Configuration(_) => {
            JournalError::InvalidUrl { url, reason: "the database driver cannot parse the URL".to_owned() }
        }
        _ => JournalError::Unexpected { url, source: error.into() },
    }
}

pub(crate) fn from_migrate(error: MigrateError, place: &JournalUrl) -> JournalError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => from_sqlx(error, place),
        other => JournalError::NotAJournal { url: place.to_string(), reason: other.to_string() },
    }
}

/// Returns whether a primary SQLite error code is READONLY, PERM or CANTOPEN.
const fn is_unwritable(code: i32) -> bool {
    matches!(code & 0xff, 3 | 8 | 14)
}

fn from_sqlite(code: i32, url: String, error: sqlx::Error) -> JournalError {
    match code & 0xff {
        // The SQLite codes BUSY, LOCKED, NOMEM, INTERRUPT and IOERR.
        5 | 6 | 7 | 9 | 10 => JournalError::Unavailable { url, source: error.into() },
        11 => JournalError::Damaged { url, source: error.into() },
        13 => JournalError::DiskFull { url, source: error.into() },
        26 => JournalError::NotAJournal { url, reason: "the file is not an SQLite database".to_owned() },
        _ => JournalError::Unexpected { url, source: error.into() },
    }
}

fn from_postgres(code: &str, url: String, error: sqlx::Error) -> JournalError {
    let class = code.get(..2).unwrap_or_default();
    match (class, code) {
        (_, "53100") => JournalError::DiskFull { url, source: error.into() },
        (_, "25006" | "42501") => JournalError::PermissionDenied { url, source: error.into() },
        // Connection, rollback, insufficient resources, operator intervention, system error, lock and timeout errors.
        ("08" | "40" | "53" | "57" | "58", _) | (_, "55P03" | "25P03" | "25P04") => {
            JournalError::Unavailable { url, source: error.into() }
        }
        ("28" | "3D" | "3F", _) => {
            let reason = error.as_database_error().map_or(String::new(), |fault| fault.message().to_owned());
            JournalError::InvalidUrl { url, reason }
        }
        ("XX", "XX001" | "XX002") => JournalError::Damaged { url, source: error.into() },
        _ => JournalError::Unexpected { url, source: error.into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(error: &JournalError) -> &'static str {
        match error {
            JournalError::Unavailable { .. } => "wait",
            JournalError::DiskFull { .. } => "room",
            JournalError::PermissionDenied { .. } => "grant",
            JournalError::InvalidUrl { .. } => "url",
            JournalError::NotAJournal { .. } => "not a journal",
            JournalError::Damaged { .. } => "restore",
            JournalError::Unexpected { .. } => "report",
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn maps_database_codes_to_errors() {
        for (codes, expected) in [
            ("53100", "room"),
            ("53300 57P01 57P03 08006 40001 55P03 58030", "wait"),
            ("25006 42501", "grant"),
            ("28P01 3D000", "url"),
            ("XX001", "restore"),
            ("23505 42P01 -", "report"),
        ] {
            for code in codes.split(' ') {
                let error = from_postgres(code, String::new(), sqlx::Error::RowNotFound);
                assert_eq!(name(&error), expected, "{code}");
            }
        }
        for (codes, expected) in [
            (&[5, 261, 10, 1034][..], "wait"),
            (&[11], "restore"),
            (&[13], "room"),
            (&[26], "not a journal"),
            (&[1, 1555], "report"),
        ] {
            for code in codes {
                let error = from_sqlite(*code, String::new(), sqlx::Error::RowNotFound);
                assert_eq!(name(&error), expected, "{code}");
            }
        }
        for (code, expected) in [(8, true), (776, true), (1032, true), (14, true), (3, true), (5, false)] {
            assert_eq!(is_unwritable(code), expected, "{code}");
        }
    }
}
