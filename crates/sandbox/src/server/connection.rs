//! Connection handle: tracks requests in flight, and can reset the connection from within one.

use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    severed: AtomicBool,
    requests: AtomicU64,
    idle_since: Mutex<Option<Instant>>,
    became_idle: Arc<Notify>,
}

pub(super) struct UnderWay(Connection);

impl Connection {
    pub(super) fn new(became_idle: Arc<Notify>) -> Self {
        let idle_since = Mutex::new(Some(Instant::now()));
        let (severed, requests) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { shared: Arc::new(Shared { severed, requests, idle_since, became_idle }) }
    }

    /// Stops all reads and writes. The server's next attempt resets the connection.
    pub(crate) fn sever(&self) {
        self.shared.severed.store(true, Ordering::Release);
    }

    pub(super) fn is_severed(&self) -> bool {
        self.shared.severed.load(Ordering::Acquire)
    }

    /// Start of the idle time, `None` while a request is in flight.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        *self.shared.idle_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_idle_since(&self, since: Option<Instant>) {
        *self.shared.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    pub(super) fn begin_request(self) -> UnderWay {
        self.set_idle_since(None);
        self.shared.requests.fetch_add(1, Ordering::AcqRel);
        UnderWay(self)
    }

    pub(super) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Acquire)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.set_idle_since(Some(Instant::now()));
        self.0.shared.became_idle.notify_waiters();
    }
}

pub(crate) async fn mark_under_way(request: Request, next: Next) -> Response {
    let connection = request.extensions().get::<ConnectInfo<Connection>>().map(|info| info.0.clone());
    let _under_way = connection.map(Connection::begin_request);
    next.run(request).await
}
