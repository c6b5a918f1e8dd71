//! Files readable only by their owner: a journal exposes an account's money and trades.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) fn make(path: &Path) -> io::Result<()> {
    open_or_make(path).map(drop)
}

pub(crate) fn open_or_make(path: &Path) -> io::Result<File> {
    owners_only(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
}

pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    owners_only(OpenOptions::new().write(true).create_new(true)).open(path)
}

pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened.
    if cfg!(unix) { File::open(folder_of(path))?.sync_all() } else { Ok(()) }
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

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

#[cfg(unix)]
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o066 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &Path) -> bool {
    false
}
