//! Atomic creation of files that only their owner can read.

use crate::JournalError;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) fn create_if_missing(path: &Path) -> io::Result<()> {
    open_or_create(path).map(drop)
}

pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    restrict_to_owner(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
}

pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    restrict_to_owner(OpenOptions::new().write(true).create_new(true)).open(path)
}

pub(crate) fn sync_parent_folder(path: &Path) -> io::Result<()> {
    // Only Unix systems can open a folder.
    if cfg!(unix) { File::open(parent_folder(path))?.sync_all() } else { Ok(()) }
}

fn parent_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

#[cfg(unix)]
fn restrict_to_owner(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn restrict_to_owner(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
pub(crate) fn is_accessible_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o066 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_accessible_to_others(_: &Path) -> bool {
    false
}

#[derive(Debug)]
pub(crate) struct NewFile {
    name: PathBuf,
    partial: PathBuf,
}

impl NewFile {
    pub(crate) fn create(name: &Path) -> Result<(Self, File), JournalError> {
        let unwritable = |source| JournalError::NotWritable { path: name.to_owned(), source };
        if fs::symlink_metadata(name).is_ok() {
            return Err(JournalError::JournalExists { path: name.to_owned() });
        }
        let last = name.file_name().ok_or_else(|| unwritable(io::ErrorKind::IsADirectory.into()))?;
        let partial = format!(".{}.{}.partial", last.to_string_lossy(), std::process::id());
        let partial = fs::canonicalize(parent_folder(name)).map_err(unwritable)?.join(partial);
        let file = create_new(&partial).map_err(unwritable)?;
        Ok((Self { name: name.to_owned(), partial }, file))
    }

    pub(crate) fn partial_path(&self) -> &Path {
        &self.partial
    }

    pub(crate) fn publish(&self) -> Result<(), JournalError> {
        let placed =
            File::open(&self.partial).and_then(|file| file.sync_all()).and_then(|()| self.link_final_name());
        placed.and_then(|()| sync_parent_folder(&self.name)).map_err(|source| {
            let path = self.name.clone();
            if source.kind() == io::ErrorKind::AlreadyExists {
                JournalError::JournalExists { path }
            } else {
                JournalError::NotWritable { path, source }
            }
        })
    }

    fn link_final_name(&self) -> io::Result<()> {
        match fs::hard_link(&self.partial, &self.name) {
            // Some file systems do not support hard links.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !self.name.exists() => {
                fs::rename(&self.partial, &self.name)
            }
            linked => linked,
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        for suffix in ["", "-journal", "-wal", "-shm", ".lock"] {
            // Best effort: if removal fails, the partial file remains but is never read.
            drop(fs::remove_file(with_suffix(&self.partial, suffix)));
        }
    }
}
