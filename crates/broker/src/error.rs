//! What can go wrong with a request, named by what to do about it.

use std::fmt;
use std::time::Duration;

/// Why a request did not give what was asked for. No text in here holds a credential.
///
/// An open does not fail with one of these: what is known of it is an [`OpenOutcome`](crate::OpenOutcome).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    /// Change the configuration: the adapter cannot be made from it.
    #[error("broker.{key} = \"{value}\": {problem}")]
    Settings {
        /// Key in the `[broker]` section.
        key: String,
        /// What it is now.
        value: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Give the right credential: this one is missing or not accepted.
    #[error("the credentials are not accepted: {text}")]
    Credentials {
        /// The venue's words.
        text: String,
    },
    /// Ask for something else: the venue understood and said no.
    #[error("the venue rejected the request: {text}")]
    Rejected {
        /// The venue's words.
        text: String,
    },
    /// Check the name: there is no such symbol or trade, or no price of it yet.
    #[error("not found: {text}")]
    NotFound {
        /// The venue's words.
        text: String,
    },
    /// Slow down.
    #[error("the venue asks for fewer requests: {text}")]
    RateLimited {
        /// The venue's words.
        text: String,
        /// How long the venue wants no requests.
        retry_after: Option<Duration>,
    },
    /// Try again later: nothing was read, and reading again does no harm.
    #[error("the venue is not available: {text}")]
    Unavailable {
        /// What happened.
        text: String,
    },
    /// Raise the limit that it names, if that is meant: the venue has more than is taken.
    #[error("more than is taken: {text}")]
    LimitReached {
        /// Which limit.
        text: String,
    },
    /// Report it: the answer is not what the adapter can read.
    #[error("the answer is malformed, {problem}: {head}")]
    Malformed {
        /// What is wrong with it.
        problem: String,
        /// Its beginning, in one line.
        head: String,
    },
}

impl BrokerError {
    /// Whether the same request may succeed when it is sent again.
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::RateLimited { .. })
    }

    /// For a setting that cannot be used.
    pub fn settings(key: &str, value: impl fmt::Display, problem: &str) -> Self {
        Self::Settings { key: key.to_owned(), value: value.to_string(), problem: problem.to_owned() }
    }
}
