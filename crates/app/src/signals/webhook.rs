//! Webhook server. It answers each request before the run decides, so that no sender waits for a trade.

use super::message::RawMessage;
use super::sink::SignalSink;
use crate::configuration::{Network, SignalSettings, WebhookSecret};
use crate::error::AppError;
use crate::http_server::{self, HttpResponse};
use candlewick_broker::clock::Hold;
use candlewick_engine::SignalId;
use candlewick_runtime::control::SignalOrder;
use candlewick_sdk::Millis;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, StatusCode};
use serde_json::json;
use std::collections::VecDeque;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::Instant;

pub(super) const SOURCE_NAME: &str = "webhook";
const QUEUE_CAPACITY: usize = 256;
const PATH: &str = "/signal";
const SECRET_HEADER: &str = "x-candlewick-secret";
const MAX_BODY_BYTES: usize = 16_384;
const BODY_TIMEOUT: Duration = Duration::from_secs(3);

const MAX_REMEMBERED_SIGNALS: usize = 1_024;
const RATE_WINDOW: Duration = Duration::from_mins(1);

pub(super) async fn listen(address: SocketAddr) -> Result<TcpListener, AppError> {
    let listener = http_server::listen("signals.listen", address).await?;
    let address = listener.local_addr().unwrap_or(address);
    tracing::info!("signals are accepted at http://{address}{PATH}");
    Ok(listener)
}

pub(super) async fn serve(
    listener: TcpListener,
    (settings, secret): (SignalSettings, WebhookSecret),
    max_lateness: Millis,
    sink: SignalSink,
) {
    let (queue, mut waiting) = mpsc::channel(QUEUE_CAPACITY);
    let served = Arc::new(Webhook::new((&settings, secret), max_lateness, queue, sink.clone()));
    let answer = move |request: Request<Incoming>, sender: IpAddr| {
        let served = Arc::clone(&served);
        async move { served.answer(request, sender).await }
    };
    let on_too_many = || sink.report_throttling("too many concurrent connections");
    let send_in_order = async {
        while let Some(order) = waiting.recv().await {
            if !sink.send(order, Hold::none()).await {
                return;
            }
        }
    };
    tokio::join!(send_in_order, http_server::serve(listener, answer, on_too_many));
}

struct Webhook {
    secret: WebhookSecret,
    networks: Vec<Network>,
    is_behind_proxy: bool,
    rate: RateLimiter,
    messages: AtomicU64,
    /// Maximum age of a signal that has no `expires_ms`.
    max_lateness: Millis,
    /// Bot index and id of recently accepted signals. Used to report duplicates to senders; the run drops them.
    accepted: Mutex<VecDeque<(usize, SignalId)>>,
    queue: mpsc::Sender<SignalOrder>,
    sink: SignalSink,
}

enum Rejection {
    /// The request is not meant for this webhook. The problem is reported only to the sender.
    Quiet(StatusCode, &'static str),
    Malformed(StatusCode, String),
}

impl Webhook {
    fn new(
        (settings, secret): (&SignalSettings, WebhookSecret),
        max_lateness: Millis,
        queue: mpsc::Sender<SignalOrder>,
        sink: SignalSink,
    ) -> Self {
        Self {
            queue,
            sink,
            max_lateness,
            accepted: Mutex::default(),
            secret,
            networks: settings.networks(),
            is_behind_proxy: settings.behind_proxy,
            rate: RateLimiter::new(settings.requests_per_minute),
            messages: AtomicU64::new(0),
        }
    }

    async fn answer<B>(&self, request: Request<B>, peer: IpAddr) -> HttpResponse
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        match self.read_order(request, peer).await {
            Ok(None) => {
                let text = "the alert only closes a position";
                respond(StatusCode::OK, &json!({ "status": "nothing to do", "reason": text }))
            }
            Ok(Some(order)) => self.accept(order),
            Err(Rejection::Quiet(status, problem)) => respond(status, &json!({ "error": problem })),
            Err(Rejection::Malformed(status, problem)) => {
                self.sink.report_malformed_input(&problem);
                respond(status, &json!({ "error": problem }))
            }
        }
    }

    fn accept(&self, order: SignalOrder) -> HttpResponse {
        if let Err(wait) = self.rate.allow_signal() {
            return self.throttle(wait);
        }
        let (id, status) = (order.id, self.delivery_status(&order));
        if self.queue.try_send(order).is_err() {
            if status != "duplicate" {
                self.lock_accepted().pop_back();
            }
            return self.throttle(Duration::from_secs(1));
        }
        respond(StatusCode::ACCEPTED, &json!({ "status": status, "id": id }))
    }

    fn delivery_status(&self, order: &SignalOrder) -> &'static str {
        let now = self.sink.now();
        let allowed = order.expires_ms.map_or(self.max_lateness, |expires| Millis::new(expires.into()));
        let is_late = order.time.is_some_and(|time| now - time > allowed);
        let Ok(place) = self.sink.check(order) else { return "accepted" };
        let mut accepted = self.lock_accepted();
        if accepted.contains(&(place, order.id)) {
            return "duplicate";
        }
        if accepted.len() >= MAX_REMEMBERED_SIGNALS {
            accepted.pop_front();
        }
        accepted.push_back((place, order.id));
        if is_late { "late" } else { "accepted" }
    }

    fn throttle(&self, wait: Duration) -> HttpResponse {
        self.sink.report_throttling("more signals than signals.requests_per_minute");
        let problem = "too many signals: see signals.requests_per_minute";
        let mut answer = respond(StatusCode::TOO_MANY_REQUESTS, &json!({ "error": problem }));
        let seconds = wait.as_millis().div_ceil(1_000).max(1);
        if let Ok(seconds) = HeaderValue::from_str(&seconds.to_string()) {
            answer.headers_mut().insert(RETRY_AFTER, seconds);
        }
        answer
    }

    fn lock_accepted(&self) -> MutexGuard<'_, VecDeque<(usize, SignalId)>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read_order<B>(&self, request: Request<B>, peer: IpAddr) -> Result<Option<SignalOrder>, Rejection>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        if request.uri().path() != PATH {
            return Err(Rejection::Quiet(StatusCode::NOT_FOUND, "unknown path: send signals to /signal"));
        }
        if request.method() != Method::POST {
            return Err(Rejection::Quiet(StatusCode::METHOD_NOT_ALLOWED, "send signals with POST"));
        }
        self.check_sender(request.headers(), peer)?;
        let (head, body) = request.into_parts();
        let now = self.sink.now();
        let body = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect()).await;
        let body = body.map_err(|_| {
            let problem = format!("the body did not arrive within {} s", BODY_TIMEOUT.as_secs());
            Rejection::Malformed(StatusCode::REQUEST_TIMEOUT, problem)
        })?;
        let body = body.map_err(|_| {
            let problem = format!("the body is incomplete or has more than {MAX_BODY_BYTES} bytes");
            Rejection::Malformed(StatusCode::PAYLOAD_TOO_LARGE, problem)
        })?;
        let raw = RawMessage::parse(&body.to_bytes());
        let in_body = raw.as_ref().ok().and_then(RawMessage::secret);
        let own = head.headers.get(SECRET_HEADER).and_then(|value| value.to_str().ok());
        let bearer = || head.headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ");
        let given = own.or_else(bearer).map(str::trim).or(in_body);
        if !given.is_some_and(|given| self.secret.matches(given)) {
            let problem = match (given, &raw) {
                (None, Err(_)) => format!(
                    "a request from {peer} has no secret: the header {SECRET_HEADER} is missing, and the body is not a JSON object or has a duplicate key"
                ),
                _ => format!("the secret in a request from {peer} is wrong or missing"),
            };
            return Err(Rejection::Malformed(StatusCode::FORBIDDEN, problem));
        }
        let malformed = |problem| Rejection::Malformed(StatusCode::BAD_REQUEST, problem);
        let number = self.messages.fetch_add(1, Ordering::Relaxed);
        let order = raw.map_err(malformed)?.decode(self.sink.source, now, number).map_err(malformed)?;
        if let Some(order) = &order {
            self.sink.check(order).map_err(malformed)?;
        }
        Ok(order)
    }

    fn check_sender(&self, headers: &HeaderMap, peer: IpAddr) -> Result<(), Rejection> {
        if self.networks.is_empty() {
            return Ok(());
        }
        let sender = if self.is_behind_proxy { forwarded_address(headers) } else { Some(peer) };
        let is_allowed = |sender: IpAddr| self.networks.iter().any(|network| network.contains(sender));
        if sender.is_some_and(is_allowed) {
            return Ok(());
        }
        let sender = sender.map_or_else(|| "an unknown address".to_owned(), |sender| sender.to_string());
        let problem = format!("{sender} is not in signals.allowed_addresses");
        Err(Rejection::Malformed(StatusCode::FORBIDDEN, problem))
    }
}

/// Returns the last forwarded address, which is the one that the proxy added. Senders can forge the others.
fn forwarded_address(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    last.rsplit(',').next()?.trim().parse().ok()
}

fn respond(status: StatusCode, body: &serde_json::Value) -> HttpResponse {
    http_server::respond(status, "application/json", format!("{body}\n"))
}

/// Rate limiter (GCRA) that allows a burst of `per_minute` signals, refilled over one minute.
#[derive(Debug)]
struct RateLimiter {
    spacing: Duration,
    reserved_until: Mutex<Instant>,
}

impl RateLimiter {
    fn new(per_minute: u32) -> Self {
        Self { spacing: RATE_WINDOW / per_minute.max(1), reserved_until: Mutex::new(Instant::now()) }
    }

    /// Allows one signal. If the limit is reached, returns the time until the next signal is allowed.
    fn allow_signal(&self) -> Result<(), Duration> {
        let now = Instant::now();
        let mut reserved_until = self.reserved_until.lock().unwrap_or_else(PoisonError::into_inner);
        let next = now.max(*reserved_until) + self.spacing;
        let wait = next.saturating_duration_since(now + RATE_WINDOW);
        if wait.is_zero() {
            *reserved_until = next;
            return Ok(());
        }
        Err(wait)
    }
}

#[cfg(test)]
mod tests;
