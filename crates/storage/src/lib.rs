//! Object storage client with atomic uploads.
//!
//! All calls block. The timeout depends on the size of the transferred data. Credentials come only from
//! environment variables such as `AWS_ACCESS_KEY_ID` and never appear in a message.

mod environment;
mod storage;
mod url;

pub use storage::{ObjectInfo, PutOutcome, Storage, Version};
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
    #[error("{url}: the bucket does not exist")]
    NoBucket { url: String },
    #[error("{url}: the storage cannot be reached: {problem}")]
    Unreachable { url: String, problem: String },
    #[error("{url}: the object does not exist")]
    Missing { url: String },
    #[error("{url}: the object changed while it was read")]
    Changed { url: String },
    #[error("{url}: {problem}")]
    Failed { url: String, problem: String },
    #[error("{}: cannot be written", path.display())]
    Disk { path: PathBuf, source: io::Error },
}

impl StorageError {
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Refused { .. } => Some(
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_SESSION_TOKEN (if used), \
                 and your permissions for the bucket",
            ),
            Self::Unreachable { .. } => Some(
                "check the network, AWS_ENDPOINT_URL (for servers other than Amazon's), AWS_ACCESS_KEY_ID \
                 and AWS_SECRET_ACCESS_KEY, then resume with the same command",
            ),
            Self::NoBucket { .. } => Some("create the bucket, and check AWS_REGION and AWS_ENDPOINT_URL"),
            Self::Changed { .. } => Some("run the same command again"),
            Self::InvalidUrl { .. }
            | Self::InvalidSetting { .. }
            | Self::Missing { .. }
            | Self::Failed { .. }
            | Self::Disk { .. } => None,
        }
    }
}
