//! API credentials, protected against being printed.

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::sync::Arc;

/// A credential without `Display` or `Serialize`; its `Debug` prints `[hidden]`.
#[derive(Clone)]
pub struct Secret(SecretString);

/// Invalid credential text. The error never contains the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the credential is empty or holds characters that no header can carry")]
pub struct SecretError;

/// Reads the token again from storage that may have been updated.
///
/// `None` if there is no usable token.
pub type TokenSource = Arc<dyn Fn() -> Option<Secret> + Send + Sync>;

/// Credentials of the two APIs (contract 5).
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    pub api_token: Option<Secret>,
    pub api_key: Option<Secret>,
}

impl Secret {
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        let sound = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if sound { Ok(Self(SecretString::from(text))) } else { Err(SecretError) }
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }

    pub(crate) fn to_header(&self) -> HeaderValue {
        let mut header = HeaderValue::from_str(self.0.expose_secret())
            .expect("visible ASCII, checked by the constructor, is a header value");
        header.set_sensitive(true);
        header
    }

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
