//! A single HTTP exchange, limited in time and size.

use super::keys::Keys;
use super::transport::{Body, NoAnswer, Purpose, RawAnswer, Transport};
use crate::model::one_line;
use candlewick_broker::clock::Clock;
use candlewick_sdk::Millis;
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::{Request, StatusCode};
use std::time::{Duration, UNIX_EPOCH};

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) date: Option<Millis>,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Body,
    /// Unredacted body, if it contained a credential.
    ///
    /// Only for sending back to the venue, never for display.
    pub(super) raw_body: Option<Vec<u8>>,
    pub(super) sent: Millis,
    pub(super) received: Millis,
}

/// Maximum length of a body excerpt in messages, in bytes.
const HEAD_LENGTH: usize = 200;

impl Answer {
    pub(super) fn without(self, credentials: &Keys) -> Self {
        let (body, raw_body) = self.body.without(credentials);
        Self { body, raw_body, ..self }
    }
}

impl Body {
    fn without(self, credentials: &Keys) -> (Self, Option<Vec<u8>>) {
        let bytes = match &self {
            Self::Whole(bytes) | Self::TooLong(bytes) => bytes,
            Self::Cut(text) => return (Self::Cut(credentials.hide_in(text)), None),
        };
        let Some(hidden) = credentials.hide_in_bytes(bytes) else { return (self, None) };
        match self {
            Self::Whole(bytes) => (Self::Whole(hidden), Some(bytes)),
            Self::TooLong(_) | Self::Cut(_) => (Self::TooLong(hidden), None),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) | Self::TooLong(bytes) => bytes,
            Self::Cut(_) => &[],
        }
    }

    pub(super) fn head(&self) -> String {
        let bytes = self.bytes();
        one_line(&String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_LENGTH)]))
    }
}

pub(super) async fn exchange(
    transport: &dyn Transport,
    (purpose, request): (Purpose, Request),
    limit_bytes: usize,
    clock: &dyn Clock,
) -> Result<Answer, NoAnswer> {
    let sent = clock.now();
    let RawAnswer { status, headers, body } = transport.send(purpose, request, limit_bytes).await?;
    let received = clock.now();
    let date = moment_in(&headers, &DATE);
    let retry_after = pause_in(&headers, date.unwrap_or(received));
    Ok(Answer { status, date, retry_after, body, raw_body: None, sent, received })
}

fn moment_in(headers: &HeaderMap, name: &HeaderName) -> Option<Millis> {
    let moment = httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()?;
    i64::try_from(moment.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok().map(Millis::new)
}

fn pause_in(headers: &HeaderMap, now: Millis) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    let milliseconds = match text.trim().parse::<u64>() {
        Ok(seconds) => return Some(Duration::from_secs(seconds)),
        Err(_) => (moment_in(headers, &RETRY_AFTER)? - now).get(),
    };
    Some(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    #[test]
    fn a_wish_to_be_left_alone_is_read_in_both_forms() {
        let now = Millis::new(1_795_176_000_000); // Fri, 20 Nov 2026 12:00:00 GMT
        for (text, expected) in [
            ("0", Some(0)),
            ("7", Some(7_000)),
            ("Fri, 20 Nov 2026 12:00:30 GMT", Some(30_000)),
            ("Fri, 20 Nov 2026 11:00:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            assert_eq!(pause_in(&headers, now), expected.map(Duration::from_millis), "{text}");
        }
    }
}
