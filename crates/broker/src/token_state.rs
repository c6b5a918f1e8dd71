//! Whether the venue accepts the token that an adapter trades with.

use std::sync::{Mutex, PoisonError};

/// Whether the venue accepts the token of an adapter. One is shared by the adapter, which says so, and the run, which opens
/// nothing while it is refused.
#[derive(Debug, Default)]
pub struct TokenState {
    refused: Mutex<Option<String>>,
}

impl TokenState {
    /// Accepted, as far as is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// The venue's words, while it refuses the token.
    pub fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The venue refuses the token, in these words; they must not hold it.
    pub fn refuse(&self, text: impl Into<String>) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.into());
    }

    /// The venue accepts the token, or another is used from now on.
    pub fn accept(&self) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
