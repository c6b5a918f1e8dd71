//! What goes wrong.

use std::time::Duration;

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It may be taken later.
    #[error("{reason}")]
    TryLater {
        /// What was the matter, without the address.
        reason: String,
        /// How long the receiver asks to be left alone.
        after: Option<Duration>,
    },
    /// It is turned away, perhaps because of what it says, perhaps because of what somebody may mend.
    #[error("{reason}")]
    TurnedAway {
        /// What was the matter, without the address.
        reason: String,
    },
    /// This message is not taken, however often it is sent.
    #[error("{reason}")]
    Refused {
        /// What was the matter, without the address.
        reason: String,
    },
}

/// A channel that cannot be used as it is set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The address.
    #[error("{problem}")]
    Address {
        /// What is wrong, without the address.
        problem: String,
    },
    /// The secret: a key, a token or a password.
    #[error("{problem}")]
    Secret {
        /// What is wrong, without a word of it.
        problem: String,
    },
    /// Who writes or who is written to.
    #[error("{problem}")]
    Mailbox {
        /// Which one, and what is wrong.
        problem: String,
    },
    /// The HTTP or mail client cannot be made.
    #[error("{problem}")]
    Client {
        /// Why.
        problem: String,
    },
}

impl Failure {
    pub(crate) fn later(reason: impl Into<String>) -> Self {
        Self::TryLater { reason: reason.into(), after: None }
    }

    /// How long the receiver asks to be left alone.
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
