//! Paths of a run's socket and halt file, and a watcher of the halt file.

use super::{ControlAnswer, ControlOrder, ControlRequest};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

const POLL_INTERVAL: Duration = Duration::from_millis(500);
const MAX_REASON_BYTES: u64 = 200;

/// Path of the halt file. The run halts if the file exists, and stays halted after the file is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaltFile(PathBuf);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreationOutcome {
    Created,
    AlreadyExists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalOutcome {
    Removed,
    NotFound,
}

impl HaltFile {
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns whether the file exists. A path that cannot be read counts as existing, which is the safe choice.
    pub fn exists(&self) -> bool {
        !matches!(fs::symlink_metadata(&self.0), Err(error) if is_not_found(&error))
    }

    pub fn create(&self, reason: &str) -> io::Result<CreationOutcome> {
        match OpenOptions::new().write(true).create_new(true).open(&self.0) {
            Ok(mut file) => {
                writeln!(file, "{reason}")?;
                file.sync_all()?;
                Ok(CreationOutcome::Created)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.is_regular_file() => {
                Ok(CreationOutcome::AlreadyExists)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(io::Error::other("the path exists, but is not a regular file. Remove it"))
            }
            Err(error) => Err(error),
        }
    }

    pub fn remove(&self) -> io::Result<RemovalOutcome> {
        match fs::remove_file(&self.0) {
            Ok(()) => Ok(RemovalOutcome::Removed),
            Err(error) if is_not_found(&error) => Ok(RemovalOutcome::NotFound),
            Err(error) => Err(error),
        }
    }

    /// Returns the halt reason from the first line. Reads only a regular file, because reading a pipe could block.
    pub fn reason(&self) -> String {
        let there = format!("the file {} exists", self.0.display());
        if !self.is_regular_file() {
            return format!("{there}, but is not a regular file");
        }
        let mut text = Vec::new();
        let read = open_regular(&self.0).and_then(|file| file.take(MAX_REASON_BYTES).read_to_end(&mut text));
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().next().map(str::trim).unwrap_or_default();
        if read.is_err() || line.is_empty() { there } else { format!("{there}: {line}") }
    }

    fn is_regular_file(&self) -> bool {
        fs::symlink_metadata(&self.0).is_ok_and(|found| found.file_type().is_file())
    }

    /// Refuses a resume order while the halt file exists, because the file would halt the run again.
    pub(super) fn refusal(&self, order: &ControlOrder) -> Option<ControlAnswer> {
        let is_refused = *order == ControlOrder::Resume && self.exists();
        is_refused.then(|| {
            let path = self.0.display();
            let problem = format!("the file {path} exists. Remove it first, or run `candlewick resume`");
            ControlAnswer::Refused { problem }
        })
    }

    pub async fn watch(&self, orders: mpsc::Sender<ControlRequest>, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut pace = tokio::time::interval(POLL_INTERVAL);
        let mut is_halted = false;
        loop {
            tokio::select! {
                () = &mut stop => return,
                _ = pace.tick() => {}
            }
            let file = self.clone();
            let poll = move || file.exists().then(|| file.reason());
            let Ok(seen) = tokio::task::spawn_blocking(poll).await else { return };
            is_halted = match seen {
                None => false,
                Some(_) if is_halted => true,
                Some(reason) => {
                    let answer = tokio::select! {
                        () = &mut stop => return,
                        answer = ControlOrder::Halt { reason }.deliver(None, &orders) => answer,
                    };
                    matches!(answer, ControlAnswer::Done { .. })
                }
            };
        }
    }
}

/// Opens a regular file without blocking, even if a pipe or link has replaced the file.
#[cfg(unix)]
fn open_regular(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open_regular(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPaths {
    pub socket: PathBuf,
    pub halt_file: HaltFile,
}

impl ControlPaths {
    /// Derives the paths of the socket and the halt file, such as `candlewick.db.sock` and `candlewick.db.HALT`.
    pub fn for_journal(journal: &Path) -> Self {
        Self {
            socket: with_suffix(journal, ".sock"),
            halt_file: HaltFile::new(with_suffix(journal, ".HALT")),
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut text = OsString::from(path);
    text.push(suffix);
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Phase, RunState};
    use tokio::sync::oneshot;

    fn halted() -> ControlAnswer {
        let state = RunState { phase: Phase::Halted, ..RunState::default() };
        ControlAnswer::Done { state: Box::new(state) }
    }

    fn halt_file() -> (tempfile::TempDir, HaltFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = HaltFile::new(folder.path().join("HALT"));
        (folder, file)
    }

    #[test]
    fn creates_the_file_once_and_reports_its_removal() {
        let (folder, file) = halt_file();
        assert!(!file.exists());
        assert_eq!(file.remove().unwrap(), RemovalOutcome::NotFound);
        assert_eq!(file.create("news").unwrap(), CreationOutcome::Created);
        assert_eq!(file.create("other news").unwrap(), CreationOutcome::AlreadyExists);
        assert!(file.exists());
        assert_eq!(file.reason(), format!("the file {} exists: news", file.path().display()));
        assert_eq!(file.remove().unwrap(), RemovalOutcome::Removed);
        assert!(!file.exists());
        let missing = HaltFile::new(folder.path().join("no/folder.HALT"));
        assert!(missing.create("news").is_err());
        fs::create_dir(file.path()).unwrap();
        assert!(file.exists() && file.reason().ends_with("is not a regular file"));
        fs::remove_dir(file.path()).unwrap();
        fs::write(file.path(), "").unwrap();
        assert!(file.exists() && file.reason().ends_with("exists"));
    }

    #[cfg(unix)]
    #[test]
    fn link_halts_without_being_followed() {
        let (folder, file) = halt_file();
        let secret = folder.path().join("secret");
        fs::write(&secret, "the words of another file").unwrap();
        for target in [secret, folder.path().join("nothing")] {
            std::os::unix::fs::symlink(&target, file.path()).unwrap();
            assert!(file.exists() && file.reason().ends_with("is not a regular file"), "{}", file.reason());
            assert!(file.create("news").unwrap_err().to_string().contains("not a regular file"));
            assert_eq!(file.remove().unwrap(), RemovalOutcome::Removed);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pipe_halts_without_blocking() {
        let (_folder, file) = halt_file();
        // The pipe has no writer, so a blocking open would never return.
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, file.path(), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(file.exists() && file.reason().ends_with("is not a regular file"));
        assert!(open_regular(file.path()).is_ok(), "opens without blocking");
        assert!(file.create("news").is_err());
        assert_eq!(file.remove().unwrap(), RemovalOutcome::Removed);
    }

    #[tokio::test(start_paused = true)]
    async fn each_appearance_halts_once_and_removal_does_nothing() {
        let (_folder, file) = halt_file();
        file.create("first").unwrap();
        let (sender, mut orders) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel::<()>();
        let watched = file.clone();
        let watcher = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            watched.watch(sender, stopped).await;
        });
        // The first order gets no answer, so the watcher sends the order again.
        drop(orders.recv().await.unwrap());
        for reason in ["first", "second"] {
            let in_time = tokio::time::timeout(POLL_INTERVAL * 4, orders.recv()).await;
            let ControlRequest { order, answer, .. } = in_time.expect("an appearance orders a halt").unwrap();
            answer.send(halted()).unwrap();
            let ControlOrder::Halt { reason: given } = &order else { panic!("{order:?}") };
            assert!(given.ends_with(reason), "{given}");
            file.remove().unwrap();
            tokio::time::timeout(POLL_INTERVAL * 2, orders.recv())
                .await
                .expect_err("a removal orders nothing");
            file.create("second").unwrap();
        }
        stop.send(()).unwrap();
        watcher.await.unwrap();
    }
}
