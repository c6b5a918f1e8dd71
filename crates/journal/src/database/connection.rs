//! Database connection whose commits are durable.

use super::fault::{WithUrl, from_sqlx};
use super::{JournalUrl, Location};
use crate::JournalError;
use crate::error::{Result, unavailable_error};
use crate::private_file::{self, with_suffix};
use sqlx::any::AnyConnectOptions;
use sqlx::{Any, AnyConnection, ConnectOptions, Connection as _, Transaction};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for opening a journal. The limit is long because a migration may change millions of lines.
pub(crate) const OPEN_TIMEOUT: Duration = Duration::from_mins(5);
const WAL_ATTEMPTS: u32 = 100;
const WAL_RETRY_DELAY: Duration = Duration::from_millis(50);
pub(crate) const BEGIN_SQLITE: &str = "BEGIN IMMEDIATE";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Create,
    Write,
    Read,
}

pub(crate) struct Connection {
    url: JournalUrl,
    any: AnyConnection,
    file: Option<OpenedFile>,
}

impl Connection {
    pub(crate) async fn open(url: &JournalUrl, purpose: Purpose) -> Result<Self> {
        sqlx::any::install_default_drivers();
        match url.location() {
            Location::File(path) => open_file(url, path, purpose).await,
            Location::Server(_) if cfg!(not(feature = "postgres")) => {
                Err(JournalError::WithoutPostgres { url: url.to_string() })
            }
            Location::Server(server) => {
                let any = with_timeout(ANSWER_TIMEOUT, url, connect(server.as_str(), url)).await?;
                let mut connection = Self { url: url.clone(), any, file: None };
                connection.run(SERVER_SETTINGS).await?;
                if purpose == Purpose::Read {
                    connection.run("SET default_transaction_read_only = on").await?;
                }
                Ok(connection)
            }
        }
    }

    /// Enables a synced write-ahead log, which makes commits to a file durable. Does nothing on a server.
    pub(crate) async fn make_durable(&mut self) -> Result<()> {
        if self.is_server() {
            return Ok(());
        }
        // Detects a read-only file. Without this check, switching the mode would report a misleading error.
        self.run("BEGIN IMMEDIATE; ROLLBACK").await?;
        for attempt in 1.. {
            let mode = sqlx::query_scalar("PRAGMA journal_mode = WAL").fetch_one(&mut self.any).await;
            let mode: Result<String, _> = mode.map_err(|error| from_sqlx(error, &self.url));
            match mode {
                Ok(mode) if mode == "wal" => break,
                // For this statement, SQLite does not wait while other processes open the file.
                Err(JournalError::Unavailable { .. }) if attempt < WAL_ATTEMPTS => {
                    tokio::time::sleep(WAL_RETRY_DELAY).await;
                }
                Err(error) => return Err(error),
                Ok(mode) => {
                    let problem = format!("the file system does not support SQLite's WAL mode, only {mode}");
                    return Err(unavailable_error(&self.url, problem));
                }
            }
        }
        self.run("PRAGMA synchronous = FULL").await
    }

    pub(crate) async fn begin(&mut self) -> Result<Transaction<'_, Any>> {
        let (url, statement) = (self.url.clone(), self.begin_statement());
        self.any.begin_with(statement).await.with_url(&url)
    }

    pub(crate) fn begin_statement(&self) -> &'static str {
        if self.is_server() { "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" } else { BEGIN_SQLITE }
    }

    pub(crate) async fn run(&mut self, statements: &'static str) -> Result<()> {
        let url = self.url.clone();
        let run = async {
            let done = sqlx::raw_sql(statements).execute(&mut self.any).await;
            done.map(drop).with_url(&url)
        };
        with_timeout(ANSWER_TIMEOUT, &url, run).await
    }

    /// Checks that the file was not deleted or moved. If it was, further writes would be lost.
    pub(crate) fn check_not_moved(&self) -> Result<()> {
        match &self.file {
            Some(mark) if OpenedFile::read(&mark.path)?.identity != mark.identity => {
                Err(unavailable_error(&self.url, "the file was replaced by another file"))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) const fn any_connection(&mut self) -> &mut AnyConnection {
        &mut self.any
    }

    pub(crate) const fn url(&self) -> &JournalUrl {
        &self.url
    }

    pub(crate) fn is_server(&self) -> bool {
        matches!(self.url.location(), Location::Server(_))
    }

    pub(crate) async fn close(self) {
        // Errors are ignored, because all commits are already durable.
        drop(self.any.close().await);
    }
}

/// Settings of a server session: durable commits, and timeouts for locks and idle transactions.
const SERVER_SETTINGS: &str = "
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
    SET lock_timeout = '5s';
    SET idle_in_transaction_session_timeout = '10s'";

/// Awaits `answer`, with a deadline if the journal is on a server. For files, SQLite's busy timeout limits the wait.
pub(crate) async fn with_timeout<T>(
    deadline: Duration,
    url: &JournalUrl,
    answer: impl Future<Output = Result<T>>,
) -> Result<T> {
    match url.location() {
        Location::File(_) => answer.await,
        Location::Server(_) => match tokio::time::timeout(deadline, answer).await {
            Ok(answer) => answer,
            Err(elapsed) => Err(unavailable_error(url, elapsed)),
        },
    }
}

async fn connect(driver_url: &str, url: &JournalUrl) -> Result<AnyConnection> {
    let options = AnyConnectOptions::from_str(driver_url).with_url(url)?;
    options.disable_statement_logging().connect().await.with_url(url)
}

async fn open_file(url: &JournalUrl, path: &Path, purpose: Purpose) -> Result<Connection> {
    let unwritable = |source| JournalError::NotWritable { path: path.to_owned(), source };
    // The path is resolved here, because the driver would resolve `..` without following links.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = match (std::fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        (Err(source), _) if purpose == Purpose::Create => return Err(unwritable(source)),
        (Err(_), _) => PathBuf::new(),
        (Ok(_), None) => return Err(unwritable(io::ErrorKind::IsADirectory.into())),
    };
    if purpose == Purpose::Create {
        // Makes the file, and the files that SQLite adds, accessible only to the owner. SQLite reports any failure.
        drop(private_file::create_if_missing(&real));
    }
    let mode = match (purpose, real.exists()) {
        (Purpose::Create, _) => "rwc",
        (Purpose::Write, true) => "rw",
        (Purpose::Write, false) => {
            return Err(JournalError::FileGone { path: path.to_owned() });
        }
        (Purpose::Read, true) => "ro",
        (Purpose::Read, false) => return Err(JournalError::NotFound { url: url.to_string() }),
    };
    let any = open_with_mode(url, &real, mode).await;
    let any = match any {
        // A file without a write-ahead log needs no recovery, so it can be read even in a read-only folder.
        Err(JournalError::NotWritable { .. }) if purpose == Purpose::Read && !has_wal(&real) => {
            open_with_mode(url, &real, "ro&immutable=1").await?
        }
        any => any?,
    };
    Ok(Connection { url: url.clone(), any, file: Some(OpenedFile::read(&real)?) })
}

async fn open_with_mode(url: &JournalUrl, path: &Path, mode: &str) -> Result<AnyConnection> {
    let driver_url = JournalUrl::sqlite_url(path, mode).ok_or_else(|| JournalError::InvalidUrl {
        url: url.to_string(),
        reason: "the file name is not valid UTF-8".to_owned(),
    })?;
    let mut any = connect(&driver_url, url).await?;
    // SQLite opens files lazily, so only a query reveals whether the file is readable.
    let asked = sqlx::raw_sql("SELECT 1 FROM sqlite_master LIMIT 1").execute(&mut any).await;
    asked.with_url(url)?;
    Ok(any)
}

fn has_wal(path: &Path) -> bool {
    std::fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

struct OpenedFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl OpenedFile {
    fn read(path: &Path) -> Result<Self> {
        let metadata = std::fs::metadata(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => JournalError::FileGone { path: path.to_owned() },
            _ => unavailable_error(&JournalUrl::from_path(path), source),
        })?;
        Ok(Self { path: path.to_owned(), identity: device_and_inode(&metadata) })
    }
}

#[cfg(unix)]
fn device_and_inode(metadata: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn device_and_inode(_: &std::fs::Metadata) -> (u64, u64) {
    (0, 0)
}
