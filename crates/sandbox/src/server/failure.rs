//! Error answers in the shape of each endpoint (contract 5 and 7).

use crate::body::{ErrorDetail, ErrorEnvelope, PlainError, iso8601};
use axum::Json;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use candlewick_sdk::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Envelope,
    Plain,
}

impl Shape {
    pub(crate) fn of(path: &str) -> Self {
        if path.starts_with("/token/trades") || path.starts_with("/token/users") {
            Self::Envelope
        } else {
            Self::Plain
        }
    }
}

pub(crate) struct Failure<'a> {
    pub(crate) status: StatusCode,
    pub(crate) message: &'a str,
    /// Value of `error`, `None` for the name of the status.
    pub(crate) code: Option<&'static str>,
    pub(crate) at: Millis,
    pub(crate) uri: &'a Uri,
}

impl<'a> Failure<'a> {
    pub(crate) const fn internal(at: Millis, uri: &'a Uri) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { status, message: "Internal Server Error", code: None, at, uri }
    }

    /// Builds the response. The message never repeats a header value.
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
