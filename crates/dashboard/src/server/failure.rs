//! Error responses.

use crate::view::Problem;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

#[derive(Debug)]
pub(crate) struct Failure(pub(crate) StatusCode, pub(crate) String);

impl Failure {
    pub(crate) fn new(status: StatusCode, problem: impl Into<String>) -> Self {
        Self(status, problem.into())
    }

    pub(crate) fn not_found(problem: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, problem)
    }

    pub(crate) fn not_yet() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the journal is being read")
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, Json(Problem { problem: self.1 })).into_response()
    }
}
