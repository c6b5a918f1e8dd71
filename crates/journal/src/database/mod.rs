//! Database of a journal: URL, connection, schema and errors.

pub(crate) mod connection;
pub(crate) mod fault;
pub(crate) mod lock;
pub(crate) mod schema;

use crate::private_file::{is_accessible_to_others, with_suffix};
use crate::{JournalError, point};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// URL of a journal: `sqlite://PATH` or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
/// A path is relative to the working directory unless it starts with `/`. The password is never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct JournalUrl(Location);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Location {
    File(PathBuf),
    Server(url::Url),
}

const PATH_ENCODE_SET: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

const FILE_SUFFIXES: [&str; 5] = ["", "-wal", "-shm", lock::LOCK_SUFFIX, point::VERIFIED_SUFFIX];
const SERVER_URL_OPTIONS: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

fn is_known_option(option: &str) -> bool {
    SERVER_URL_OPTIONS.contains(&option) || option.starts_with("options[")
}

impl JournalUrl {
    pub fn from_path(path: &Path) -> Self {
        Self(Location::File(path.to_owned()))
    }

    pub fn file(&self) -> Option<&Path> {
        match &self.0 {
            Location::File(path) => Some(path),
            Location::Server(_) => None,
        }
    }

    /// Returns the files of the journal that other users can access. Such files expose balances and trades.
    pub fn files_accessible_to_others(&self) -> Vec<PathBuf> {
        let files = self.file().into_iter().flat_map(|path| FILE_SUFFIXES.map(|end| with_suffix(path, end)));
        files.filter(|file| is_accessible_to_others(file)).collect()
    }

    pub(crate) fn location(&self) -> &Location {
        &self.0
    }

    pub(crate) fn sqlite_url(path: &Path, mode: &str) -> Option<String> {
        let path = path.to_str()?;
        Some(format!("sqlite:{}?mode={mode}", utf8_percent_encode(path, PATH_ENCODE_SET)))
    }
}

impl FromStr for JournalUrl {
    type Err = JournalError;

    fn from_str(text: &str) -> Result<Self, JournalError> {
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        // The message contains only the scheme, because the rest of the URL may contain a password.
        let wrong = |reason: &str| {
            Err(JournalError::InvalidUrl { url: format!("{scheme}:..."), reason: reason.to_owned() })
        };
        match scheme {
            "sqlite" => {
                let path = text.trim_start_matches("sqlite:");
                match path.strip_prefix("//").unwrap_or(path) {
                    "" => wrong("the file name is missing"),
                    ":memory:" => wrong("an in-memory journal would be lost at exit: specify a file"),
                    path if path.contains(['?', '#']) => wrong("a file URL cannot have options"),
                    path => Ok(Self(Location::File(PathBuf::from(path)))),
                }
            }
            "postgres" | "postgresql" => match url::Url::parse(text) {
                Ok(url) if !url.has_host() => wrong("the host is missing"),
                Ok(url) if url.path().len() < 2 => wrong("the database name is missing"),
                // The driver would log the value of an unknown option, and the value may be a password.
                Ok(url) => {
                    match url.query_pairs().map(|(name, _)| name).find(|name| !is_known_option(name)) {
                        Some(name) => wrong(&format!("unknown option {name:?}")),
                        None => Ok(Self(Location::Server(url))),
                    }
                }
                Err(error) => wrong(&error.to_string()),
            },
            // A file name contains no password, so the message may contain it.
            "" if is_database_file(text) => Err(JournalError::InvalidUrl {
                url: format!("{text:?}"),
                reason: format!("to use this file, specify sqlite://{text}"),
            }),
            _ => Err(JournalError::InvalidUrl {
                url: "without a known scheme".to_owned(),
                reason: "the URL must begin with sqlite:// or postgres://".to_owned(),
            }),
        }
    }
}

fn is_database_file(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| ["db", "sqlite", "sqlite3"].contains(&extension))
}

impl fmt::Display for JournalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Location::File(path) => write!(f, "sqlite://{}", path.display()),
            Location::Server(url) => {
                // Omits the URL options, because they may contain a password.
                write!(f, "postgres://")?;
                if !url.username().is_empty() {
                    write!(f, "{}@", url.username())?;
                }
                write!(f, "{}", url.host_str().unwrap_or_default())?;
                if let Some(port) = url.port() {
                    write!(f, ":{port}")?;
                }
                f.write_str(url.path())
            }
        }
    }
}

impl fmt::Debug for JournalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JournalUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_passwords() {
        for (text, expected) in [
            ("sqlite://candlewick.db", Ok("sqlite://candlewick.db")),
            ("sqlite:candlewick.db", Ok("sqlite://candlewick.db")),
            ("sqlite:///var/a b/%.db", Ok("sqlite:///var/a b/%.db")),
            ("postgres://ann:hunter2@db:5433/journal?sslmode=require", Ok("postgres://ann@db:5433/journal")),
            ("postgresql://db/journal?password=hunter2", Ok("postgres://db/journal")),
            ("sqlite://", Err("the file name is missing")),
            ("sqlite://:memory:", Err("an in-memory journal would be lost at exit: specify a file")),
            ("sqlite://a.db?mode=rwc", Err("a file URL cannot have options")),
            ("postgres://ann:hunter2@db", Err("the database name is missing")),
            ("postgres:///journal?password=hunter2", Err("the host is missing")),
            ("postgres://ann:hunter2@db:port/journal", Err("invalid port number")),
            ("postgres://db/journal?pasword=hunter2", Err("unknown option \"pasword\"")),
            ("runs/foo.db", Err("to use this file, specify sqlite://runs/foo.db")),
            ("hunter2:x", Err("the URL must begin with sqlite:// or postgres://")),
            ("hunter2", Err("the URL must begin with sqlite:// or postgres://")),
        ] {
            let parsed = match JournalUrl::from_str(text) {
                Ok(url) => {
                    assert_eq!(format!("{url:?}"), format!("JournalUrl({url})"));
                    Ok(url.to_string())
                }
                Err(error) => {
                    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
                    let JournalError::InvalidUrl { reason, .. } = error else { panic!("{error:?}") };
                    Err(reason)
                }
            };
            assert_eq!(parsed, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }
}
