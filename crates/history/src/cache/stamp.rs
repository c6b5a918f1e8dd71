//! By what a file that is named by path is known to be the one that was read before.

use std::path::Path;
use std::time::{Duration, SystemTime};

/// The longest step in which a file system counts time: a change within it may leave the stamp as it was.
const LONGEST_STEP: Duration = Duration::from_secs(2);

/// What distinguishes a file from its earlier and later versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Over its place, device, inode, size, and times of change.
    pub(super) hash: [u8; 32],
    /// When its content or its name last changed; unlike the time of modification, no program can set it.
    changed: SystemTime,
}

impl Stamp {
    /// Nothing where the system does not say enough of a file to recognise it.
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

    /// Nothing where the system does not say enough of a file to recognise it.
    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> Option<Self> {
        None
    }

    /// Whether a copy that was written at that moment cannot have missed a change of the file under the same stamp.
    pub(super) fn is_settled_before(&self, written: SystemTime) -> bool {
        written.duration_since(self.changed).is_ok_and(|age| age > LONGEST_STEP)
    }
}
