//! Extractors of path and body, with errors in the shape of the endpoint (contract 5 and 7).

use super::failure::Failure;
use super::state::ServerState;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::CONNECTION;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const LARGEST_BODY: usize = 64 << 10;
/// Bytes of a larger body that are read and dropped.
///
/// A client that sends everything before it reads then still receives the answer.
const LARGEST_DROPPED: usize = 8 << 20;
const BODY_DEADLINE: Duration = Duration::from_secs(10);

pub(crate) struct Segment(pub(crate) String);

impl FromRequestParts<Arc<ServerState>> for Segment {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<ServerState>) -> Result<Self, Response> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(segment)) => Ok(Self(segment)),
            Err(_) => Err(Failure {
                status: StatusCode::BAD_REQUEST,
                message: "The path is not UTF-8",
                code: None,
                at: state.now(),
                uri: &parts.uri,
            }
            .answer()),
        }
    }
}

pub(crate) struct Payload(pub(crate) Bytes);

impl FromRequest<Arc<ServerState>> for Payload {
    type Rejection = Response;

    async fn from_request(request: Request, state: &Arc<ServerState>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let read = tokio::time::timeout(BODY_DEADLINE, read_whole(body)).await;
        let (status, message) = match read {
            Ok(Ok(bytes)) => return Ok(Self(bytes)),
            Ok(Err(Unreadable::Cut)) => {
                (StatusCode::BAD_REQUEST, "The body ends before its announced length")
            }
            Ok(Err(Unreadable::TooLarge)) => {
                (StatusCode::PAYLOAD_TOO_LARGE, "The body is larger than 64 KiB")
            }
            Err(_) => (StatusCode::REQUEST_TIMEOUT, "The body did not arrive within 10 s"),
        };
        let mut answer = Failure { status, message, code: None, at: state.now(), uri: &parts.uri }.answer();
        // Where the rest of the body would begin, no next request can be found.
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        Err(answer)
    }
}

enum Unreadable {
    Cut,
    TooLarge,
}

async fn read_whole(mut body: Body) -> Result<Bytes, Unreadable> {
    let (mut kept, mut length) = (Vec::new(), 0_usize);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Unreadable::Cut)?;
        let Ok(data) = frame.into_data() else { continue }; // trailers
        length = length.saturating_add(data.len());
        if length <= LARGEST_BODY {
            kept.extend_from_slice(&data);
        } else if length > LARGEST_DROPPED {
            break;
        }
    }
    if length > LARGEST_BODY { Err(Unreadable::TooLarge) } else { Ok(kept.into()) }
}
