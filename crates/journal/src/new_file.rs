//! Atomic creation of new files.

use crate::JournalError;
use crate::private_file::{create_new, folder_of, sync_folder_of, with_ending};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

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
        let partial = fs::canonicalize(folder_of(name)).map_err(unwritable)?.join(partial);
        let file = create_new(&partial).map_err(unwritable)?;
        Ok((Self { name: name.to_owned(), partial }, file))
    }

    pub(crate) fn partial(&self) -> &Path {
        &self.partial
    }

    pub(crate) fn put_in_place(&self) -> Result<(), JournalError> {
        let placed = File::open(&self.partial).and_then(|file| file.sync_all()).and_then(|()| self.name_it());
        placed.and_then(|()| sync_folder_of(&self.name)).map_err(|source| {
            let path = self.name.clone();
            if source.kind() == io::ErrorKind::AlreadyExists {
                JournalError::JournalExists { path }
            } else {
                JournalError::NotWritable { path, source }
            }
        })
    }

    fn name_it(&self) -> io::Result<()> {
        match fs::hard_link(&self.partial, &self.name) {
            // Some file systems know no second names.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !self.name.exists() => {
                fs::rename(&self.partial, &self.name)
            }
            linked => linked,
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        for ending in ["", "-journal", "-wal", "-shm", ".lock"] {
            // What cannot be removed has a name that nobody reads.
            drop(fs::remove_file(with_ending(&self.partial, ending)));
        }
    }
}
