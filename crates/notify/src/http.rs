//! HTTP client: no redirects, no proxy from the environment, bounded responses.

use crate::failure::{ChannelError, Failure};
use crate::worker::DEADLINE;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect};
use serde_json::Value;
use std::error::Error as _;
use std::time::Duration;
use url::{Host, Url};

const MOST_BYTES: usize = 16_384;

/// Client errors that do not depend on the content of a message.
const HOLDS_FOR_ANY: [StatusCode; 5] = [
    StatusCode::UNAUTHORIZED,
    StatusCode::PROXY_AUTHENTICATION_REQUIRED,
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::TOO_EARLY,
    StatusCode::TOO_MANY_REQUESTS,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carries {
    /// A token, or an address that contains one: requires HTTPS unless local.
    Secret,
    Message,
}

/// Parses a URL. Errors do not contain it.
pub(crate) fn address(text: &str, carries: Carries) -> Result<Url, ChannelError> {
    let url =
        Url::parse(text).map_err(|error| ChannelError::address(format!("it is no address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(ChannelError::address("it begins with https://, or http://, and a host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ChannelError::address(
            "a name or password does not belong in it: set the secret instead",
        ));
    }
    if carries == Carries::Secret && url.scheme() == "http" && !is_loopback(&url) {
        return Err(ChannelError::address(
            "a secret would travel unencrypted to another machine: use https://",
        ));
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

pub(crate) fn client(url: &Url, deadline: Duration) -> Result<Client, ChannelError> {
    // Refused where the process has chosen one: that one is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = Client::builder()
        .user_agent(concat!("candlewick/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(deadline);
    // A bare system has no root certificates, and needs none for a receiver of its own.
    let builder = if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| ChannelError::Client {
        problem: format!(
            "no HTTP client: {}; are root certificates (ca-certificates) installed?",
            innermost(&error)
        ),
    })
}

pub(crate) fn message_client(url: &Url) -> Result<Client, ChannelError> {
    client(url, DEADLINE)
}

pub(crate) async fn send(request: RequestBuilder) -> Result<(), Failure> {
    let answer = answer_of(request).await?;
    // What was taken is taken, however long the rest of the answer is in coming.
    if answer.status().is_success() { Ok(()) } else { Err(failure_of(answer).await) }
}

pub(crate) async fn send_and_read(request: RequestBuilder, most: usize) -> Result<Value, Failure> {
    let answer = answer_of(request).await?;
    if answer.status().is_success() { Ok(read(answer, most).await) } else { Err(failure_of(answer).await) }
}

async fn answer_of(request: RequestBuilder) -> Result<Response, Failure> {
    request.send().await.map_err(|error| Failure::later(innermost(&error.without_url())))
}

async fn failure_of(answer: Response) -> Failure {
    let (status, headers) = (answer.status(), answer.headers().clone());
    let reason = format!("the receiver answers {status}");
    match status {
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            Failure::Refused { reason }
        }
        _ if status.is_client_error() && !HOLDS_FOR_ANY.contains(&status) => Failure::TurnedAway { reason },
        _ => Failure::TryLater { reason, after: wish(&headers, &read(answer, MOST_BYTES).await) },
    }
}

async fn read(mut answer: Response, most: usize) -> Value {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = answer.chunk().await {
        if bytes.len() + chunk.len() > most {
            return Value::Null;
        }
        bytes.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn wish(headers: &HeaderMap, body: &Value) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let of_header = text(RETRY_AFTER).and_then(|wish| {
        let seconds = wish.trim().parse().ok().and_then(seconds);
        // Of two dates of one clock.
        let until = || {
            let (until, now) = (httpdate::parse_http_date(wish).ok()?, text(DATE)?);
            until.duration_since(httpdate::parse_http_date(now).ok()?).ok()
        };
        seconds.or_else(until)
    });
    let of_body = [&body["retry_after"], &body["parameters"]["retry_after"]];
    of_header.or_else(|| of_body.into_iter().find_map(|wish| seconds(wish.as_f64()?)))
}

fn seconds(wish: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(wish).ok()
}

/// Describes the root cause of an error without any URL.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;
    use serde_json::json;

    #[test]
    fn a_receiver_says_in_four_ways_how_long_to_leave_it_alone() {
        let check = |header: Option<&'static str>, body: Value, expected: Option<f64>| {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, HeaderValue::from_static("Tue, 06 Jan 2026 01:00:00 GMT"));
            header.map(|text| headers.insert(RETRY_AFTER, HeaderValue::from_static(text)));
            assert_eq!(wish(&headers, &body).map(|wish| wish.as_secs_f64()), expected, "{header:?} {body}");
        };
        check(Some("120"), Value::Null, Some(120.0));
        check(Some("Tue, 06 Jan 2026 01:02:00 GMT"), Value::Null, Some(120.0));
        check(Some("Tue, 06 Jan 2026 00:02:00 GMT"), Value::Null, None);
        check(None, json!({ "message": "You are being rate limited.", "retry_after": 0.65 }), Some(0.65));
        check(None, json!({ "ok": false, "parameters": { "retry_after": 35 } }), Some(35.0));
        check(Some("7"), json!({ "retry_after": 9 }), Some(7.0));
        check(Some("soon"), json!({ "retry_after": -9 }), None);
        check(None, Value::Null, None);
    }

    #[test]
    fn secrets_travel_to_other_machines_only_encrypted() {
        for (text, carries, is_taken) in [
            ("https://push.example/topic", Carries::Secret, true),
            ("http://127.0.0.1:8080/topic", Carries::Secret, true),
            ("http://localhost/topic", Carries::Secret, true),
            ("http://[::1]/topic", Carries::Secret, true),
            ("http://push.example/topic", Carries::Secret, false),
            ("http://192.0.2.7/hook", Carries::Secret, false),
            ("http://push.example/hook", Carries::Message, true),
            ("https://ann:hush@push.example/", Carries::Message, false),
            ("ftp://push.example/", Carries::Message, false),
            ("push.example", Carries::Message, false),
            ("", Carries::Message, false),
        ] {
            let address = address(text, carries);
            assert_eq!(address.is_ok(), is_taken, "{text}");
            assert!(address.map_or_else(|error| !error.to_string().contains("hush"), |_| true));
        }
    }
}
