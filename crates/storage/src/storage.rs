//! Reads and writes objects in a bucket or in a local folder.

use crate::environment::Environment;
use crate::{ObjectUrl, StorageError};
use bytes::Bytes;
use object_store::client::HttpError;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{
    Error, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    UpdateVersion, WriteMultipart,
};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Maximum size of one request. Larger objects are split, so that little work is lost if a connection fails.
pub(crate) const PART_BYTES: u64 = 16 * 1_024 * 1_024;
/// Timeout of a call, including all retries. Each [`PART_BYTES`] of data adds `PART_TIMEOUT`.
const CALL_TIMEOUT: Duration = Duration::from_mins(2);
const PART_TIMEOUT: Duration = Duration::from_secs(90);

/// Delays before retries after a lost connection, in addition to the retries of the S3 library.
const RETRY_DELAYS_MS: [u64; 6] = [300, 600, 1_200, 2_400, 3_000, 3_000];

/// Client for a bucket or a local folder. Works on any thread, even inside an async runtime.
pub struct Storage {
    store: Arc<dyn ObjectStore>,
    environment: Environment,
    runtime: Option<Runtime>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    pub size: u64,
    pub version: Version,
}

/// Identifier of an object's content. The identifier changes whenever the content changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    tag: Option<String>,
    number: Option<String>,
    modified_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    Stored,
    AlreadyStored,
    /// Another writer has already stored different content, which is left unchanged.
    Conflict,
}

impl Version {
    fn from_meta(meta: &ObjectMeta) -> Self {
        Self {
            tag: meta.e_tag.clone(),
            number: meta.version.clone(),
            modified_ms: meta.last_modified.timestamp_millis(),
        }
    }

    pub fn to_text(&self) -> String {
        let Self { tag, number, modified_ms } = self;
        // A tag identifies the content. If there is no tag, the modification time is used.
        let time = tag.is_none().then_some(modified_ms);
        format!("{tag:?} {number:?} {time:?}")
    }
}

impl Storage {
    pub fn from_url(url: &ObjectUrl) -> Result<Self, StorageError> {
        let environment = Environment::from_process();
        let store: Arc<dyn ObjectStore> = if url.bucket().is_empty() {
            Arc::new(LocalFileSystem::new().with_fsync(true))
        } else {
            // Another connection may have installed the provider already.
            drop(rustls::crypto::ring::default_provider().install_default());
            Arc::new(environment.open_bucket(url)?)
        };
        Self::new(store, environment)
    }

    fn new(store: Arc<dyn ObjectStore>, environment: Environment) -> Result<Self, StorageError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| StorageError::Disk { path: "a runtime".into(), source })?;
        Ok(Self { store, environment, runtime: Some(runtime) })
    }

    pub fn find_object(&self, url: &ObjectUrl) -> Result<Option<ObjectInfo>, StorageError> {
        self.block_on((url, 0), async {
            match self.store.head(&parse_key(url)?).await {
                Ok(meta) => Ok(Some(ObjectInfo { size: meta.size, version: Version::from_meta(&meta) })),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(self.to_storage_error(url, &error)),
            }
        })
    }

    pub fn read(&self, url: &ObjectUrl, object: &ObjectInfo) -> Result<Vec<u8>, StorageError> {
        let mut bytes = Vec::with_capacity(usize::try_from(object.size).unwrap_or_default());
        self.for_each_part(url, object, |part| {
            bytes.extend_from_slice(&part);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Downloads this version of an object to a file atomically.
    pub fn download(&self, url: &ObjectUrl, object: &ObjectInfo, path: &Path) -> Result<(), StorageError> {
        let disk = |source| StorageError::Disk { path: path.to_owned(), source };
        let partial = path.with_extension(format!("partial-{}", std::process::id()));
        let mut file = File::create(&partial).map_err(disk)?;
        let brought = self
            .for_each_part(url, object, |part| file.write_all(&part).map_err(disk))
            .and_then(|()| file.sync_data().map_err(disk))
            .and_then(|()| std::fs::rename(&partial, path).map_err(disk));
        if brought.is_err() {
            // Best effort: the download already failed.
            let _ = std::fs::remove_file(&partial);
        }
        brought
    }

    fn for_each_part(
        &self,
        url: &ObjectUrl,
        object: &ObjectInfo,
        mut take: impl FnMut(Bytes) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let mut from = 0;
        while from < object.size {
            let until = object.size.min(from + PART_BYTES);
            let options = GetOptions {
                range: Some(GetRange::Bounded(from..until)),
                if_match: object.version.tag.clone(),
                ..GetOptions::default()
            };
            let part = self.block_on((url, until - from), async {
                let key = parse_key(url)?;
                let get = || async { self.store.get_opts(&key, options.clone()).await?.bytes().await };
                match with_retries(get).await {
                    Ok(bytes) if bytes.len() as u64 == until - from => Ok(bytes),
                    Ok(_) | Err(Error::Precondition { .. } | Error::NotFound { .. }) => {
                        Err(StorageError::Changed { url: url.to_string() })
                    }
                    Err(error) => Err(self.to_storage_error(url, &error)),
                }
            })?;
            take(part)?;
            from = until;
        }
        Ok(())
    }

    /// Uploads an object atomically, replacing any existing object.
    pub fn put(&self, url: &ObjectUrl, bytes: Vec<u8>) -> Result<(), StorageError> {
        let result = self.put_with_mode(url, &Bytes::from(bytes), &PutMode::Overwrite)?;
        result.map_err(|error| self.to_storage_error(url, &error))
    }

    /// Creates an object if `before` is `None`, otherwise replaces it unless it has changed since `before`.
    pub fn put_if_unchanged(
        &self,
        url: &ObjectUrl,
        bytes: Vec<u8>,
        before: Option<&ObjectInfo>,
    ) -> Result<PutOutcome, StorageError> {
        let bytes = Bytes::from(bytes);
        let mode = match before {
            None => PutMode::Create,
            Some(ObjectInfo { version: Version { tag, number, .. }, .. }) => {
                PutMode::Update(UpdateVersion { e_tag: tag.clone(), version: number.clone() })
            }
        };
        match self.put_with_mode(url, &bytes, &mode)? {
            Ok(()) => Ok(PutOutcome::Stored),
            // Another writer was faster, or our own upload succeeded and its response was lost.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => self.compare_stored(url, &bytes),
            // The server does not support conditions. The upload is still atomic.
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                let there = self.find_object(url)?;
                if there.as_ref() != before {
                    return self.compare_stored(url, &bytes);
                }
                self.put(url, bytes.to_vec()).map(|()| PutOutcome::Stored)
            }
            Err(error) => Err(self.to_storage_error(url, &error)),
        }
    }

    fn compare_stored(&self, url: &ObjectUrl, bytes: &Bytes) -> Result<PutOutcome, StorageError> {
        let Some(there) = self.find_object(url)? else {
            return Err(StorageError::Changed { url: url.to_string() });
        };
        let is_same = there.size == bytes.len() as u64 && self.read(url, &there)? == bytes[..];
        Ok(if is_same { PutOutcome::AlreadyStored } else { PutOutcome::Conflict })
    }

    fn put_with_mode(
        &self,
        url: &ObjectUrl,
        bytes: &Bytes,
        mode: &PutMode,
    ) -> Result<Result<(), Error>, StorageError> {
        let size = bytes.len() as u64;
        self.block_on((url, size), async {
            let key = parse_key(url)?;
            // If only the response was lost, the condition of the retry fails, and the contents are compared.
            Ok(with_retries(|| self.put_once(&key, bytes.clone(), mode.clone())).await)
        })
    }

    async fn put_once(&self, key: &Key, bytes: Bytes, mode: PutMode) -> Result<(), Error> {
        if bytes.len() as u64 > 2 * PART_BYTES {
            return self.put_in_parts(key, bytes, mode).await;
        }
        let options = PutOptions { mode, ..PutOptions::default() };
        self.store.put_opts(key, PutPayload::from_bytes(bytes), options).await.map(drop)
    }

    /// Uploads a large object in parts. Such uploads do not support conditions, so `mode` is checked beforehand.
    async fn put_in_parts(&self, key: &Key, bytes: Bytes, mode: PutMode) -> Result<(), Error> {
        let there = match self.store.head(key).await {
            Ok(meta) => Some(meta),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let path = || key.to_string();
        match (mode, there) {
            (PutMode::Create, Some(_)) => {
                return Err(Error::AlreadyExists { path: path(), source: "it already exists".into() });
            }
            (PutMode::Update(before), there)
                if there.as_ref().is_none_or(|meta| meta.e_tag != before.e_tag) =>
            {
                return Err(Error::Precondition { path: path(), source: "it was replaced".into() });
            }
            _ => {}
        }
        let mut upload = WriteMultipart::new_with_chunk_size(
            self.store.put_multipart(key).await?,
            usize::try_from(PART_BYTES).unwrap_or(usize::MAX),
        );
        upload.put(bytes);
        upload.finish().await.map(drop)
    }

    /// Runs `work` on a separate thread and waits, because the caller may be inside an async runtime.
    fn block_on<T: Send>(
        &self,
        (url, size): (&ObjectUrl, u64),
        work: impl Future<Output = Result<T, StorageError>> + Send,
    ) -> Result<T, StorageError> {
        let runtime = self.runtime.as_ref().expect("the runtime exists until drop");
        let deadline = CALL_TIMEOUT + PART_TIMEOUT * u32::try_from(size / PART_BYTES).unwrap_or(u32::MAX);
        let late = || StorageError::Unreachable {
            url: url.to_string(),
            problem: format!("the storage did not answer within {} s", deadline.as_secs()),
        };
        let wait = move || runtime.block_on(async { tokio::time::timeout(deadline, work).await });
        let waited = std::thread::scope(|scope| scope.spawn(wait).join());
        match waited {
            Ok(answer) => answer.unwrap_or_else(|_| Err(late())),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn to_storage_error(&self, url: &ObjectUrl, error: &Error) -> StorageError {
        let url = url.to_string();
        let problem = self.environment.redact_secrets(&shorten_problem(&describe_causes(error)));
        match error {
            Error::NotFound { .. } if problem.contains("NoSuchBucket") => StorageError::NoBucket { url },
            Error::NotFound { .. } => StorageError::Missing { url },
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                StorageError::Refused { url, problem }
            }
            Error::Generic { .. } if is_network_error(error) => StorageError::Unreachable { url, problem },
            _ => StorageError::Failed { url, problem },
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // Waiting for the shutdown would panic inside another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn with_retries<T, F>(request: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut pauses = RETRY_DELAYS_MS.map(Duration::from_millis).into_iter();
    loop {
        match (request().await, pauses.next()) {
            (Err(error), Some(pause)) if is_network_error(&error) => tokio::time::sleep(pause).await,
            (answer, _) => return answer,
        }
    }
}

fn parse_key(url: &ObjectUrl) -> Result<Key, StorageError> {
    Key::parse(url.key())
        .map_err(|error| StorageError::InvalidUrl { url: url.to_string(), problem: error.to_string() })
}

fn describe_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(one) = cause {
        let one_text = one.to_string();
        if !text.contains(&one_text) {
            text = format!("{text}: {one_text}");
        }
        cause = one.source();
    }
    text
}

fn shorten_problem(text: &str) -> String {
    let part = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(inside, _)| inside.to_owned())
    };
    match (part("Code"), part("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code,
        (None, _) => text.lines().map(str::trim).collect::<Vec<_>>().join(" ").chars().take(400).collect(),
    }
}

/// Returns whether the connection failed or the server answered with a 5xx status.
fn is_network_error(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if one.is::<HttpError>() || one.to_string().contains("non-2xx status code: 5") {
            return true;
        }
        cause = one.source();
    }
    false
}

#[cfg(test)]
mod tests;
