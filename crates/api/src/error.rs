//! What can go wrong with a request, named by what to do about it.

use candlewick_sdk::Millis;
use std::time::Duration;

/// Why a request did not give what was asked for. No text in here holds a credential.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ApiError {
    /// Mend the configuration: the client cannot be made from it.
    #[error("broker.{key} = \"{value}\": {problem}")]
    Settings {
        /// Key in the `[broker]` section.
        key: String,
        /// What it is now.
        value: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Give the right credential: this one is missing or not accepted (401).
    #[error("the credentials are not accepted: {text}")]
    Unauthorized {
        /// The venue's words.
        text: String,
    },
    /// Ask for something else: the venue understood and said no. For an open, no trade exists (400, 401, 403,
    /// 404 and 422; `domain 5`).
    #[error("the venue refused (HTTP {status}): {text}")]
    Rejected {
        /// HTTP status.
        status: u16,
        /// The venue's words.
        text: String,
        /// The venue's time of the refusal, where its body says it.
        venue_time: Option<Millis>,
    },
    /// Check the name: there is no such pair or trade (404).
    #[error("not found: {text}")]
    NotFound {
        /// The venue's words.
        text: String,
    },
    /// Slow down (429, or 503 with a `Retry-After`).
    #[error("the venue asks for fewer requests: {text}")]
    RateLimited {
        /// The venue's words.
        text: String,
        /// How long the venue wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// Try again later: nothing was read, and reading again does no harm.
    #[error("the venue is not available: {text}")]
    Unavailable {
        /// What happened.
        text: String,
    },
    /// Go on: the open never left, so no trade exists.
    #[error("the open was not sent: {text}")]
    NotSent {
        /// What kept it back.
        text: String,
    },
    /// Look before doing anything else: a trade may or may not exist. An open is never sent again.
    #[error("it is not known whether the open made a trade: {text}")]
    Ambiguous {
        /// What happened.
        text: String,
    },
    /// Report it: the answer is not what the contract says.
    #[error("the answer is malformed, {problem}: {head}")]
    Malformed {
        /// What is wrong with it.
        problem: String,
        /// Its beginning, in one line.
        head: String,
    },
}

impl ApiError {
    /// Whether the credentials are to blame, on a reading request or an open.
    pub const fn is_unauthorized(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Rejected { status: 401, .. })
    }

    /// Whether a reading request may succeed when it is sent again.
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::RateLimited { .. })
    }
}
