//! Request errors, grouped by how the caller should react.

use std::fmt;
use std::time::Duration;

/// Failure of a request. Orders return an [`OpenOutcome`](crate::OpenOutcome) instead.
///
/// Only `Unavailable` and `RateLimited` are retried. Error texts never contain credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    /// The configuration is invalid, so the adapter cannot be created.
    #[error("broker.{key} = \"{value}\": {problem}")]
    Settings {
        /// Key in the `[broker]` section.
        key: String,
        /// Current value.
        value: String,
        /// Problem and suggested fix.
        problem: String,
    },
    /// The credentials are missing, or the venue does not accept them.
    #[error("the credentials are not accepted: {text}")]
    Credentials {
        /// Message from the venue.
        text: String,
    },
    /// The venue understood the request and rejected it.
    #[error("the venue rejected the request: {text}")]
    Rejected {
        /// Message from the venue.
        text: String,
    },
    /// The symbol or trade does not exist, or the symbol has no price yet.
    #[error("not found: {text}")]
    NotFound {
        /// Message from the venue.
        text: String,
    },
    /// Too many requests were sent.
    #[error("the venue asks for fewer requests: {text}")]
    RateLimited {
        /// Message from the venue.
        text: String,
        /// Pause that the venue demands; `None` if the venue does not state a pause.
        retry_after: Option<Duration>,
    },
    /// A temporary failure, such as a timeout. A retry is harmless.
    #[error("the venue is not available: {text}")]
    Unavailable {
        /// Description of the failure.
        text: String,
    },
    /// The venue has more data than a configurable limit allows.
    #[error("limit exceeded: {text}")]
    LimitReached {
        /// Description of the limit.
        text: String,
    },
    /// The adapter cannot read the answer. Report this as a bug.
    #[error("the answer is malformed: {problem} ({head})")]
    Malformed {
        /// Description of the problem.
        problem: String,
        /// Beginning of the answer, on one line.
        head: String,
    },
}

impl BrokerError {
    /// Returns whether a retry of the same request may succeed.
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::RateLimited { .. })
    }

    /// Creates a `Settings` error.
    pub fn settings(key: &str, value: impl fmt::Display, problem: &str) -> Self {
        Self::Settings { key: key.to_owned(), value: value.to_string(), problem: problem.to_owned() }
    }
}
