//! Files that nobody but their owner may read: a journal holds an account's money and trades.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Makes an empty file where there is none; one that is there stays as it is.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    open_or_make(path).map(drop)
}

/// Opens a file for writing, and makes it where there is none.
pub(crate) fn open_or_make(path: &Path) -> io::Result<File> {
    owners_only(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
}

/// Makes a file that was not there before.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    owners_only(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Makes the names in the folder of a file durable.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened.
    if cfg!(unix) { File::open(folder_of(path))?.sync_all() } else { Ok(()) }
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The same path with this at its end.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

#[cfg(unix)]
fn owners_only(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn owners_only(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Whether others than its owner may read or write a file.
#[cfg(unix)]
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o066 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &Path) -> bool {
    false
}
