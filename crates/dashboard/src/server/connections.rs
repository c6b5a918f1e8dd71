//! Connection limit and timeouts of the server. At the limit, a connection without a sign-in is evicted.

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy)]
pub(crate) struct ServerLimits {
    pub(crate) slots: usize,
    /// Maximum time to wait for a complete request head. Includes the idle time before the request.
    pub(crate) head_timeout: Duration,
    pub(crate) write_timeout: Duration,
}

pub(crate) const SERVER_LIMITS: ServerLimits =
    ServerLimits { slots: 64, head_timeout: Duration::from_secs(10), write_timeout: Duration::from_secs(20) };

const MAX_HEAD_BYTES: usize = 16 * 1_024;
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

pub(crate) struct ConnectionSlot {
    signed_in: AtomicBool,
    leave: CancellationToken,
}

impl ConnectionSlot {
    pub(crate) fn mark_signed_in(&self) {
        self.signed_in.store(true, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct ConnectionSlots(Mutex<VecDeque<Arc<ConnectionSlot>>>);

impl ConnectionSlots {
    /// Adds a connection. At the limit, evicts the oldest one without a sign-in, or returns `None` if there is none.
    fn admit(&self, limit: usize) -> Option<Arc<ConnectionSlot>> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= limit {
            let oldest = open.iter().position(|place| !place.signed_in.load(Ordering::Relaxed))?;
            if let Some(place) = open.remove(oldest) {
                place.leave.cancel();
            }
        }
        let place =
            Arc::new(ConnectionSlot { signed_in: AtomicBool::new(false), leave: CancellationToken::new() });
        open.push_back(Arc::clone(&place));
        Some(place)
    }

    fn release(&self, place: &Arc<ConnectionSlot>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|other| !Arc::ptr_eq(other, place));
    }
}

pub(crate) async fn serve(listener: TcpListener, router: Router, limits: ServerLimits) {
    let places = Arc::new(ConnectionSlots::default());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            continue;
        };
        let Some(place) = places.admit(limits.slots) else { continue };
        let (router, places) = (router.clone(), Arc::clone(&places));
        tokio::spawn(async move {
            let leave = place.leave.clone();
            tokio::select! {
                () = serve_stream(stream, router, Arc::clone(&place), limits) => {}
                () = leave.cancelled() => {}
            }
            places.release(&place);
        });
    }
}

struct SlotService {
    routes: TowerToHyperService<Router>,
    place: Arc<ConnectionSlot>,
}

impl Service<Request<Incoming>> for SlotService {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(Arc::clone(&self.place));
        self.routes.call(request)
    }
}

async fn serve_stream(stream: TcpStream, router: Router, place: Arc<ConnectionSlot>, limits: ServerLimits) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(
            TokioIo::new(TimeoutStream::new(stream, limits.write_timeout)),
            SlotService { routes: TowerToHyperService::new(router), place },
        )
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection failed");
    }
}

/// A stream whose writes fail if the peer does not read the data within the timeout.
struct TimeoutStream<S> {
    stream: S,
    timeout: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> TimeoutStream<S> {
    const fn new(stream: S, timeout: Duration) -> Self {
        Self { stream, timeout, stalled: None }
    }

    fn check_timeout<T>(&mut self, polled: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let timeout = self.timeout;
        let stalled =
            self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + timeout)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_timeout(polled, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.check_timeout(polled, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.check_timeout(polled, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Extension;
    use axum::routing::get;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    const MAX_WAIT: Duration = Duration::from_mins(1);
    const LONG: Duration = Duration::from_hours(1);

    async fn served(slots: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let sign_in = |Extension(slot): Extension<Arc<ConnectionSlot>>| async move { slot.mark_signed_in() };
        let app = Router::new().route("/in", get(sign_in)).route("/", get(|| async {}));
        tokio::spawn(serve(listener, app, ServerLimits { slots, head_timeout: LONG, write_timeout: LONG }));
        address
    }

    async fn asks(stream: &mut TcpStream, path: &str) -> bool {
        drop(stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await);
        let mut bytes = [0; 1_024];
        let read = tokio::time::timeout(MAX_WAIT, stream.read(&mut bytes)).await;
        read.expect("an answer or an end").is_ok_and(|length| length > 0)
    }

    #[tokio::test]
    async fn evicts_oldest_connection_that_is_not_signed_in() {
        let address = served(3).await;
        let connect = || async { TcpStream::connect(address).await.unwrap() };
        let mut known = connect().await;
        assert!(asks(&mut known, "/in").await);
        let (mut oldest, mut other) = (connect().await, connect().await);
        assert!(asks(&mut oldest, "/").await && asks(&mut other, "/").await);
        let mut next = connect().await;
        assert!(asks(&mut next, "/in").await, "the new connection is accepted");
        assert!(!asks(&mut oldest, "/").await, "the oldest was evicted");
        assert!(asks(&mut known, "/").await && asks(&mut other, "/in").await);
        assert!(!asks(&mut connect().await, "/").await, "all connections are signed in");
        drop(other);
        let mut last = connect().await;
        while !asks(&mut last, "/").await {
            last = connect().await;
        }
        assert!(asks(&mut known, "/").await && asks(&mut next, "/").await);
    }

    #[tokio::test]
    async fn drops_peer_that_does_not_read() {
        let (ours, mut theirs) = duplex(1_000);
        let mut ours = TimeoutStream::new(ours, Duration::from_mins(10));
        let reading = async {
            let mut bytes = [0; 500];
            for _ in 0..20 {
                tokio::task::yield_now().await;
                theirs.read_exact(&mut bytes).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(ours.write_all(&[7; 10_000]), reading);
        written.unwrap();
        assert!(ours.stalled.is_none());
        ours.timeout = Duration::from_millis(1);
        assert_eq!(ours.write_all(&[7; 10_000]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
