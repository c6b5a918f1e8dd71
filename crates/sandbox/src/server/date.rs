//! `Date` header of every answer: venue time, so that clients can measure their skew.

use super::state::ServerState;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::DATE;
use axum::middleware::Next;
use axum::response::Response;
use candlewick_sdk::Millis;
use chrono::DateTime;
use std::sync::Arc;

pub(crate) async fn date(State(state): State<Arc<ServerState>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Ok(value) = HeaderValue::from_str(&http_date(state.now())) {
        response.headers_mut().insert(DATE, value);
    }
    response
}

fn http_date(moment: Millis) -> String {
    let moment = DateTime::from_timestamp_millis(moment.get()).unwrap_or_default();
    moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_http_writes_them() {
        // The example of the HTTP standard.
        assert_eq!(http_date(Millis::new(784_111_777_000)), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
