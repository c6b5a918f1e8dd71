//! HTTP server for metrics and health, limited so that it never delays the run.

use super::MonitorSources;
use super::figures::RunMetrics;
use super::health::Health;
use crate::configuration::LoadedConfig;
use crate::control::send_to_run;
use crate::error::Result;
use crate::http_server::{self, HttpResponse, respond};
use candlewick_runtime::Observer;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, RunState};
use candlewick_runtime::events::EventNames;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderMap};
use hyper::http::uri::Authority;
use hyper::{Method, Request, StatusCode};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::time::Instant;

const PLAIN_TEXT: &str = "text/plain; charset=utf-8";
const METRICS_MIME: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn listen(address: Option<SocketAddr>) -> Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let listener = http_server::listen("metrics.listen", address).await?;
    let address = listener.local_addr().unwrap_or(address);
    tracing::info!("metrics at http://{address}/metrics");
    Ok(Some(listener))
}

pub(super) async fn serve(listener: TcpListener, monitor: Arc<Monitor>) {
    let answer = move |request: Request<Incoming>, _sender: IpAddr| {
        let monitor = Arc::clone(&monitor);
        async move { answer_request(&request, &monitor).await }
    };
    http_server::serve(listener, answer, || {}).await;
}

async fn answer_request(request: &Request<Incoming>, monitor: &Monitor) -> HttpResponse {
    if !is_allowed_host(request.headers(), &monitor.allowed_hosts) {
        let text = "unknown host name: use an IP address, or add the name to metrics.allowed_hosts\n";
        return respond(StatusCode::FORBIDDEN, PLAIN_TEXT, text);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return respond(StatusCode::METHOD_NOT_ALLOWED, PLAIN_TEXT, "use GET\n");
    }
    match request.uri().path() {
        "/metrics" => respond(StatusCode::OK, METRICS_MIME, monitor.render_metrics().await),
        "/healthz" => answer_health(&monitor.health.problems()),
        "/readyz" => answer_health(&monitor.health.readiness_problems()),
        _ => respond(StatusCode::NOT_FOUND, PLAIN_TEXT, "use /metrics, /healthz or /readyz\n"),
    }
}

/// Returns whether the Host header names this machine (protects against DNS rebinding).
fn is_allowed_host(headers: &HeaderMap, allowed: &[String]) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return headers.get(HOST).is_none() };
    let Ok(host) = Authority::try_from(host.as_bytes()) else { return false };
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
}

fn answer_health(problems: &[String]) -> HttpResponse {
    match problems {
        [] => respond(StatusCode::OK, PLAIN_TEXT, "ok\n"),
        _ => respond(StatusCode::SERVICE_UNAVAILABLE, PLAIN_TEXT, format!("{}\n", problems.join("\n"))),
    }
}

const STATE_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_STATE_AGE: Duration = Duration::from_secs(1);

pub(super) struct Monitor {
    pub(super) health: Arc<Health>,
    pub(super) allowed_hosts: Vec<String>,
    figures: Arc<RunMetrics>,
    sources: MonitorSources,
    state: Mutex<(Option<Instant>, Option<RunState>)>,
}

impl Monitor {
    pub(super) fn new(loaded: &LoadedConfig, sources: MonitorSources, health: Arc<Health>) -> Self {
        let names = EventNames::new(&loaded.config.bots, loaded.config.account.money_scale);
        let figures = Arc::new(RunMetrics::new(names, sources.requests_per_second));
        let allowed_hosts = loaded.config.metrics.allowed_hosts.clone();
        Self { health, allowed_hosts, figures, sources, state: Mutex::default() }
    }

    pub(super) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.figures) as _
    }

    pub(super) async fn render_metrics(&self) -> String {
        // Only one request at a time queries the run. Concurrent requests wait for the answer and reuse it.
        let mut known = self.state.lock().await;
        if known.0.is_none_or(|at| at.elapsed() > MAX_STATE_AGE) {
            let asked = send_to_run(&self.sources.control_requests, ControlOrder::Status);
            let state = match tokio::time::timeout(STATE_TIMEOUT, asked).await {
                Ok(Some(ControlAnswer::Done { state })) => Some(*state),
                _ => known.1.take(),
            };
            *known = (Some(Instant::now()), state);
        }
        self.figures.text(&self.health, &self.sources, known.1.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn answers_only_names_of_this_machine() {
        let is_allowed_host = |hosts: &[&str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(HOST, HeaderValue::from_str(host).unwrap());
            }
            super::is_allowed_host(&headers, &["bot.internal".to_owned()])
        };
        for host in
            ["127.0.0.1:9184", "127.0.0.1", "[::1]:9184", "10.0.0.7:80", "LOCALHOST:1", "Bot.internal:9184"]
        {
            assert!(is_allowed_host(&[host]), "{host}");
        }
        // Browsers always send the Host header, but health probes may omit it.
        assert!(is_allowed_host(&[]));
        for host in ["evil.example:9184", "127.0.0.1.evil.example", "localhost.evil.example", "", "a b"] {
            assert!(!is_allowed_host(&[host]), "{host}");
        }
        assert!(!is_allowed_host(&["127.0.0.1", "evil.example"]));
    }
}
