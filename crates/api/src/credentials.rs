//! API credentials. Code cannot print them by accident.

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A credential. It has no `Display` or `Serialize`, and its `Debug` prints `[hidden]`.
#[derive(Clone)]
pub struct Secret(SecretString);

/// Error for an invalid credential. The message never contains the credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the credential is empty or contains characters that are invalid in a header")]
pub struct SecretError;

/// Function that rereads the token from its storage. Returns `None` if the storage has no usable token.
pub type TokenSource = Arc<dyn Fn() -> Option<Secret> + Send + Sync>;

/// Credentials for the trading and price APIs (contract 5).
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

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }

    pub(crate) fn to_header(&self) -> HeaderValue {
        let mut header = HeaderValue::from_str(self.0.expose_secret())
            .expect("the constructor accepts only valid header values");
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

const MASK: &[u8] = b"[hidden]";
/// Bounds of the minimum length of redacted fragments, which is three quarters of a credential's length.
const MIN_MATCH_THRESHOLD_BYTES: usize = 8;
const MAX_MATCH_THRESHOLD_BYTES: usize = 12;
/// Minimum number of digits for a number to be redacted. Shorter numbers may be amounts.
const MIN_DIGITS: usize = 12;

struct DecodedBytes<'a> {
    bytes: Cow<'a, [u8]>,
    offsets: Option<Vec<usize>>,
}

/// Replaces all secrets in `bytes`. Returns `None` if `bytes` does not contain a secret.
pub(crate) fn redact_secrets(secrets: &[&[u8]], bytes: &[u8]) -> Option<Vec<u8>> {
    let mut spans = find_spans(secrets, &DecodedBytes::raw(bytes));
    if bytes.iter().any(|byte| matches!(byte, b'\\' | b'%')) {
        spans.extend(find_spans(secrets, &DecodedBytes::unescaped(bytes)));
        spans.sort_unstable_by_key(|span| (span.start, span.end));
    }
    if spans.is_empty() {
        return None;
    }
    let (mut hidden, mut end) = (Vec::with_capacity(bytes.len()), 0);
    for span in spans {
        if span.start >= end {
            hidden.extend_from_slice(&bytes[end..span.start]);
            // A number is replaced with 0, so that JSON remains valid.
            let is_number = bytes[span.clone()].iter().all(u8::is_ascii_digit);
            hidden.extend_from_slice(if is_number { b"0" } else { MASK });
        }
        end = end.max(span.end);
    }
    hidden.extend_from_slice(&bytes[end..]);
    Some(hidden)
}

fn find_spans(secrets: &[&[u8]], decoded: &DecodedBytes<'_>) -> Vec<Range<usize>> {
    let bytes = decoded.bytes.as_ref();
    let finders: Vec<SecretFinder<'_>> = secrets.iter().map(|secret| SecretFinder::new(secret)).collect();
    let (mut spans, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        // A match never starts at an escaped letter. The JSON would otherwise become invalid.
        let is_escape = decoded.offsets.is_none() && ends_with_escape(&bytes[..at]);
        let measure = |finder: &SecretFinder<'_>| if is_escape { 0 } else { finder.match_length(bytes, at) };
        let length = finders.iter().map(measure).max().unwrap_or(0);
        if length > 0 {
            spans.push(decoded.source_offset(at)..decoded.source_offset(at + length));
        }
        at += length.max(1);
    }
    spans
}

struct SecretFinder<'a> {
    secret: &'a [u8],
    least: usize,
    begins: [bool; 256],
}

impl<'a> SecretFinder<'a> {
    fn new(secret: &'a [u8]) -> Self {
        let least = (secret.len() * 3)
            .div_ceil(4)
            .clamp(MIN_MATCH_THRESHOLD_BYTES, MAX_MATCH_THRESHOLD_BYTES)
            .min(secret.len());
        let mut begins = [false; 256];
        for byte in &secret[..=secret.len() - least] {
            begins[usize::from(*byte)] = true;
        }
        Self { secret, least, begins }
    }

    fn match_length(&self, bytes: &[u8], at: usize) -> usize {
        let Self { secret, least, .. } = *self;
        if !self.begins[usize::from(bytes[at])] || bytes.len() - at < least {
            return 0;
        }
        let common = |from: usize| {
            secret[from..].iter().zip(&bytes[at..]).take_while(|(one, other)| one == other).count()
        };
        let longest = (0..=secret.len() - least).map(common).max().unwrap_or(0);
        if longest < least || self.is_chance_match(bytes, at..at + longest) { 0 } else { longest }
    }

    fn is_chance_match(&self, bytes: &[u8], span: Range<usize>) -> bool {
        let before = span.start.checked_sub(1).map(|place| bytes[place]);
        let after = bytes.get(span.end).copied();
        let touches =
            |is: fn(&u8) -> bool| before.is_some_and(|byte| is(&byte)) || after.is_some_and(|byte| is(&byte));
        if bytes[span.clone()].iter().all(u8::is_ascii_digit) {
            return span.len() < MIN_DIGITS || touches(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
        }
        self.secret.len() < MIN_MATCH_THRESHOLD_BYTES && touches(u8::is_ascii_alphanumeric)
    }
}

impl<'a> DecodedBytes<'a> {
    const fn raw(bytes: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), offsets: None }
    }

    fn unescaped(bytes: &[u8]) -> Self {
        let (mut decoded, mut offsets, mut at) = (Vec::with_capacity(bytes.len()), Vec::new(), 0);
        while at < bytes.len() {
            let (byte, length) = unescape_first(&bytes[at..]);
            decoded.push(byte);
            offsets.push(at);
            at += length;
        }
        offsets.push(bytes.len());
        Self { bytes: Cow::Owned(decoded), offsets: Some(offsets) }
    }

    fn source_offset(&self, at: usize) -> usize {
        self.offsets.as_ref().map_or(at, |offsets| offsets[at])
    }
}

fn ends_with_escape(bytes: &[u8]) -> bool {
    bytes.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Returns the first byte, unescaped, and its escaped length. The byte is 0 if credentials cannot contain it.
fn unescape_first(bytes: &[u8]) -> (u8, usize) {
    let hex = |digits: &[u8]| {
        let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        Some(u8::try_from(number).ok().filter(u8::is_ascii).unwrap_or(0))
    };
    let escaped = match bytes {
        [b'\\', b'u', rest @ ..] => rest.get(..4).and_then(hex).map(|byte| (byte, 6)),
        [b'\\', letter @ (b'/' | b'"' | b'\\'), ..] => Some((*letter, 2)),
        [b'\\', b'b' | b'f' | b'n' | b'r' | b't', ..] => Some((0, 2)),
        [b'%', rest @ ..] => rest.get(..2).and_then(hex).map(|byte| (byte, 3)),
        _ => None,
    };
    escaped.unwrap_or((bytes[0], 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn rejects_invalid_credentials_without_showing_them() {
        for text in ["", " \n", "two words", "tok\n123", "tók"] {
            assert_eq!(Secret::new(text).map(|_| ()), Err(SecretError), "{text:?}");
        }
    }

    const TOKEN: &str = "q7Jx/Vd2+Lk9TzPw4RmB8sYhN3cF6gE=";

    fn hidden(secret: &str, text: &str) -> String {
        let hidden = redact_secrets(&[secret.as_bytes()], text.as_bytes());
        hidden.map_or_else(|| text.to_owned(), |bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn redacts_credentials_in_all_positions_and_encodings() {
        let in_path = TOKEN.replace('/', "%2F").replace('+', "%2b").replace('=', "%3D");
        for (text, expected) in [
            (format!("{{\"{TOKEN}\":\"x{TOKEN}y\"}}"), "{\"[hidden]\":\"x[hidden]y\"}"),
            (format!("\"{}\"", TOKEN.replace('/', "\\/")), "\"[hidden]\""),
            (format!("\"{}\"", TOKEN.replace('q', "\\u0071").replace('=', "\\u003D")), "\"[hidden]\""),
            (format!("/x/{in_path}?"), "/x/[hidden]?"),
            (format!("begins with {}...", &TOKEN[..12]), "begins with [hidden]..."),
            (format!("ends with {}", &TOKEN[14..]), "ends with [hidden]"),
            (format!("{}-{}", &TOKEN[..15], &TOKEN[15..]), "[hidden]-[hidden]"),
            (format!("begins with {}", &TOKEN[..6]), &format!("begins with {}", &TOKEN[..6])),
            ("\\u12 %4".to_owned(), "\\u12 %4"),
        ] {
            assert_eq!(hidden(TOKEN, &text), expected);
        }
    }

    #[test]
    fn redaction_keeps_escapes_and_numbers_valid() {
        let (word, number) = ("n4k7wq2zt9xb5v", "482915037716");
        let demo = [r#"{"isDemo":"demons","x":"demo"}"#, r#"{"isDemo":"demons","x":"[hidden]"}"#];
        for (secret, text, expected) in [
            ("sandbox-token", "no sandbox-key, no token", "no sandbox-key, no token"),
            ("sandbox-token", "sandbox-token2", "[hidden]2"),
            ("demo", demo[0], demo[1]),
            ("10", r#"{"amount":10}"#, r#"{"amount":10}"#),
            (word, r#"{"a":"\n4k7wq2zt9xb5v"}"#, r#"{"a":"\n[hidden]"}"#),
            (word, r#"{"a":"\\n4k7wq2zt9xb5v"}"#, r#"{"a":"\\[hidden]"}"#),
            (number, r#"{"id":482915037716}"#, r#"{"id":0}"#),
            (number, r#"{"time":4829150377161}"#, r#"{"time":4829150377161}"#),
        ] {
            assert_eq!(hidden(secret, text), expected);
        }
    }

    proptest! {
        #[test]
        fn redacts_all_parts_of_a_credential(
            secret in "[a-zA-Z0-9_./+=-]{18,64}[a-z]", before in "[ -~é]{0,20}", after in "[ -~é]{0,20}",
            from in 0_usize..6,
        ) {
            let part = &secret[from..];
            let text = hidden(&secret, &format!("{before}{part}{after}"));
            let is_left = secret.as_bytes().windows(MAX_MATCH_THRESHOLD_BYTES).any(|part| {
                !part.iter().all(u8::is_ascii_digit) && text.as_bytes().windows(MAX_MATCH_THRESHOLD_BYTES).any(|window| window == part)
            });
            prop_assert!(!is_left, "{text}");
        }

        #[test]
        fn redacted_json_stays_valid(secret in "[a-z0-9]{4,40}", key in ".{0,9}", value in ".{0,9}", number in any::<u64>()) {
            let document = serde_json::json!({ key: [value.clone(), secret.clone(), format!("{value}{secret}")], "n": number });
            let hidden = hidden(&secret, &document.to_string());
            prop_assert!(serde_json::from_str::<serde_json::Value>(&hidden).is_ok(), "{hidden}");
        }
    }
}
