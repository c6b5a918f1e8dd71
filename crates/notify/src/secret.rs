//! Secrets of channels, never shown.

use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// A token, key, password or secret address. No `Display`; `Debug` shows `[hidden]`.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Parses a secret and trims white space, such as a file's final newline.
    ///
    /// `None` if nothing is left or if it contains control characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_sound = !text.is_empty() && !text.chars().any(char::is_control);
        is_sound.then(|| Self(SecretString::from(text)))
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}
