//! The socket file. Only its owner can ever open it, and its creator removes it.

use super::ControlError;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};

/// Maximum length of the path.
///
/// Systems allow 103 to 107 bytes, and the socket is created under a slightly longer temporary
/// name.
pub(super) const LONGEST_PATH: usize = 88;
const PROBE_PATIENCE: Duration = Duration::from_secs(2);

/// A socket file, identified by device and inode. Dropping this removes it unless it was replaced.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    place: (u64, u64),
}

impl SocketFile {
    /// Creates the socket, replacing one left by a dead process but not one in use.
    pub(super) async fn make(path: &Path) -> Result<(UnixListener, Self), ControlError> {
        if path.as_os_str().len() > LONGEST_PATH {
            return Err(ControlError::PathTooLong { path: path.to_owned(), most: LONGEST_PATH });
        }
        let failed = |source| ControlError::SocketNotMade { path: path.to_owned(), source };
        clear(path).await?;
        let (listener, place) = bind_in_private(path).map_err(|error| match error.kind() {
            // Somebody was quicker than we.
            io::ErrorKind::AlreadyExists => ControlError::SocketInUse { path: path.to_owned() },
            _ => failed(error),
        })?;
        Ok((listener, Self { path: path.to_owned(), place }))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| place_of(&found) == self.place) {
            // Whatever keeps it there, the next run finds that nobody listens.
            let _ = fs::remove_file(&self.path);
        }
    }
}

async fn clear(path: &Path) -> Result<(), ControlError> {
    let failed = |source| ControlError::SocketNotMade { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ControlError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    match tokio::time::timeout(PROBE_PATIENCE, UnixStream::connect(path)).await {
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(ControlError::OtherOwner { path: path.to_owned() })
        }
        // Somebody listens, or is too busy to say so.
        Ok(_) | Err(_) => Err(ControlError::SocketInUse { path: path.to_owned() }),
    }
}

/// Binds in a private folder, restricts the permissions, then links the socket to its path.
///
/// Other users can therefore never open it, whatever the umask is.
fn bind_in_private(path: &Path) -> io::Result<(UnixListener, (u64, u64))> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let hidden = folder.join("s");
    // Of a process that had our number and died in here.
    let _ = fs::remove_file(&hidden);
    let _ = fs::remove_dir(&folder);
    DirBuilder::new().mode(0o700).create(&folder)?;
    let bound = UnixListener::bind(&hidden).and_then(|listener| {
        fs::set_permissions(&hidden, Permissions::from_mode(0o600))?;
        let place = place_of(&fs::symlink_metadata(&hidden)?);
        // Unlike a renaming, a link never takes the place of what is there.
        fs::hard_link(&hidden, path)?;
        Ok((listener, place))
    });
    let _ = fs::remove_file(&hidden);
    let _ = fs::remove_dir(&folder);
    bound
}

fn place_of(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db.sock");
        (folder, path)
    }

    #[tokio::test]
    async fn only_its_owner_can_open_it_and_nothing_else_is_left() {
        let (folder, path) = folder();
        let (_listener, file) = SocketFile::make(&path).await.unwrap();
        let found = fs::symlink_metadata(&path).unwrap();
        assert!(found.file_type().is_socket());
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_dead_processs_socket_is_replaced_and_a_living_ones_is_refused() {
        let (_folder, path) = folder();
        // A process that dies removes nothing.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let (listener, file) = SocketFile::make(&path).await.unwrap();
        let second = SocketFile::make(&path).await.map(|_| ());
        assert!(matches!(second, Err(ControlError::SocketInUse { .. })), "{second:?}");
        assert!(path.exists());
        drop((listener, file));
        assert!(SocketFile::make(&path).await.is_ok());
    }

    #[tokio::test]
    async fn what_is_no_socket_stays() {
        let (_folder, path) = folder();
        fs::write(&path, "mine").unwrap();
        let refused = SocketFile::make(&path).await.map(|_| ());
        assert!(matches!(refused, Err(ControlError::NotASocket { .. })), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }

    #[tokio::test]
    async fn a_socket_that_took_our_place_is_not_removed() {
        let (_folder, path) = folder();
        let (_listener, file) = SocketFile::make(&path).await.unwrap();
        fs::remove_file(&path).unwrap();
        let _other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(file);
        assert!(path.exists());
    }

    #[tokio::test]
    async fn a_path_that_no_socket_can_have_is_refused_in_words() {
        let (folder, _) = folder();
        let path = folder.path().join("x".repeat(LONGEST_PATH));
        let refused = SocketFile::make(&path).await.map(|_| ());
        assert!(matches!(refused, Err(ControlError::PathTooLong { .. })), "{refused:?}");
        let missing = SocketFile::make(&folder.path().join("no/run.sock")).await.map(|_| ());
        assert!(matches!(missing, Err(ControlError::SocketNotMade { .. })), "{missing:?}");
    }

    #[tokio::test]
    async fn the_longest_path_is_taken() {
        let (folder, _) = folder();
        let rest = LONGEST_PATH - folder.path().as_os_str().len() - 1;
        let path = folder.path().join("x".repeat(rest));
        assert!(SocketFile::make(&path).await.is_ok());
    }
}
