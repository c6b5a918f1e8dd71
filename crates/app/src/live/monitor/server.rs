//! Figures and health over HTTP: a few short requests at a time, none of which the run waits for.

use super::scraped::Monitor;
use crate::error::AppError;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Connections at a time; one more is closed at once.
const MAX_CONNECTIONS: usize = 64;
/// How long the head of a request may take.
const HEAD_DEADLINE: Duration = Duration::from_secs(2);
/// How long a connection may last, its answer read.
const DEADLINE: Duration = Duration::from_secs(10);
/// What of a request is read at most.
const MAX_BYTES: usize = 8_192;
/// The pause after a connection that could not be taken, such as for want of file descriptors.
const BREATH: Duration = Duration::from_millis(200);

const TEXT: &str = "text/plain; charset=utf-8";
const FIGURES: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Listens at an address, where there is one.
///
/// # Errors
/// It cannot be listened on.
pub(super) async fn listen(address: Option<SocketAddr>) -> Result<Option<TcpListener>, AppError> {
    let Some(address) = address else { return Ok(None) };
    let problem = |error| AppError::system(format!("metrics.listen: {address} cannot be listened on"), error);
    let listener = TcpListener::bind(address).await.map_err(problem)?;
    let address = listener.local_addr().map_err(problem)?;
    tracing::info!("metrics at http://{address}/metrics");
    Ok(Some(listener))
}

/// Serves until it is dropped.
pub(super) async fn serve(listener: TcpListener, monitor: Arc<Monitor>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // What is dropped with its set ends with it.
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, _)) => {
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
                let monitor = Arc::clone(&monitor);
                connections.spawn(async move {
                    drop(tokio::time::timeout(DEADLINE, converse(stream, monitor)).await);
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a scraper could not be taken");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

/// One request and its answer.
async fn converse(stream: TcpStream, monitor: Arc<Monitor>) {
    let service = service_fn(move |request| {
        let monitor = Arc::clone(&monitor);
        async move { Ok::<_, Infallible>(answer(&request, &monitor).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_buf_size(MAX_BYTES)
        .keep_alive(false);
    drop(http.serve_connection(TokioIo::new(stream), service).await);
}

async fn answer(request: &Request<Incoming>, monitor: &Monitor) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return respond(StatusCode::METHOD_NOT_ALLOWED, TEXT, "only GET\n".to_owned());
    }
    match request.uri().path() {
        "/metrics" => respond(StatusCode::OK, FIGURES, monitor.text().await),
        "/healthz" => health(&monitor.health.troubles()),
        "/readyz" => health(&monitor.health.obstacles()),
        _ => respond(StatusCode::NOT_FOUND, TEXT, "/metrics, /healthz or /readyz\n".to_owned()),
    }
}

fn health(troubles: &[String]) -> Response<Full<Bytes>> {
    match troubles {
        [] => respond(StatusCode::OK, TEXT, "ok\n".to_owned()),
        _ => respond(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{}\n", troubles.join("\n"))),
    }
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
