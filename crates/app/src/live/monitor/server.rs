//! HTTP server for metrics and health, limited so that it never delays the run.

use super::scraped::Monitor;
use crate::error::AppError;
use crate::http_server::{self, Answer, respond};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderMap};
use hyper::http::uri::Authority;
use hyper::{Method, Request, StatusCode};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;

const TEXT: &str = "text/plain; charset=utf-8";
const FIGURES: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn listen(address: Option<SocketAddr>) -> Result<Option<TcpListener>, AppError> {
    let Some(address) = address else { return Ok(None) };
    let listener = http_server::listen("metrics.listen", address).await?;
    let address = listener.local_addr().unwrap_or(address);
    tracing::info!("metrics at http://{address}/metrics");
    Ok(Some(listener))
}

pub(super) async fn serve(listener: TcpListener, monitor: Arc<Monitor>) {
    let answer = move |request: Request<Incoming>, _sender: IpAddr| {
        let monitor = Arc::clone(&monitor);
        async move { answer(&request, &monitor).await }
    };
    http_server::serve(listener, answer, || {}).await;
}

async fn answer(request: &Request<Incoming>, monitor: &Monitor) -> Answer {
    if !is_ours(request.headers(), &monitor.allowed_hosts) {
        let text = "this is asked for under another name: use an address, or add the name to metrics.allowed_hosts\n";
        return respond(StatusCode::FORBIDDEN, TEXT, text);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return respond(StatusCode::METHOD_NOT_ALLOWED, TEXT, "only GET\n");
    }
    match request.uri().path() {
        "/metrics" => respond(StatusCode::OK, FIGURES, monitor.text().await),
        "/healthz" => health(&monitor.health.troubles()),
        "/readyz" => health(&monitor.health.obstacles()),
        _ => respond(StatusCode::NOT_FOUND, TEXT, "/metrics, /healthz or /readyz\n"),
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

fn health(troubles: &[String]) -> Answer {
    match troubles {
        [] => respond(StatusCode::OK, TEXT, "ok\n"),
        _ => respond(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{}\n", troubles.join("\n"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

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
