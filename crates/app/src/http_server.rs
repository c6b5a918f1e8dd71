//! HTTP server of a run. Connection limits and timeouts ensure that no client can delay the run.

use crate::error::{AppError, Result};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const MAX_CONNECTIONS: usize = 64;
const HEAD_TIMEOUT: Duration = Duration::from_secs(2);
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_HEAD_BYTES: usize = 8_192;
/// Pause after a failure to accept a connection, for example because no file descriptors are left.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

pub(crate) type HttpResponse = Response<Full<Bytes>>;

pub(crate) async fn listen(key: &str, address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::AddrInUse => {
                "; another program or bot uses this port: stop that program, or choose another port"
            }
            ErrorKind::AddrNotAvailable => "; this machine has no such address: use 127.0.0.1 with a port",
            ErrorKind::PermissionDenied => "; ports below 1024 need privileges: use a higher port",
            _ => "",
        };
        AppError::system(format!("{key}: cannot listen on {address}{hint}"), error)
    })
}

/// Serves requests until the future is dropped. Calls `on_too_many` for each connection above the limit.
pub(crate) async fn serve<A: Future<Output = HttpResponse> + Send + 'static>(
    listener: TcpListener,
    answer: impl Fn(Request<Incoming>, IpAddr) -> A + Clone + Send + 'static,
    on_too_many: impl Fn() + Send,
) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, sender)) => {
                let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
                    on_too_many();
                    continue;
                };
                let answer = answer.clone();
                let service = service_fn(move |request| {
                    let answer = answer(request, sender.ip());
                    async move { Ok::<_, Infallible>(answer.await) }
                });
                let mut http = http1::Builder::new();
                http.timer(TokioTimer::new())
                    .header_read_timeout(HEAD_TIMEOUT)
                    .max_buf_size(MAX_HEAD_BYTES)
                    .keep_alive(false);
                let connection = http.serve_connection(TokioIo::new(stream), service);
                connections.spawn(async move {
                    drop(tokio::time::timeout(CONNECTION_TIMEOUT, connection).await);
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

pub(crate) fn respond(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> HttpResponse {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
