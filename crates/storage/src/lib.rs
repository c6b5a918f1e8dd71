//! Object storage client with atomic uploads.
//!
//! Calls block, with a deadline that depends on the transferred size. Credentials come only from
//! environment variables such as `AWS_ACCESS_KEY_ID` and never appear in a message.

mod environment;
mod storage;
mod url;

pub use storage::{Kept, Object, Storage, Version};
pub use url::ObjectUrl;

use std::io;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StorageError {
    #[error("{url}: {problem}")]
    InvalidUrl { url: String, problem: String },
    #[error("{variable}: {problem}")]
    InvalidSetting { variable: &'static str, problem: String },
    #[error("{url}: the storage denies access: {problem}")]
    Refused { url: String, problem: String },
    #[error("{url}: there is no such bucket")]
    NoBucket { url: String },
    #[error("{url}: the storage cannot be reached: {problem}")]
    Unreachable { url: String, problem: String },
    #[error("{url}: there is no such object")]
    Missing { url: String },
    #[error("{url}: the object changed while it was read")]
    Changed { url: String },
    #[error("{url}: {problem}")]
    Failed { url: String, problem: String },
    #[error("{}: cannot be written", path.display())]
    Disk { path: PathBuf, source: io::Error },
}

impl StorageError {
    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Refused { .. } => Some(
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN (if you use one), AWS_REGION, and \
                 the permissions on the bucket",
            ),
            Self::Unreachable { .. } => Some(
                "check the network, AWS_ENDPOINT_URL (for servers other than Amazon's), and that AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY are set; the same command resumes where it stopped",
            ),
            Self::NoBucket { .. } => Some("create it first, and check AWS_REGION and AWS_ENDPOINT_URL"),
            Self::Changed { .. } => Some("run the same command again"),
            Self::InvalidUrl { .. }
            | Self::InvalidSetting { .. }
            | Self::Missing { .. }
            | Self::Failed { .. }
            | Self::Disk { .. } => None,
        }
    }
}
