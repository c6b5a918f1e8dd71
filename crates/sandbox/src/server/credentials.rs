//! Checks `api-token`, `api-key` and, where required, `x-timestamp` (contract 5).
//!
//! Handlers take the credential as their first extractor, so that a client without one learns
//! nothing about errors in its request.

use super::failure::{Failure, Shape};
use super::state::ServerState;
use crate::fault::Fault;
use crate::settings::MissingTimestamp;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use std::sync::Arc;

pub(crate) struct Token;

/// The token, plus the `x-timestamp` required on this endpoint (contract 4.1).
pub(crate) struct TokenAndTimestamp;

pub(crate) struct Key;

impl FromRequestParts<Arc<ServerState>> for Token {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<ServerState>) -> Result<Self, Response> {
        check_token(state, &parts.headers, &parts.uri, Timestamp::Optional).map(|()| Self)
    }
}

impl FromRequestParts<Arc<ServerState>> for TokenAndTimestamp {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<ServerState>) -> Result<Self, Response> {
        check_token(state, &parts.headers, &parts.uri, Timestamp::Required).map(|()| Self)
    }
}

impl FromRequestParts<Arc<ServerState>> for Key {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<ServerState>) -> Result<Self, Response> {
        check_key(state, &parts.headers, &parts.uri).map(|()| Self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timestamp {
    Required,
    Optional,
}

// The answer is large, and made once per failed request.
#[allow(clippy::result_large_err)]
fn check_token(
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

#[allow(clippy::result_large_err)] // as above
fn check_key(state: &ServerState, headers: &HeaderMap, uri: &Uri) -> Result<(), Response> {
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
