//! Answers that are errors, in the shape that each endpoint has for them (contract 5 and 7).

use crate::body::{ErrorDetail, ErrorEnvelope, PlainError, iso8601};
use axum::Json;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use candlewick_sdk::Millis;

/// The body's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Trade and user endpoints.
    Envelope,
    /// The wallet endpoint and the symbol price API.
    Plain,
}

impl Shape {
    /// The shape of a path.
    pub(crate) fn of(path: &str) -> Self {
        if path.starts_with("/token/trades") || path.starts_with("/token/users") {
            Self::Envelope
        } else {
            Self::Plain
        }
    }
}

/// An error about one request.
pub(crate) struct Failure<'a> {
    pub(crate) status: StatusCode,
    pub(crate) message: &'a str,
    /// What `error` says; the name of the status where it is none.
    pub(crate) code: Option<&'static str>,
    /// Venue time of the fact.
    pub(crate) at: Millis,
    pub(crate) uri: &'a Uri,
}

impl<'a> Failure<'a> {
    /// A fault of the sandbox itself.
    pub(crate) const fn internal(at: Millis, uri: &'a Uri) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { status, message: "Internal Server Error", code: None, at, uri }
    }

    /// In the shape of its path. The message never repeats what a header said.
    pub(crate) fn answer(&self) -> Response {
        let status_code = self.status.as_u16();
        let message = self.message.to_owned();
        match Shape::of(self.uri.path()) {
            Shape::Plain => (self.status, Json(PlainError { status_code, message })).into_response(),
            Shape::Envelope => {
                let error = self.code.or(self.status.canonical_reason()).unwrap_or("Error");
                let body = ErrorEnvelope {
                    status_code,
                    status: "error",
                    timestamp: iso8601(self.at),
                    path: self.uri.path().to_owned(),
                    data: ErrorDetail { message, error, status_code },
                };
                (self.status, Json(body)).into_response()
            }
        }
    }
}
