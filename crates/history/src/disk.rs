//! Files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The steps by which files change: the disk's, or in tests those of a disk that fails.
pub(crate) trait Disk: Send + Sync {
    fn create(&self, path: &Path) -> io::Result<File>;
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    fn sync(&self, file: &File) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The disk itself.
#[derive(Debug)]
pub(crate) struct SystemDisk;

impl Disk for SystemDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        File::create(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Elsewhere a folder cannot be opened, and renaming is as durable as it gets.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// What the name of a file that is not complete ends with.
pub(crate) const PARTIAL: &str = ".partial";

/// Puts a file with this content in the place of whatever is at `path`. After a crash at any moment either the old
/// file is there or the new one, whole; a file that ends in [`PARTIAL`] may be left over.
pub(crate) fn replace(disk: &dyn Disk, path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let partial = partial_name(path);
    let written = (|| {
        let mut file = disk.create(&partial)?;
        for part in parts {
            disk.write(&mut file, part)?;
        }
        disk.sync(&file)?;
        disk.rename(&partial, path)
    })();
    if written.is_err() {
        // What is left of a failed write is of no use; that it cannot be removed would be no news.
        let _ = disk.remove(&partial);
    }
    written?;
    disk.sync_folder(folder_of(path))
}

/// Makes a folder and those above it, durably.
pub(crate) fn make_folder(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder_of(folder);
    make_folder(disk, parent)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // Another writer may have just made it.
        _ => disk.sync_folder(parent),
    }
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// In the same folder, and of one write only: two at once must not share it.
fn partial_name(path: &Path) -> PathBuf {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{write}{PARTIAL}", std::process::id()))
}
