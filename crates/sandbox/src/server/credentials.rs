//! Who may ask: the `api-token` and `api-key` headers, and `x-timestamp` where it is required (contract 5).

use super::failure::{Failure, Shape};
use super::state::ServerState;
use crate::fault::Fault;
use crate::settings::MissingTimestamp;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;

/// Whether the endpoint's every description requires `x-timestamp` (contract 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timestamp {
    Required,
    Optional,
}

/// Lets a request to the trading token API through, or answers it.
// The answer is large, and made once per failed request.
#[allow(clippy::result_large_err)]
pub(crate) fn check_token(
    state: &ServerState,
    headers: &HeaderMap,
    uri: &Uri,
    timestamp: Timestamp,
) -> Result<(), Response> {
    let at = state.now();
    let reject = |status, message| Err(Failure { status, message, code: None, at, uri }.answer());
    let message = |message| match Shape::of(uri.path()) {
        Shape::Envelope => message,
        Shape::Plain => "Unauthorized",
    };
    match headers.get("api-token") {
        None => return reject(StatusCode::UNAUTHORIZED, message("ApiKey not provided")),
        Some(token) if token.as_bytes() != state.token.as_bytes() => {
            return reject(StatusCode::UNAUTHORIZED, message("Invalid token"));
        }
        Some(_) => {}
    }
    if let Some(span) = state.switchboard.strike(Fault::ExpiredToken) {
        state.expire_token(at + span);
    }
    if state.is_token_expired(at) {
        return reject(StatusCode::UNAUTHORIZED, message("Invalid token"));
    }
    let required = timestamp == Timestamp::Required && state.missing_timestamp == MissingTimestamp::Refuse;
    if required && headers.get("x-timestamp").is_none_or(axum::http::HeaderValue::is_empty) {
        return reject(StatusCode::BAD_REQUEST, "x-timestamp not provided");
    }
    Ok(())
}

/// Lets a request to the symbol price API through, or answers it.
#[allow(clippy::result_large_err)] // as above
pub(crate) fn check_key(state: &ServerState, headers: &HeaderMap, uri: &Uri) -> Result<(), Response> {
    if headers.get("api-key").is_some_and(|key| key.as_bytes() == state.api_key.as_bytes()) {
        return Ok(());
    }
    Err(Failure {
        status: StatusCode::UNAUTHORIZED,
        message: "Unauthorized",
        code: None,
        at: state.now(),
        uri,
    }
    .answer())
}
