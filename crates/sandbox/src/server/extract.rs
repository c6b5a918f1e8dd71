//! Request extractors for credentials, paths and bodies, and the error responses of contract sections 5 and 7.

use super::ServerState;
use crate::body::{ErrorDetail, ErrorEnvelope, PlainError, format_iso8601};
use crate::fault::Fault;
use crate::settings::MissingTimestamp;
use axum::Json;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::CONNECTION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Extractor that checks the `api-token` header and, where required, the `x-timestamp` header (contract 4.1).
pub(crate) struct TokenCheck<const WITH_TIMESTAMP: bool>;

pub(crate) type Token = TokenCheck<false>;
pub(crate) type TokenAndTimestamp = TokenCheck<true>;

pub(crate) struct KeyCheck;

impl<const WITH_TIMESTAMP: bool> FromRequestParts<Arc<ServerState>> for TokenCheck<WITH_TIMESTAMP> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<ServerState>) -> Result<Self, Response> {
        check_token(state, &parts.headers, &parts.uri, WITH_TIMESTAMP).map(|()| Self)
    }
}

impl FromRequestParts<Arc<ServerState>> for KeyCheck {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<ServerState>) -> Result<Self, Response> {
        if parts.headers.get("api-key").is_some_and(|key| key.as_bytes() == state.settings.api_key.as_bytes())
        {
            return Ok(Self);
        }
        Err(error_response(StatusCode::UNAUTHORIZED, "Unauthorized", state.now(), &parts.uri))
    }
}

// The error is large, but it is built only for requests that fail.
#[allow(clippy::result_large_err)]
fn check_token(state: &ServerState, headers: &HeaderMap, uri: &Uri, is_timed: bool) -> Result<(), Response> {
    let at = state.now();
    let reject = |status, message| Err(error_response(status, message, at, uri));
    let message = |message| if uses_error_envelope(uri) { message } else { "Unauthorized" };
    match headers.get("api-token") {
        None => return reject(StatusCode::UNAUTHORIZED, message("ApiKey not provided")),
        Some(token) if token.as_bytes() != state.settings.token.as_bytes() => {
            return reject(StatusCode::UNAUTHORIZED, message("Invalid token"));
        }
        Some(_) => {}
    }
    if let Some(span) = state.switchboard.draw_fault(Fault::ExpiredToken) {
        state.expired_until.store((at + span).get(), Ordering::Relaxed);
    }
    if at.get() < state.expired_until.load(Ordering::Relaxed) {
        return reject(StatusCode::UNAUTHORIZED, message("Invalid token"));
    }
    let required = is_timed && state.settings.missing_timestamp == MissingTimestamp::Refuse;
    if required && headers.get("x-timestamp").is_none_or(axum::http::HeaderValue::is_empty) {
        return reject(StatusCode::BAD_REQUEST, "x-timestamp not provided");
    }
    Ok(())
}

const MAX_BODY_BYTES: usize = 64 << 10;
/// Maximum number of bytes to read from an oversized body, so that the client finishes sending and sees the error.
const MAX_DRAINED_BYTES: usize = 8 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct PathSegment(pub(crate) String);

impl FromRequestParts<Arc<ServerState>> for PathSegment {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<ServerState>) -> Result<Self, Response> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(segment)) => Ok(Self(segment)),
            Err(_) => {
                Err(error_response(StatusCode::BAD_REQUEST, "The path is not UTF-8", state.now(), &parts.uri))
            }
        }
    }
}

pub(crate) struct Payload(pub(crate) Bytes);

impl FromRequest<Arc<ServerState>> for Payload {
    type Rejection = Response;

    async fn from_request(request: Request, state: &Arc<ServerState>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let read = tokio::time::timeout(BODY_TIMEOUT, read_whole_body(body)).await;
        let (status, message) = match read {
            Ok(Ok(bytes)) => return Ok(Self(bytes)),
            Ok(Err(BodyReadError::Truncated)) => {
                (StatusCode::BAD_REQUEST, "The body is shorter than its Content-Length")
            }
            Ok(Err(BodyReadError::TooLarge)) => {
                (StatusCode::PAYLOAD_TOO_LARGE, "The body is larger than 64 KiB")
            }
            Err(_) => (StatusCode::REQUEST_TIMEOUT, "The body did not arrive within 10 s"),
        };
        let mut answer = error_response(status, message, state.now(), &parts.uri);
        // The rest of the body is never read, so the connection cannot be reused.
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        Err(answer)
    }
}

enum BodyReadError {
    Truncated,
    TooLarge,
}

async fn read_whole_body(mut body: Body) -> Result<Bytes, BodyReadError> {
    let (mut kept, mut length) = (Vec::new(), 0_usize);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| BodyReadError::Truncated)?;
        let Ok(data) = frame.into_data() else { continue }; // trailers
        length = length.saturating_add(data.len());
        if length <= MAX_BODY_BYTES {
            kept.extend_from_slice(&data);
        } else if length > MAX_DRAINED_BYTES {
            break;
        }
    }
    if length > MAX_BODY_BYTES { Err(BodyReadError::TooLarge) } else { Ok(kept.into()) }
}

pub(crate) type Parameters = BTreeMap<String, String>;

pub(crate) fn read_parameter_or<T: FromStr>(given: &Parameters, name: &str, default: T) -> Result<T, String> {
    match given.get(name) {
        None => Ok(default),
        Some(text) => parse_parameter(name, text),
    }
}

pub(crate) fn read_parameter<T: FromStr>(parameters: &Parameters, name: &str) -> Result<T, String> {
    let text = parameters.get(name).filter(|text| !text.is_empty());
    parse_parameter(name, text.ok_or_else(|| format!("{name} is required"))?)
}

fn parse_parameter<T: FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} is not readable"))
}

/// Returns whether the endpoint sends its errors as an [`ErrorEnvelope`] (contract 5).
fn uses_error_envelope(uri: &Uri) -> bool {
    uri.path().starts_with("/token/trades") || uri.path().starts_with("/token/users")
}

/// Builds an error response. `message` must not contain header values, which may be secret.
pub(crate) fn error_response(status: StatusCode, message: &str, at: Millis, uri: &Uri) -> Response {
    error_response_with_code(status, message, None, at, uri)
}

pub(crate) fn internal_error_response(at: Millis, uri: &Uri) -> Response {
    error_response(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error", at, uri)
}

/// Builds an error response. `code` is the value of the field `error`, by default the name of the HTTP status.
pub(crate) fn error_response_with_code(
    status: StatusCode,
    message: &str,
    code: Option<&'static str>,
    at: Millis,
    uri: &Uri,
) -> Response {
    let (status_code, message) = (status.as_u16(), message.to_owned());
    if !uses_error_envelope(uri) {
        return (status, Json(PlainError { status_code, message })).into_response();
    }
    let error = code.or(status.canonical_reason()).unwrap_or("Error");
    let body = ErrorEnvelope {
        status_code,
        status: "error",
        timestamp: format_iso8601(at),
        path: uri.path().to_owned(),
        data: ErrorDetail { message, error, status_code },
    };
    (status, Json(body)).into_response()
}
