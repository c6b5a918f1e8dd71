//! Object storage operations for commands.

use crate::error::{AppError, ErrorKind};
use candlewick_storage::{ObjectInfo, ObjectUrl, PutOutcome, Storage, StorageError};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tempfile::TempDir;

const MAX_LOCAL_COPIES: usize = 64;

pub(crate) struct RemoteFolder {
    url: ObjectUrl,
    storage: Storage,
    work: TempDir,
    seen: Mutex<BTreeMap<String, Option<StoredVersion>>>,
}

#[derive(Clone)]
struct StoredVersion {
    object: ObjectInfo,
    hash: blake3::Hash,
}

impl RemoteFolder {
    /// Opens a remote folder with a local working folder. Does not contact the storage.
    pub(crate) fn open(path: &Path) -> Result<Self, AppError> {
        let (url, storage) = connect(path)?;
        let work = tempfile::tempdir()
            .map_err(|source| AppError::system("cannot create a temporary folder", source))?;
        Ok(Self { url, storage, work, seen: Mutex::default() })
    }

    pub(crate) fn local_folder(&self) -> &Path {
        self.work.path()
    }

    pub(crate) fn display_path(&self) -> PathBuf {
        PathBuf::from(self.url.to_string())
    }

    pub(crate) fn download(&self, name: &str) -> Result<(), AppError> {
        let path = self.work.path().join(name);
        self.record_version(name, |url, object| {
            self.storage.download(url, object, &path)?;
            read_local(&path)
        })
    }

    /// Records the version of a stored file and the hash of its bytes. Later calls for the same file do nothing.
    fn record_version(
        &self,
        name: &str,
        read: impl FnOnce(&ObjectUrl, &ObjectInfo) -> Result<Vec<u8>, AppError>,
    ) -> Result<(), AppError> {
        let mut seen = self.lock_versions();
        if seen.contains_key(name) {
            return Ok(());
        }
        let url = self.url.join(name);
        let version =
            |object| Ok::<_, AppError>(StoredVersion { hash: blake3::hash(&read(&url, &object)?), object });
        let found = self.storage.find_object(&url)?.map(version).transpose()?;
        seen.insert(name.to_owned(), found);
        Ok(())
    }

    fn lock_versions(&self) -> MutexGuard<'_, BTreeMap<String, Option<StoredVersion>>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) -> Result<(), AppError> {
        Ok(self.storage.put(&self.url.join(name), bytes)?)
    }

    /// Uploads the file unless another writer was faster. Returns whether the stored version now equals the file.
    pub(crate) fn upload_if_unchanged(&self, name: &str) -> Result<bool, AppError> {
        // The stored version must not overwrite the local file.
        self.record_version(name, |url, object| Ok(self.storage.read(url, object)?))?;
        let bytes = read_local(&self.work.path().join(name))?;
        let mut seen = self.lock_versions();
        let before = seen.get(name).cloned().flatten();
        let hash = blake3::hash(&bytes);
        if before.as_ref().is_some_and(|before| before.hash == hash) {
            return Ok(true);
        }
        let url = self.url.join(name);
        let kept =
            self.storage.put_if_unchanged(&url, bytes, before.as_ref().map(|before| &before.object))?;
        let is_ours = kept != PutOutcome::Conflict;
        if is_ours && let Some(object) = self.storage.find_object(&url)? {
            seen.insert(name.to_owned(), Some(StoredVersion { object, hash }));
        }
        Ok(is_ours)
    }
}

pub fn read(path: &Path) -> Result<Option<Vec<u8>>, AppError> {
    let (url, storage) = connect(path)?;
    let Some(object) = storage.find_object(&url)? else { return Ok(None) };
    Ok(Some(storage.read(&url, &object)?))
}

pub fn exists(path: &Path) -> Result<bool, AppError> {
    let (url, storage) = connect(path)?;
    Ok(storage.find_object(&url)?.is_some())
}

/// Uploads a local file atomically, replacing an existing object.
pub fn put_file(path: &Path, file: &Path) -> Result<(), AppError> {
    let (url, storage) = connect(path)?;
    Ok(storage.put(&url, read_local(file)?)?)
}

pub fn local_copy(path: &Path, folder: &Path) -> Result<PathBuf, AppError> {
    let (url, storage) = connect(path)?;
    let missing = || StorageError::Missing { url: url.to_string() };
    let object = storage.find_object(&url)?.ok_or_else(missing)?;
    let content = format!("{url} {} {}", object.size, object.version.to_text());
    let name = format!("{}-{}", &blake3::hash(content.as_bytes()).to_hex()[..16], url.name());
    let copy = folder.join(name);
    if fs::metadata(&copy).is_ok_and(|there| there.len() == object.size) {
        return Ok(copy);
    }
    let disk = |source| AppError::system(format!("cannot create a copy in {}", folder.display()), source);
    fs::create_dir_all(folder).map_err(disk)?;
    storage.download(&url, &object, &copy)?;
    prune_copies(folder);
    Ok(copy)
}

/// Removes the oldest copies. Failures are ignored, because the copies are only a cache.
fn prune_copies(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let written = |path: &Path| fs::metadata(path).and_then(|there| there.modified());
    let dated = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        Some((written(&path).unwrap_or(SystemTime::UNIX_EPOCH), path))
    });
    let mut copies: Vec<(SystemTime, PathBuf)> = dated.collect();
    copies.sort();
    for (_, path) in &copies[..copies.len().saturating_sub(MAX_LOCAL_COPIES)] {
        let _ = fs::remove_file(path);
    }
}

fn connect(path: &Path) -> Result<(ObjectUrl, Storage), AppError> {
    let url = ObjectUrl::parse(&path.display().to_string())?;
    let storage = Storage::from_url(&url)?;
    Ok((url, storage))
}

fn read_local(path: &Path) -> Result<Vec<u8>, AppError> {
    fs::read(path).map_err(|source| AppError::system(format!("cannot read {}", path.display()), source))
}

/// Uses a separate error kind for faults of the storage or the local disk, because a retry can succeed.
impl From<StorageError> for AppError {
    fn from(error: StorageError) -> Self {
        let kind = match &error {
            StorageError::InvalidUrl { .. }
            | StorageError::InvalidSetting { .. }
            | StorageError::NoBucket { .. }
            | StorageError::Refused { .. } => ErrorKind::InvalidArgument,
            StorageError::Missing { .. } => ErrorKind::UnusableData,
            StorageError::Unreachable { .. }
            | StorageError::Changed { .. }
            | StorageError::Failed { .. }
            | StorageError::Disk { .. } => ErrorKind::SystemFailed,
        };
        let report = error.hint().into_iter().fold(Self::new(kind, error.to_string()), Self::with_help);
        if let StorageError::Disk { source, .. } = error { report.with_source(source) } else { report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(folder: &Path) -> RemoteFolder {
        RemoteFolder::open(Path::new(&format!("file://{}/out", folder.display()))).unwrap()
    }

    #[test]
    fn uploads_a_file_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("out/shard-1.jsonl");
        let first = remote(folder.path());
        first.download("shard-1.jsonl").unwrap();
        let here = first.local_folder().join("shard-1.jsonl");
        assert!(!here.exists());
        fs::write(&here, "half").unwrap();
        assert!(!there.exists(), "a partial shard is not uploaded");
        fs::write(&here, "half, and more").unwrap();
        assert!(first.upload_if_unchanged("shard-1.jsonl").unwrap());
        assert_eq!(fs::read_to_string(&there).unwrap(), "half, and more");
        // Another run finds the file and changes nothing.
        let written = fs::metadata(&there).unwrap().modified().unwrap();
        let next = remote(folder.path());
        next.download("shard-1.jsonl").unwrap();
        assert_eq!(fs::read_to_string(next.local_folder().join("shard-1.jsonl")).unwrap(), "half, and more");
        assert!(next.upload_if_unchanged("shard-1.jsonl").unwrap());
        assert_eq!(fs::metadata(&there).unwrap().modified().unwrap(), written);
    }

    #[test]
    fn first_of_two_writers_wins() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second, third] = [0; 3].map(|_| remote(folder.path()));
        for (one, text) in [(&first, "one"), (&second, "two"), (&third, "one")] {
            one.download("trials.jsonl").unwrap();
            fs::write(one.local_folder().join("trials.jsonl"), text).unwrap();
        }
        assert!(first.upload_if_unchanged("trials.jsonl").unwrap());
        assert!(!second.upload_if_unchanged("trials.jsonl").unwrap(), "another writer's file stays");
        assert!(third.upload_if_unchanged("trials.jsonl").unwrap(), "the same bytes are accepted");
        assert_eq!(fs::read_to_string(folder.path().join("out/trials.jsonl")).unwrap(), "one");
        // The first writer may replace its own version.
        fs::write(first.local_folder().join("trials.jsonl"), "one more").unwrap();
        assert!(first.upload_if_unchanged("trials.jsonl").unwrap());
        assert_eq!(fs::read_to_string(folder.path().join("out/trials.jsonl")).unwrap(), "one more");
    }

    #[test]
    fn copies_each_content_once() {
        let folder = tempfile::tempdir().unwrap();
        let (there, copies) = (folder.path().join("BTCUSDT_1m.csv"), folder.path().join("copies"));
        let address = PathBuf::from(format!("file://{}", there.display()));
        let error = local_copy(&address, &copies).unwrap_err();
        assert!(error.text().contains("the object does not exist"), "{}", error.text());
        fs::write(&there, "one").unwrap();
        let copy = local_copy(&address, &copies).unwrap();
        assert!(copy.to_string_lossy().ends_with("-BTCUSDT_1m.csv"));
        assert_eq!(local_copy(&address, &copies).unwrap(), copy);
        fs::write(&there, "another").unwrap();
        assert_eq!(fs::read_to_string(local_copy(&address, &copies).unwrap()).unwrap(), "another");
        assert_eq!(fs::read_to_string(&copy).unwrap(), "one");
        assert_eq!(fs::read_dir(&copies).unwrap().count(), 2);
    }
}
