//! HTTP client for the channels, with error and secret types.
//!
//! The client follows no redirects, uses no proxy from the environment and limits the size of responses.

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::error::Error;
use std::fmt;
use std::time::Duration;
use url::{Host, Url};

const MAX_ERROR_BYTES: usize = 16_384;

/// HTTP client errors (4xx) that do not depend on the content of a message.
const RETRYABLE_CLIENT_ERRORS: [StatusCode; 5] = [
    StatusCode::UNAUTHORIZED,
    StatusCode::PROXY_AUTHENTICATION_REQUIRED,
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::TOO_EARLY,
    StatusCode::TOO_MANY_REQUESTS,
];

/// Delivery error. The error message never contains the channel's address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{reason}")]
    TryLater { reason: String, after: Option<Duration> },
    /// The receiver rejected the message because of its content or a wrong setting. Retried for a limited time.
    #[error("{reason}")]
    Rejected { reason: String },
    /// The message was permanently rejected, so a retry cannot succeed.
    #[error("{reason}")]
    Permanent { reason: String },
}

/// Invalid channel settings. The error messages never contain an address or a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    #[error("{problem}")]
    Address { problem: String },
    #[error("{problem}")]
    Secret { problem: String },
    #[error("{problem}")]
    Mailbox { problem: String },
}

impl Failure {
    pub(crate) fn try_later(reason: impl Into<String>) -> Self {
        Self::TryLater { reason: reason.into(), after: None }
    }

    pub(crate) const fn retry_after(&self) -> Option<Duration> {
        if let Self::TryLater { after, .. } = self { *after } else { None }
    }
}

impl ChannelError {
    pub(crate) fn invalid_address(problem: impl Into<String>) -> Self {
        Self::Address { problem: problem.into() }
    }

    pub(crate) fn invalid_secret(problem: impl Into<String>) -> Self {
        Self::Secret { problem: problem.into() }
    }
}

/// A token, key, password or secret address. The type has no `Display`, and `Debug` shows `[hidden]`.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Trims white space. Returns `None` if the result is empty or contains control characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && !text.chars().any(char::is_control)).then(|| Self(SecretString::from(text)))
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UrlContent {
    /// The URL or its requests contain a secret. The URL must use HTTPS unless the host is local.
    Secret,
    Message,
}

/// Parses and checks a URL. Errors never contain the URL.
pub(crate) fn parse_address(text: &Secret, carries: UrlContent) -> Result<Url, ChannelError> {
    let url = Url::parse(text.expose());
    let url = url.map_err(|error| ChannelError::invalid_address(format!("invalid address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(ChannelError::invalid_address(
            "the address must start with https:// or http:// and a host",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ChannelError::invalid_address(
            "the address must not contain a user or password: set the secret instead",
        ));
    }
    if carries == UrlContent::Secret && url.scheme() == "http" && !is_loopback(&url) {
        return Err(ChannelError::invalid_address("the secret would be sent unencrypted: use https://"));
    }
    Ok(url)
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(crate) fn build_client(url: &Url, deadline: Duration) -> Result<Client, ChannelError> {
    install_tls_provider();
    let builder = Client::builder()
        .user_agent(concat!("candlewick/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(deadline);
    // Plain HTTP needs no root certificates, which a minimal system may lack.
    let builder = if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| {
        let cause = describe_error(&error);
        let problem = format!("cannot create an HTTP client: {cause}; check that root certificates (ca-certificates) are installed");
        ChannelError::Address { problem }
    })
}

pub(crate) fn install_tls_provider() {
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Sends a request. Succeeds once the receiver accepts the request, even if the response body is incomplete.
pub(crate) async fn send(request: RequestBuilder) -> Result<(), Failure> {
    fetch_response(request).await.map(drop)
}

pub(crate) async fn send_and_read(request: RequestBuilder, max_bytes: usize) -> Result<Value, Failure> {
    Ok(read(fetch_response(request).await?, max_bytes).await)
}

async fn fetch_response(request: RequestBuilder) -> Result<Response, Failure> {
    let sent = request.send().await;
    let answer = sent.map_err(|error| Failure::try_later(describe_error(&error.without_url())))?;
    if answer.status().is_success() { Ok(answer) } else { Err(failure_from_response(answer).await) }
}

async fn failure_from_response(answer: Response) -> Failure {
    let (status, headers) = (answer.status(), answer.headers().clone());
    let reason = format!("the receiver responded {status}");
    match status {
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            Failure::Permanent { reason }
        }
        _ if status.is_client_error() && !RETRYABLE_CLIENT_ERRORS.contains(&status) => {
            Failure::Rejected { reason }
        }
        _ => Failure::TryLater { reason, after: retry_delay(&headers, &read(answer, MAX_ERROR_BYTES).await) },
    }
}

async fn read(mut answer: Response, max_bytes: usize) -> Value {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = answer.chunk().await {
        if bytes.len() + chunk.len() > max_bytes {
            return Value::Null;
        }
        bytes.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn retry_delay(headers: &HeaderMap, body: &Value) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let of_header = text(RETRY_AFTER).and_then(|wish| {
        let seconds = wish.trim().parse().ok().and_then(to_duration);
        let until = || {
            let (until, now) = (httpdate::parse_http_date(wish).ok()?, text(DATE)?);
            until.duration_since(httpdate::parse_http_date(now).ok()?).ok()
        };
        seconds.or_else(until)
    });
    let of_body = [&body["retry_after"], &body["parameters"]["retry_after"]];
    of_header.or_else(|| of_body.into_iter().find_map(|wish| to_duration(wish.as_f64()?)))
}

fn to_duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// Describes the root cause of an error without any URL.
fn describe_error(error: &reqwest::Error) -> String {
    if error.is_timeout() { "no response in time".to_owned() } else { root_cause(error).to_string() }
}

pub(crate) fn root_cause<'a>(mut error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    while let Some(deeper) = error.source() {
        error = deeper;
    }
    error
}
