//! Write deadline that drops connections whose peer does not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

pub(crate) struct WithDeadline<S> {
    stream: S,
    patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> WithDeadline<S> {
    pub(crate) const fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, stalled: None }
    }

    fn timed<T>(&mut self, polled: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let patience = self.patience;
        let stalled =
            self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WithDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WithDeadline<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(polled, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.timed(polled, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.timed(polled, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn who_does_not_read_is_let_go_of_and_who_reads_is_not() {
        let (ours, mut theirs) = duplex(1_000);
        let mut ours = WithDeadline::new(ours, Duration::from_mins(10));
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
        ours.patience = Duration::from_millis(1);
        let written = ours.write_all(&[7; 10_000]).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
