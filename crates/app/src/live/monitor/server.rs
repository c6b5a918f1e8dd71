//! HTTP server for metrics and health, limited so that it never delays the run.

use super::scraped::Monitor;
use crate::error::AppError;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const MAX_CONNECTIONS: usize = 64;
const HEAD_DEADLINE: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(10);
const MAX_BYTES: usize = 8_192;
/// Delay after a failed accept, such as for lack of file descriptors.
const BREATH: Duration = Duration::from_millis(200);

const TEXT: &str = "text/plain; charset=utf-8";
const FIGURES: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn listen(address: Option<SocketAddr>) -> Result<Option<TcpListener>, AppError> {
    let Some(address) = address else { return Ok(None) };
    let problem = |error| AppError::system(format!("metrics.listen: {address} cannot be listened on"), error);
    let listener = TcpListener::bind(address).await.map_err(problem)?;
    let address = listener.local_addr().map_err(problem)?;
    tracing::info!("metrics at http://{address}/metrics");
    Ok(Some(listener))
}

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
    if !is_ours(request.headers(), &monitor.allowed_hosts) {
        let text = "this is asked for under another name: use an address, or add the name to metrics.allowed_hosts\n";
        return respond(StatusCode::FORBIDDEN, TEXT, text.to_owned());
    }
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

/// Returns whether the Host header names this machine.
///
/// Protects against DNS rebinding: a web page could make its own name resolve to this server.
fn is_ours(headers: &HeaderMap, allowed: &[String]) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return headers.get(HOST).is_none() };
    let Ok(host) = Authority::try_from(host.as_bytes()) else { return false };
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let is_ours = |hosts: &[&str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(HOST, HeaderValue::from_str(host).unwrap());
            }
            super::is_ours(&headers, &["bot.internal".to_owned()])
        };
        for host in
            ["127.0.0.1:9184", "127.0.0.1", "[::1]:9184", "10.0.0.7:80", "LOCALHOST:1", "Bot.internal:9184"]
        {
            assert!(is_ours(&[host]), "{host}");
        }
        // What a browser always says, a probe of one's own need not.
        assert!(is_ours(&[]));
        for host in [
            "evil.example",
            "evil.example:9184",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "",
            "a b",
        ] {
            assert!(!is_ours(&[host]), "{host}");
        }
        assert!(!is_ours(&["127.0.0.1", "evil.example"]));
    }
}
