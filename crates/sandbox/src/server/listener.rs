//! TCP listener that can reset connections. It enforces a read deadline and evicts idle connections.

use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::Response;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, Sleep};

const MAX_CONNECTIONS: usize = 1_024;
/// Maximum time for a request head, from its first byte or, for the first request, from the connection's start.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct ConnectionListener {
    listener: TcpListener,
    admission: ConnectionSlots,
}

pub(crate) struct SeverableStream {
    stream: TcpStream,
    slot: ConnectionSlot,
    unflushed: bool,
    is_evicted: bool,
    head_deadline: Pin<Box<Sleep>>,
    head_of: u64,
}

impl ConnectionListener {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self::with_slots(listener, MAX_CONNECTIONS)
    }

    fn with_slots(listener: TcpListener, slots: usize) -> Self {
        Self { listener, admission: ConnectionSlots::new(slots) }
    }
}

impl axum::serve::Listener for ConnectionListener {
    type Io = SeverableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
        // Without this option, Nagle's algorithm would delay the second packet of a response.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let slot = self.admission.wait_for_slot().await;
        let head_deadline = Box::pin(tokio::time::sleep(HEAD_TIMEOUT));
        let (unflushed, is_evicted, head_of) = (false, false, 1);
        (SeverableStream { stream, slot, unflushed, is_evicted, head_deadline, head_of }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl axum::extract::connect_info::Connected<axum::serve::IncomingStream<'_, ConnectionListener>>
    for Connection
{
    fn connect_info(stream: axum::serve::IncomingStream<'_, ConnectionListener>) -> Self {
        stream.io().slot.connection.clone()
    }
}

impl SeverableStream {
    fn check_connected(self: Pin<&mut Self>) -> io::Result<&mut Self> {
        let this = self.get_mut();
        if this.slot.connection.is_severed() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(this)
    }

    fn is_idle(&self) -> bool {
        !self.unflushed && self.slot.connection.idle_since().is_some()
    }

    fn is_reading_request_head(&self) -> bool {
        self.slot.connection.request_count() < self.head_of
    }

    fn start_head_deadline(&mut self, timeout: Duration) {
        self.head_of = self.slot.connection.request_count() + 1;
        self.head_deadline.as_mut().reset(Instant::now() + timeout);
    }

    fn has_missed_deadline(&mut self, context: &mut Context<'_>) -> bool {
        if !self.is_evicted && Pin::new(&mut self.slot.wanted).poll(context).is_ready() {
            self.is_evicted = true;
            self.start_head_deadline(EVICTION_GRACE);
        } else if self.is_evicted && !self.is_reading_request_head() {
            self.start_head_deadline(EVICTION_GRACE);
        }
        self.is_reading_request_head() && self.head_deadline.as_mut().poll(context).is_ready()
    }
}

impl Drop for SeverableStream {
    fn drop(&mut self) {
        if self.slot.connection.is_severed()
            && let Err(error) = self.stream.set_zero_linger()
        {
            tracing::debug!(%error, "cannot set SO_LINGER to reset the connection");
        }
    }
}

impl AsyncRead for SeverableStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.check_connected()?;
        let read = Pin::new(&mut this.stream).poll_read(cx, buf);
        if !this.is_idle() {
            return read;
        }
        match read {
            Poll::Ready(read) => {
                if !this.is_reading_request_head() {
                    this.start_head_deadline(HEAD_TIMEOUT);
                }
                Poll::Ready(read)
            }
            // After a missed deadline, the stream reports its end.
            Poll::Pending if this.has_missed_deadline(cx) => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncWrite for SeverableStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.check_connected()?;
        this.unflushed = true;
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.check_connected()?;
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.unflushed = flushed.is_pending();
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.check_connected()?.stream).poll_shutdown(context)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Connection {
    shared: Arc<ConnectionState>,
}

#[derive(Debug)]
struct ConnectionState {
    severed: AtomicBool,
    requests: AtomicU64,
    idle_since: Mutex<Option<Instant>>,
    became_idle: Arc<Notify>,
}

pub(super) struct InFlightRequest(Connection);

impl Connection {
    fn new(became_idle: Arc<Notify>) -> Self {
        let idle_since = Mutex::new(Some(Instant::now()));
        let (severed, requests) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { shared: Arc::new(ConnectionState { severed, requests, idle_since, became_idle }) }
    }

    /// Makes all further reads and writes fail. As a result, the server resets the connection.
    pub(crate) fn sever(&self) {
        self.shared.severed.store(true, Ordering::Release);
    }

    fn is_severed(&self) -> bool {
        self.shared.severed.load(Ordering::Acquire)
    }

    /// Returns the time at which the connection became idle; `None` while a request is in flight.
    fn idle_since(&self) -> Option<Instant> {
        *self.shared.idle_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_idle_since(&self, since: Option<Instant>) {
        *self.shared.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    pub(super) fn begin_request(self) -> InFlightRequest {
        self.set_idle_since(None);
        self.shared.requests.fetch_add(1, Ordering::AcqRel);
        InFlightRequest(self)
    }

    fn request_count(&self) -> u64 {
        self.shared.requests.load(Ordering::Acquire)
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        self.0.set_idle_since(Some(Instant::now()));
        self.0.shared.became_idle.notify_waiters();
    }
}

pub(crate) async fn mark_in_flight(request: Request, next: Next) -> Response {
    let connection = request.extensions().get::<ConnectInfo<Connection>>().map(|info| info.0.clone());
    let _under_way = connection.map(Connection::begin_request);
    next.run(request).await
}

/// Real time between evicting and closing a connection, so that a request already sent can still arrive.
const EVICTION_GRACE: Duration = Duration::from_millis(20);

/// Limited number of connection slots. If all are in use, the connection idle for the longest time is evicted.
#[derive(Clone)]
struct ConnectionSlots {
    free: Arc<Semaphore>,
    open: Arc<Mutex<BTreeMap<u64, OpenConnection>>>,
    became_idle: Arc<Notify>,
}

struct OpenConnection {
    connection: Connection,
    end: Option<oneshot::Sender<()>>,
}

struct ConnectionSlot {
    connection: Connection,
    wanted: oneshot::Receiver<()>,
    number: u64,
    admission: ConnectionSlots,
    _permit: Option<OwnedSemaphorePermit>,
}

impl ConnectionSlots {
    fn new(slots: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(slots)),
            open: Arc::default(),
            became_idle: Arc::new(Notify::new()),
        }
    }

    async fn wait_for_slot(&self) -> ConnectionSlot {
        let permit = loop {
            let idle = self.became_idle.notified();
            let freed = Arc::clone(&self.free).acquire_owned();
            let asked = self.free.available_permits() == 0 && self.evict_longest_idle();
            tokio::select! {
                permit = freed => break permit.ok(),
                // If the evicted connection has just started a request, the loop evicts the next idle connection.
                () = tokio::time::sleep(EVICTION_GRACE * 2), if asked => {}
                () = idle, if !asked => {}
            }
        };
        let connection = Connection::new(Arc::clone(&self.became_idle));
        let (end, wanted) = oneshot::channel();
        let mut open = self.connections();
        let number = open.last_key_value().map_or(0, |(number, _)| number + 1);
        open.insert(number, OpenConnection { connection: connection.clone(), end: Some(end) });
        drop(open);
        ConnectionSlot { connection, wanted, number, admission: self.clone(), _permit: permit }
    }

    fn evict_longest_idle(&self) -> bool {
        let mut open = self.connections();
        let idle = open.values_mut().filter(|one| one.end.is_some());
        let longest =
            idle.filter_map(|one| Some((one.connection.idle_since()?, one))).min_by_key(|(since, _)| *since);
        longest.and_then(|(_, one)| one.end.take()).is_some_and(|end| end.send(()).is_ok())
    }

    fn connections(&self) -> MutexGuard<'_, BTreeMap<u64, OpenConnection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.admission.connections().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::extract::Request;
    use axum::routing::get;
    use axum::{Router, middleware};
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::Notify;
    use tokio::time::timeout;

    async fn serve(slots: usize) -> (SocketAddr, Arc<Notify>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let begun = Arc::new(Notify::new());
        let begins = Arc::clone(&begun);
        let take = move |request: Request| async move {
            begins.notify_one();
            if to_bytes(request.into_body(), 99).await.is_ok() { "taken" } else { "cut" }
        };
        let router = Router::new().route("/", get(|| async { "quick" }).post(take));
        let router = router.layer(middleware::from_fn(mark_in_flight));
        let service = router.into_make_service_with_connect_info::<Connection>();
        let serving = axum::serve(ConnectionListener::with_slots(listener, slots), service);
        tokio::spawn(serving.into_future());
        (address, begun)
    }

    async fn send(stream: &mut TcpStream, text: &str) {
        stream.write_all(text.as_bytes()).await.unwrap();
    }

    async fn expect(stream: &mut TcpStream, end: &str) {
        let mut answer = Vec::new();
        while !answer.ends_with(end.as_bytes()) {
            let mut bytes = [0; 512];
            let read = timeout(HEAD_TIMEOUT * 3, stream.read(&mut bytes)).await;
            let length = read.expect("the server answers").unwrap();
            assert!(length > 0, "it ended after {:?}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&bytes[..length]);
        }
    }

    async fn ask(stream: &mut TcpStream) {
        send(stream, "GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        expect(stream, "quick").await;
    }

    async fn is_ended(stream: &mut TcpStream) -> bool {
        let read = timeout(HEAD_TIMEOUT * 3, stream.read(&mut [0; 1])).await;
        read.is_ok_and(|read| read.is_ok_and(|length| length == 0))
    }

    #[tokio::test(start_paused = true)]
    async fn closes_a_connection_whose_head_is_late() {
        let (address, _) = serve(9).await;
        for begun in ["", "GET / HTTP/1.1\r\nhost:"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let start = Instant::now();
            send(&mut stream, begun).await;
            assert!(is_ended(&mut stream).await, "{begun:?}");
            let waited = start.elapsed();
            assert!(waited >= HEAD_TIMEOUT && waited < HEAD_TIMEOUT * 2, "{begun:?}: {waited:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn idles_between_requests_but_not_within_a_head() {
        let (address, _) = serve(9).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        for _ in 0..3 {
            ask(&mut stream).await;
            tokio::time::advance(HEAD_TIMEOUT * 30).await;
        }
        send(&mut stream, "GET / HTT").await;
        let start = Instant::now();
        assert!(is_ended(&mut stream).await);
        assert!(start.elapsed() >= HEAD_TIMEOUT, "{:?}", start.elapsed());
    }

    #[tokio::test]
    async fn new_client_evicts_the_longest_idle() {
        let (address, _) = serve(3).await;
        let mut streams = Vec::new();
        for _ in 0..3 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            ask(&mut stream).await;
            streams.push(stream);
        }
        ask(&mut streams[0]).await; // the second is now idle the longest
        let mut fourth = TcpStream::connect(address).await.unwrap();
        ask(&mut fourth).await;
        assert!(is_ended(&mut streams[1]).await);
        let mut fifth = TcpStream::connect(address).await.unwrap();
        ask(&mut fifth).await;
        assert!(is_ended(&mut streams[2]).await);
        ask(&mut streams[0]).await;
    }

    #[tokio::test]
    async fn silent_clients_do_not_block_others() {
        let (address, _) = serve(4).await;
        let mut silent = Vec::new();
        for number in 0..40 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            if number % 2 == 0 {
                send(&mut stream, "POST / HTTP/1.1\r\n").await;
            }
            silent.push(stream);
        }
        let mut client = TcpStream::connect(address).await.unwrap();
        ask(&mut client).await;
    }

    #[tokio::test(start_paused = true)]
    async fn new_client_waits_for_a_request_in_flight() {
        let (address, begun) = serve(1).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        send(&mut first, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n").await;
        begun.notified().await;
        send(&mut first, "hal").await;
        let mut second = TcpStream::connect(address).await.unwrap();
        let finishing = async {
            for _ in 0..100 {
                tokio::time::advance(HEAD_TIMEOUT / 50).await;
            }
            send(&mut first, "ve").await;
            expect(&mut first, "taken").await;
        };
        tokio::join!(ask(&mut second), finishing);
        assert!(is_ended(&mut first).await);
    }
}
