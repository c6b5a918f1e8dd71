//! The two credentials, which cannot be printed.

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::sync::Arc;

/// A credential. It can be sent, and nothing else: it has no `Display`, no `Serialize`, and its `Debug` shows
/// `[hidden]`.
#[derive(Clone)]
pub struct Secret(SecretString);

/// Why a text cannot be a credential. It does not say what the text was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the credential is empty or holds characters that no header can carry")]
pub struct SecretError;

/// Reads the token anew, where it is kept in a place in which it may be replaced; `None` where there is none that can be used.
pub type TokenSource = Arc<dyn Fn() -> Option<Secret> + Send + Sync>;

/// What the two APIs ask for (contract 5).
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// For the trading token API, sent as `api-token`.
    pub api_token: Option<Secret>,
    /// For the symbol price API, sent as `api-key`.
    pub api_key: Option<Secret>,
}

impl Secret {
    /// Takes a credential; white space around it (a file's last line end) is dropped.
    ///
    /// # Errors
    /// [`SecretError`] when it is empty, or not made of visible ASCII characters.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        let sound = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if sound { Ok(Self(SecretString::from(text))) } else { Err(SecretError) }
    }

    /// Whether it is the same credential.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }

    /// As a header that prints as `Sensitive`.
    pub(crate) fn to_header(&self) -> HeaderValue {
        let mut header = HeaderValue::from_str(self.0.expose_secret())
            .expect("visible ASCII, checked by the constructor, is a header value");
        header.set_sensitive(true);
        header
    }

    /// Its letters, for whoever looks for an echo of them.
    pub(crate) fn expose(&self) -> &[u8] {
        self.0.expose_secret().as_bytes()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_cannot_be_printed() {
        let secret = Secret::new("  tok-123\n").unwrap();
        let credentials = Credentials { api_token: Some(secret.clone()), api_key: None };
        assert_eq!(format!("{secret:?}"), "[hidden]");
        for printed in
            [format!("{credentials:?}"), format!("{credentials:#?}"), format!("{:?}", secret.to_header())]
        {
            assert!(!printed.contains("tok-123"), "{printed}");
        }
        assert_eq!(secret.to_header(), "tok-123");
    }

    #[test]
    fn texts_that_no_header_can_carry_are_refused_without_being_shown() {
        for text in ["", " \n", "two words", "tok\n123", "tók"] {
            assert_eq!(Secret::new(text).map(|_| ()), Err(SecretError), "{text:?}");
        }
    }
}
