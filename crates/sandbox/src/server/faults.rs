//! Middleware that injects faults into requests and responses. The switchboard selects the faults at random.

use super::ServerState;
use super::extract::{error_response, internal_error_response};
use super::listener::Connection;
use crate::fault::{Fault, add_unknown_values, garbage_body};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use candlewick_sdk::Millis;
use http_body::Frame;
use serde_json::Value;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

const MAX_BODY_BYTES: usize = 16 << 20;

pub(crate) async fn apply_faults(
    State(state): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    let connection = request.extensions().get::<ConnectInfo<Connection>>().map(|info| info.0.clone());
    let uri = request.uri().clone();
    let opens = request.method() == Method::POST && uri.path().starts_with("/token/trades/open");
    if let Some(duration) = state.switchboard.draw_fault(Fault::Latency) {
        sleep_for(&state, duration).await;
    }
    if state.switchboard.draw_fault(Fault::DropBefore).is_some() {
        return sever_connection(connection.as_ref());
    }
    if state.switchboard.draw_fault(Fault::Errors).is_some() {
        return build_server_error(&state, Fault::Errors, &uri);
    }
    let response = next.run(request).await;
    if opens && response.status().is_success() {
        if state.switchboard.draw_fault(Fault::DropAfter).is_some() {
            return sever_connection(connection.as_ref());
        }
        if state.switchboard.draw_fault(Fault::ErrorsAfter).is_some() {
            return build_server_error(&state, Fault::ErrorsAfter, &uri);
        }
    }
    if let Some(duration) = state.switchboard.draw_fault(Fault::Hang) {
        sleep_for(&state, duration).await;
        return sever_connection(connection.as_ref());
    }
    if state.switchboard.draw_fault(Fault::Garbage).is_some() {
        let index = state.switchboard.counts().count(Fault::Garbage);
        let (mut parts, _) = response.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        return Response::from_parts(parts, Body::from(garbage_body(index)));
    }
    if response.status().is_success() && state.switchboard.draw_fault(Fault::UnknownValues).is_some() {
        return add_unknowns_to_body(response)
            .await
            .unwrap_or_else(|_| internal_error_response(state.now(), &uri));
    }
    response
}

async fn sleep_for(state: &ServerState, duration: Millis) {
    let duration = Duration::from_millis(u64::try_from(duration.get()).unwrap_or(0));
    tokio::select! {
        () = tokio::time::sleep(duration) => {}
        () = state.wait_until_stopping() => {}
    }
}

/// Resets the connection without a response. In-process callers get a response whose body fails.
fn sever_connection(connection: Option<&Connection>) -> Response {
    if let Some(connection) = connection {
        connection.sever();
    }
    Response::new(Body::new(BrokenBody))
}

fn build_server_error(state: &ServerState, fault: Fault, uri: &Uri) -> Response {
    let even = state.switchboard.counts().count(fault).is_multiple_of(2);
    let (status, message) = if even {
        (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable")
    } else {
        (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
    };
    let mut response = error_response(status, message, state.now(), uri);
    if even {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

async fn add_unknowns_to_body(response: Response) -> Result<Response, axum::Error> {
    let (mut parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, MAX_BODY_BYTES).await?;
    let is_json = parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes() == b"application/json");
    let parsed = serde_json::from_slice::<Value>(&bytes).ok().filter(|_| is_json);
    let bytes = match parsed {
        None => bytes,
        Some(mut value) => {
            add_unknown_values(&mut value);
            Bytes::from(value.to_string())
        }
    };
    parts.headers.remove(CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

struct BrokenBody;

impl HttpBody for BrokenBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
    }
}
