//! Strict query parameters of a request.

use super::failure::Failure;
use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Query parameters. Unknown ones are rejected, so a misspelt filter is never silently ignored.
pub(crate) struct Parameters<T>(pub(crate) T);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(rejection) => {
                let text = rejection.body_text();
                let problem = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
                Err(Failure::new(StatusCode::BAD_REQUEST, format!("the address's parameters: {problem}")))
            }
        }
    }
}
