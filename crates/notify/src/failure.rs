//! Delivery errors.

use std::time::Duration;

/// Delivery errors. Reasons never contain the address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{reason}")]
    TryLater { reason: String, after: Option<Duration> },
    /// Rejected, because of the content or of a setting that the operator can fix.
    #[error("{reason}")]
    TurnedAway { reason: String },
    /// Permanently rejected: a retry cannot succeed.
    #[error("{reason}")]
    Refused { reason: String },
}

/// Invalid channel settings. Problems never contain an address or a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    #[error("{problem}")]
    Address { problem: String },
    #[error("{problem}")]
    Secret { problem: String },
    #[error("{problem}")]
    Mailbox { problem: String },
    #[error("{problem}")]
    Client { problem: String },
}

impl Failure {
    pub(crate) fn later(reason: impl Into<String>) -> Self {
        Self::TryLater { reason: reason.into(), after: None }
    }

    pub(crate) const fn after(&self) -> Option<Duration> {
        if let Self::TryLater { after, .. } = self { *after } else { None }
    }
}

impl ChannelError {
    pub(crate) fn address(problem: impl Into<String>) -> Self {
        Self::Address { problem: problem.into() }
    }

    pub(crate) fn secret(problem: impl Into<String>) -> Self {
        Self::Secret { problem: problem.into() }
    }
}
