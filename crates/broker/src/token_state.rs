//! State of the token that an adapter trades with.

use std::sync::{Mutex, PoisonError};

/// Whether the venue accepts the token of an adapter.
///
/// Shared by the adapter, which sets it, and the run, which opens nothing while the token is
/// refused.
#[derive(Debug, Default)]
pub struct TokenState {
    refused: Mutex<Option<String>>,
}

impl TokenState {
    /// Creates the state of a token that is assumed to be accepted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the venue's message while it refuses the token.
    pub fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that the venue refuses the token. `text` must not contain it.
    pub fn refuse(&self, text: impl Into<String>) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.into());
    }

    /// Records that the venue accepts the token, or that a new one is in use.
    pub fn accept(&self) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
