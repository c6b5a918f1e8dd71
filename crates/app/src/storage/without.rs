//! Stub for builds without object storage.

use crate::error::AppError;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

fn unsupported_error(path: &Path) -> AppError {
    let problem = format!("{}: this program was built without object storage", path.display());
    AppError::invalid(problem)
        .with_help("rebuild with `cargo build --release --features object-storage`, or use a local path")
}

pub(crate) struct RemoteFolder(Infallible);

impl RemoteFolder {
    pub(crate) fn open(path: &Path) -> Result<Self, AppError> {
        Err(unsupported_error(path))
    }

    pub(crate) fn local_folder(&self) -> &Path {
        match self.0 {}
    }

    pub(crate) fn display_path(&self) -> PathBuf {
        match self.0 {}
    }

    pub(crate) fn download(&self, _name: &str) -> Result<(), AppError> {
        match self.0 {}
    }

    pub(crate) fn put(&self, _name: &str, _bytes: Vec<u8>) -> Result<(), AppError> {
        match self.0 {}
    }

    pub(crate) fn upload_if_unchanged(&self, _name: &str) -> Result<bool, AppError> {
        match self.0 {}
    }
}

pub fn read(path: &Path) -> Result<Option<Vec<u8>>, AppError> {
    Err(unsupported_error(path))
}

pub fn exists(path: &Path) -> Result<bool, AppError> {
    Err(unsupported_error(path))
}

pub fn put_file(path: &Path, _file: &Path) -> Result<(), AppError> {
    Err(unsupported_error(path))
}

pub fn local_copy(path: &Path, _folder: &Path) -> Result<PathBuf, AppError> {
    Err(unsupported_error(path))
}
