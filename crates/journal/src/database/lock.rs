//! Lock file next to a journal. Only one process at a time can hold the lock. It is released when the process exits.

use crate::JournalError;
use crate::private_file::{self, with_suffix};
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

pub(crate) const LOCK_SUFFIX: &str = ".lock";

#[derive(Debug)]
pub(crate) struct FileLock {
    /// The locked file; `None` if the file system does not support locks.
    file: Option<File>,
}

impl FileLock {
    pub(crate) fn try_lock(journal: &Path) -> Result<Option<Self>, JournalError> {
        let unwritable = |source| JournalError::NotWritable { path: journal.to_owned(), source };
        // Resolves links, so that all paths to the same journal share one lock.
        let real = journal.canonicalize().map_err(unwritable)?;
        let path = with_suffix(&real, LOCK_SUFFIX);
        let file = open(&path).map_err(|source| JournalError::NotWritable { path, source })?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            // If the file system does not support locks, only the lease protects the journal.
            Err(TryLockError::Error(_)) => Ok(Some(Self { file: None })),
        }
    }

    /// Returns whether the lock excludes all other processes that run on this kernel.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.file.is_some()
    }
}

impl Drop for FileLock {
    /// Unlocks explicitly. Otherwise, a child between `fork` and `exec` would keep the lock after this file is closed.
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = file.unlock(); // on failure, closing the file releases the lock
        }
    }
}

/// Opens the lock file, read-only if it cannot be written. Read access is sufficient for locking.
fn open(path: &Path) -> io::Result<File> {
    match private_file::open_or_create(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_exclusive_until_released_even_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        assert!(matches!(FileLock::try_lock(&path), Err(JournalError::NotWritable { .. })));
        std::fs::write(&path, "").unwrap();
        let lock = FileLock::try_lock(&path).unwrap().unwrap();
        assert!(lock.is_exclusive());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(folder.path().join("journal.db.lock")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(FileLock::try_lock(&path).unwrap().is_none());
        #[cfg(unix)]
        {
            let link = folder.path().join("link.db");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            assert!(FileLock::try_lock(&link).unwrap().is_none());
        }
        drop(lock);
        assert!(FileLock::try_lock(&path).unwrap().is_some());
    }
}
