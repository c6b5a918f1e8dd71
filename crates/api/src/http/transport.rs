//! Sends one HTTP request, with limits on time and size, over the network or through a test double.

use super::client;
use super::keys::CredentialStore;
use crate::Settings;
use crate::model::to_one_line;
use async_trait::async_trait;
use candlewick_broker::BrokerError;
use candlewick_broker::clock::Clock;
use candlewick_sdk::Millis;
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::{Client, Request, Response, StatusCode};
use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};
use tokio::net::TcpStream;
use url::Url;

const PROBE_TIMEOUT: Duration = Duration::from_millis(500);

#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request and reads the answer up to the size limit. Never resends a [`Purpose::Open`] request.
    async fn send(
        &self,
        purpose: Purpose,
        request: Request,
        limit_bytes: usize,
    ) -> Result<RawResponse, TransportError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Read,
    Open,
}

#[derive(Debug)]
pub struct RawResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Body,
}

#[derive(Debug)]
pub enum Body {
    Whole(Vec<u8>),
    TooLong(Vec<u8>),
    Cut(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// No connection was established, so nothing was sent.
    NotConnected(String),
    /// An established connection failed. The venue may have received the request anyway.
    Lost(String),
}

pub(super) struct Network {
    read_client: Client,
    open_client: Client,
    /// Whether no proxy is set, so that a probe can reach the server's port directly.
    is_direct: bool,
}

impl Network {
    pub(super) fn new(settings: &Settings) -> Result<Self, BrokerError> {
        let (read_client, open_client) =
            (client::build_read_client(settings)?, client::build_open_client(settings)?);
        Ok(Self { read_client, open_client, is_direct: settings.proxy.is_none() })
    }

    pub(super) fn without_certificates(settings: &Settings) -> Result<Self, BrokerError> {
        let client = client::build_client_without_certificates(settings)?;
        Ok(Self { read_client: client.clone(), open_client: client, is_direct: settings.proxy.is_none() })
    }
}

#[async_trait]
impl Transport for Network {
    async fn send(
        &self,
        purpose: Purpose,
        request: Request,
        limit_bytes: usize,
    ) -> Result<RawResponse, TransportError> {
        let client = match purpose {
            Purpose::Read => &self.read_client,
            Purpose::Open => &self.open_client,
        };
        let url = request.url().clone();
        let mut response = match client.execute(request).await {
            Ok(response) => response,
            Err(error) if error.is_connect() => {
                let is_timeout = self.is_direct && error.is_timeout();
                let text = describe_error(&error.without_url());
                return Err(TransportError::NotConnected(append_tls_hint(text, is_timeout, &url).await));
            }
            Err(error) => return Err(TransportError::Lost(describe_error(&error.without_url()))),
        };
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        Ok(RawResponse { status, headers, body: read_body(response, limit_bytes).await })
    }
}

async fn append_tls_hint(text: String, is_timeout: bool, url: &Url) -> String {
    // Rustls reports this error if the answer is not TLS.
    let is_plain_answer = text.contains("InvalidContentType");
    let accepts_connections = is_timeout && url.scheme() == "https" && accepts_connections(url).await;
    let hint = "; the server did not answer with TLS; if it serves plain HTTP, start its URL with http://";
    if is_plain_answer || accepts_connections { format!("{text}{hint}") } else { text }
}

async fn accepts_connections(url: &Url) -> bool {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    matches!(tokio::time::timeout(PROBE_TIMEOUT, TcpStream::connect((host, port))).await, Ok(Ok(_)))
}

async fn read_body(mut response: Response, limit_bytes: usize) -> Body {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Body::Whole(bytes),
            Err(error) => return Body::Cut(describe_error(&error.without_url())),
        }
        if bytes.len() > limit_bytes {
            return Body::TooLong(bytes);
        }
    }
}

fn describe_error(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    to_one_line(&text)
}

#[derive(Debug)]
pub(super) struct ApiResponse {
    pub(super) status: StatusCode,
    pub(super) date: Option<Millis>,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Body,
    /// Original body if it contained a credential. Use it only to read values that are sent back to the venue.
    pub(super) raw_body: Option<Vec<u8>>,
    pub(super) sent: Millis,
    pub(super) received: Millis,
}

const MAX_EXCERPT_BYTES: usize = 200;

impl ApiResponse {
    pub(super) fn redacted(self, credentials: &CredentialStore) -> Self {
        let (body, raw_body) = self.body.redacted(credentials);
        Self { body, raw_body, ..self }
    }
}

impl Body {
    fn redacted(self, credentials: &CredentialStore) -> (Self, Option<Vec<u8>>) {
        let bytes = match &self {
            Self::Whole(bytes) | Self::TooLong(bytes) => bytes,
            Self::Cut(text) => return (Self::Cut(credentials.redact(text)), None),
        };
        let Some(hidden) = credentials.redact_bytes(bytes) else { return (self, None) };
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

    pub(super) fn excerpt(&self) -> String {
        let bytes = self.bytes();
        to_one_line(&String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_EXCERPT_BYTES)]))
    }
}

pub(super) async fn send_timed_request(
    transport: &dyn Transport,
    (purpose, request): (Purpose, Request),
    limit_bytes: usize,
    clock: &dyn Clock,
) -> Result<ApiResponse, TransportError> {
    let sent = clock.now();
    let RawResponse { status, headers, body } = transport.send(purpose, request, limit_bytes).await?;
    let received = clock.now();
    let date = parse_date(&headers, &DATE);
    let retry_after = parse_retry_after(&headers, date.unwrap_or(received));
    Ok(ApiResponse { status, date, retry_after, body, raw_body: None, sent, received })
}

fn parse_date(headers: &HeaderMap, name: &HeaderName) -> Option<Millis> {
    let moment = httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()?;
    i64::try_from(moment.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok().map(Millis::new)
}

fn parse_retry_after(headers: &HeaderMap, now: Millis) -> Option<Duration> {
    let milliseconds = match headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse::<u64>() {
        Ok(seconds) => return Some(Duration::from_secs(seconds)),
        Err(_) => (parse_date(headers, &RETRY_AFTER)? - now).get(),
    };
    Some(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)))
}

/// A request to the trading API and its answer. Neither contains credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpExchange {
    pub intent: Option<u64>,
    pub sent: Millis,
    pub received: Option<Millis>,
    /// Method, path and query, for example `GET /token/trades?page=1`.
    pub request_line: String,
    pub request: String,
    pub status: Option<u16>,
    pub response: String,
}

/// Observer of all requests to the trading API and their answers. Its methods must return quickly.
pub trait HttpObserver: Send + Sync {
    fn observe(&self, exchange: HttpExchange);
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    #[test]
    fn parses_retry_after_as_seconds_and_date() {
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
            assert_eq!(parse_retry_after(&headers, now), expected.map(Duration::from_millis), "{text}");
        }
    }
}
