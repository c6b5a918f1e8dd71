//! What opens a channel, and is never shown.

use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// A token, key, password or address that nobody else may know. It has no `Display`, and its `Debug` shows `[hidden]`.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes a secret; white space around it (a file's last line end) is dropped. `None` where nothing is left, or where it holds control
    /// characters.
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
