//! The handle on a connection: whether a request is under way, and the way to reset it from within one.

use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// A handle on the connection that a request came by.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    severed: AtomicBool,
    /// How many requests have come by it.
    requests: AtomicU64,
    /// Since when none is under way.
    idle_since: Mutex<Option<Instant>>,
    became_idle: Arc<Notify>,
}

/// A request that is under way until this is dropped.
pub(super) struct UnderWay(Connection);

impl Connection {
    /// An idle connection that notifies when it has become idle again.
    pub(super) fn new(became_idle: Arc<Notify>) -> Self {
        let idle_since = Mutex::new(Some(Instant::now()));
        let (severed, requests) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { shared: Arc::new(Shared { severed, requests, idle_since, became_idle }) }
    }

    /// From now on nothing is read or written: the server's next attempt ends the connection by a reset.
    pub(crate) fn sever(&self) {
        self.shared.severed.store(true, Ordering::Release);
    }

    pub(super) fn is_severed(&self) -> bool {
        self.shared.severed.load(Ordering::Acquire)
    }

    /// Since when no request is under way; `None` while one is.
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

/// Marks the connection of a request as one in use until the request is answered.
pub(crate) async fn mark_under_way(request: Request, next: Next) -> Response {
    let connection = request.extensions().get::<ConnectInfo<Connection>>().map(|info| info.0.clone());
    let _under_way = connection.map(Connection::begin_request);
    next.run(request).await
}
