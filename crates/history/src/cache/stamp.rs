//! Stamps that recognise an unchanged file that is named by path.

use std::path::Path;
use std::time::{Duration, SystemTime};

/// Coarsest time resolution of a file system. A change within it may leave the stamp unchanged.
const LONGEST_STEP: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) hash: [u8; 32],
    /// Last change of content or name (ctime). Unlike the modification time, no program can set it.
    changed: SystemTime,
}

impl Stamp {
    /// `None` if the system does not report enough to recognise the file.
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let path = path.canonicalize().ok()?;
        let file = path.metadata().ok()?;
        let mut hasher = blake3::Hasher::new();
        for number in [
            file.dev() as i64,
            file.ino() as i64,
            file.size() as i64,
            file.mtime(),
            file.mtime_nsec(),
            file.ctime(),
            file.ctime_nsec(),
        ] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(path.as_os_str().as_encoded_bytes());
        let seconds = Duration::from_secs(u64::try_from(file.ctime()).ok()?);
        let nanoseconds = Duration::from_nanos(u64::try_from(file.ctime_nsec()).ok()?);
        let changed = SystemTime::UNIX_EPOCH.checked_add(seconds)?.checked_add(nanoseconds)?;
        Some(Self { hash: *hasher.finalize().as_bytes(), changed })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> Option<Self> {
        None
    }

    /// Returns whether a copy written at that time cannot have missed a change under the same
    /// stamp.
    pub(super) fn is_settled_before(&self, written: SystemTime) -> bool {
        written.duration_since(self.changed).is_ok_and(|age| age > LONGEST_STEP)
    }
}
