//! What goes wrong with object storage.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What goes wrong with object storage. No message holds a credential.
#[derive(Debug, Error)]
pub enum StorageError {
    /// An address that is none.
    #[error("{url}: {problem}")]
    InvalidUrl {
        /// As it was given.
        url: String,
        /// Why.
        problem: String,
    },
    /// What the environment says of the server does not do.
    #[error("{variable}: {problem}")]
    InvalidSetting {
        /// Which variable.
        variable: &'static str,
        /// Why.
        problem: String,
    },
    /// The server does not let these credentials do it.
    #[error("{url}: the storage refuses it: {problem}")]
    Refused {
        /// What was asked for.
        url: String,
        /// In the server's words.
        problem: String,
    },
    /// There is no such bucket.
    #[error("{url}: there is no such bucket")]
    NoBucket {
        /// What was asked for.
        url: String,
    },
    /// No answer within the deadline, however often it was tried.
    #[error("{url}: the storage cannot be reached: {problem}")]
    Unreachable {
        /// What was asked for.
        url: String,
        /// What the last attempt came to.
        problem: String,
    },
    /// There is no such object.
    #[error("{url}: there is no such object")]
    Missing {
        /// What was asked for.
        url: String,
    },
    /// It changed while it was read.
    #[error("{url}: it changed while it was read")]
    Changed {
        /// What was asked for.
        url: String,
    },
    /// Any other answer.
    #[error("{url}: {problem}")]
    Failed {
        /// What was asked for.
        url: String,
        /// What was answered.
        problem: String,
    },
    /// The disk of this machine.
    #[error("{}: cannot be written", path.display())]
    Disk {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl StorageError {
    /// What can be done about it, where that is known.
    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Refused { .. } => Some(
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, where there is one), AWS_REGION, and \
                 what they may do with the bucket",
            ),
            Self::Unreachable { .. } => Some(
                "check the network, AWS_ENDPOINT_URL (of a server other than Amazon's), and that AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY are set; the same command goes on where it was",
            ),
            Self::NoBucket { .. } => Some("make it first, and check AWS_REGION and AWS_ENDPOINT_URL"),
            Self::Changed { .. } => Some("run the same command again"),
            Self::InvalidUrl { .. }
            | Self::InvalidSetting { .. }
            | Self::Missing { .. }
            | Self::Failed { .. }
            | Self::Disk { .. } => None,
        }
    }
}
