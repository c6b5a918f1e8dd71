//! Connections that can be reset from within a request.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many connections may be open at once; further ones wait to be accepted.
const MOST_CONNECTIONS: usize = 1_024;

/// A handle on the connection that a request came by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connection {
    severed: Arc<AtomicBool>,
}

impl Connection {
    /// From now on nothing is read or written: the server's next attempt ends the connection by a reset.
    pub(crate) fn sever(&self) {
        self.severed.store(true, Ordering::Release);
    }

    fn is_severed(&self) -> bool {
        self.severed.load(Ordering::Acquire)
    }
}

/// A TCP listener whose connections can be severed.
pub(crate) struct ConnectionListener {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

/// One accepted TCP connection.
pub(crate) struct SeverableStream {
    stream: TcpStream,
    pub(crate) connection: Connection,
    _place: Option<OwnedSemaphorePermit>,
}

impl ConnectionListener {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, free: Arc::new(Semaphore::new(MOST_CONNECTIONS)) }
    }
}

impl axum::serve::Listener for ConnectionListener {
    type Io = SeverableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let place = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
        // Without it an answer in two packets waits for the client's delayed acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        (SeverableStream { stream, connection: Connection::default(), _place: place }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl axum::extract::connect_info::Connected<axum::serve::IncomingStream<'_, ConnectionListener>>
    for Connection
{
    fn connect_info(stream: axum::serve::IncomingStream<'_, ConnectionListener>) -> Self {
        stream.io().connection.clone()
    }
}

impl SeverableStream {
    /// The stream while the connection lives.
    fn live(self: Pin<&mut Self>) -> io::Result<Pin<&mut TcpStream>> {
        let this = self.get_mut();
        if this.connection.is_severed() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(Pin::new(&mut this.stream))
    }
}

/// A severed connection closes by a reset instead of a farewell.
impl Drop for SeverableStream {
    fn drop(&mut self) {
        if self.connection.is_severed()
            && let Err(error) = self.stream.set_zero_linger()
        {
            tracing::debug!(%error, "the connection closes without a reset");
        }
    }
}

impl AsyncRead for SeverableStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.live()?.poll_read(context, buffer)
    }
}

impl AsyncWrite for SeverableStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.live()?.poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.live()?.poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.live()?.poll_shutdown(context)
    }
}
