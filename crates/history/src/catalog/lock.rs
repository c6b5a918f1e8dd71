//! Write lock of a series: one writer at a time.

use crate::HistoryError;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(5);
const PATIENCE_SECONDS: u64 = 30;

/// Exclusive write access to a series, released on drop or when its process ends.
pub(super) struct WriteLock {
    _file: File,
}

impl WriteLock {
    pub(super) fn take(folder: &Path) -> Result<Self, HistoryError> {
        let path = folder.join(".lock");
        let check_path = |source| HistoryError::Io { path: path.clone(), action: "lock", source };
        let file = File::options().create(true).append(true).open(&path).map_err(check_path)?;
        let tries = Duration::from_secs(PATIENCE_SECONDS).as_millis() / PAUSE.as_millis();
        for _ in 0..tries {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(check_path(error)),
            }
        }
        Err(HistoryError::SeriesLocked { folder: folder.to_owned(), seconds: PATIENCE_SECONDS })
    }
}
