//! Atomic file replacement.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// File operations that tests can replace.
pub(crate) trait Disk: Send + Sync {
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
        // Other systems cannot open folders, so folders are not synced.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

pub(crate) struct SystemDisk;

impl Disk for SystemDisk {}

pub(crate) const PARTIAL_SUFFIX: &str = ".partial";

/// Replaces the file at `path` atomically. After a crash, a file whose name ends in [`PARTIAL_SUFFIX`] may remain.
pub(crate) fn replace(disk: &dyn Disk, path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    replace_with(disk, path, &mut |file| parts.iter().try_for_each(|part| disk.write(file, part)))
}

/// Writes a file atomically and follows symbolic links. Special files, such as pipes, are written directly.
pub fn write_whole_file<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<T>,
) -> io::Result<T> {
    let before = fs::metadata(path).ok();
    let mut write = Some(write);
    let mut written = None;
    let mut fill = |file: &mut File| {
        if let Some(write) = write.take() {
            let mut buffered = BufWriter::new(file);
            written = Some(write(&mut buffered)?);
            buffered.flush()?;
        }
        Ok(())
    };
    match before {
        Some(before) if !before.is_file() => fill(&mut File::create(path)?)?,
        Some(before) => {
            let permissions = before.permissions();
            if permissions.readonly() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            replace_with(&SystemDisk, &fs::canonicalize(path)?, &mut |file| {
                file.set_permissions(permissions.clone())?;
                fill(file)
            })?;
        }
        None => replace_with(&SystemDisk, path, &mut fill)?,
    }
    written.ok_or_else(|| io::Error::other("internal error: the content was not written"))
}

pub(crate) fn replace_with(
    disk: &dyn Disk,
    path: &Path,
    write: &mut dyn FnMut(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let partial = PartialFile::new(path);
    let written = (|| {
        let mut file = disk.create(&partial.path)?;
        write(&mut file)?;
        disk.sync(&file)?;
        disk.rename(&partial.path, path)
    })();
    if written.is_err() {
        let _ = disk.remove(&partial.path);
    }
    written?;
    disk.sync_folder(parent_folder(path))
}

/// Partial files of all threads. The files are removed when the program is interrupted.
static PARTIAL_FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes all partial files. Call this function only before exiting, because it makes writes in progress fail.
pub fn remove_partial_files() {
    remove_partial_files_in(Path::new(""));
}

fn remove_partial_files_in(folder: &Path) {
    for partial in partial_files().iter().filter(|partial| partial.starts_with(folder)) {
        // Errors are ignored, because partial files are never read.
        let _ = fs::remove_file(partial);
    }
}

fn partial_files() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PARTIAL_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

struct PartialFile {
    path: PathBuf,
}

impl PartialFile {
    fn new(path: &Path) -> Self {
        let path = partial_path(path);
        partial_files().insert(path.clone());
        Self { path }
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        partial_files().remove(&self.path);
    }
}

pub(crate) fn create_folder(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = parent_folder(folder);
    create_folder(disk, parent)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // Another process may have just created the folder.
        _ => disk.sync_folder(parent),
    }
}

pub(crate) fn parent_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a unique path in the folder of `path`, so that concurrent writes never share a partial file.
fn partial_path(path: &Path) -> PathBuf {
    static NEXT_WRITE_ID: AtomicU64 = AtomicU64::new(0);
    let write = NEXT_WRITE_ID.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{write}{PARTIAL_SUFFIX}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_write_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let content = || fs::read_to_string(&path).ok();
        let fail = || {
            write_whole_file(&path, |file| {
                file.write_all(&vec![b'x'; 100_000])?;
                Err::<(), _>(io::ErrorKind::StorageFull.into())
            })
        };
        assert_eq!(fail().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(content(), None, "there was none");
        write_whole_file(&path, |file| file.write_all(b"old")).unwrap();
        fail().unwrap_err();
        assert_eq!(content().as_deref(), Some("old"));
        assert_eq!(write_whole_file(&path, |file| file.write_all(b"new").map(|()| 7)).unwrap(), 7);
        assert_eq!(content().as_deref(), Some("new"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "and nothing else");
    }

    #[cfg(unix)]
    #[test]
    fn preserves_links_devices_and_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.csv"), folder.path().join("link.csv"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write_whole_file(&link, |file| file.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        write_whole_file(Path::new("/dev/null"), |file| file.write_all(b"x")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        fs::set_permissions(&path, PermissionsExt::from_mode(0o440)).unwrap();
        let refused = write_whole_file(&path, |file| file.write_all(b"no")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert!(write_whole_file(folder.path(), |file| file.write_all(b"no")).is_err(), "a folder");
    }

    #[test]
    fn removes_partial_files_during_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        let names = || -> Vec<String> {
            let entries = fs::read_dir(folder.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        replace(&SystemDisk, &path, &[b"old"]).unwrap();
        let written = replace_with(&SystemDisk, &path, &mut |file| {
            file.write_all(b"ne")?;
            let names = names();
            assert!(names.len() == 2 && names.iter().any(|name| name.ends_with(PARTIAL_SUFFIX)), "{names:?}");
            remove_partial_files_in(folder.path());
            file.write_all(b"w")
        });
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(names(), ["x.csv"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        replace(&SystemDisk, &path, &[b"n", b"ew"]).unwrap();
        assert_eq!((names().len(), fs::read_to_string(&path).unwrap()), (1, "new".to_owned()));
        assert!(
            !partial_files().iter().any(|partial| partial.starts_with(folder.path())),
            "all are forgotten"
        );
    }
}
