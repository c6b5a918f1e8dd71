//! Webhook server. Each request is answered before the run decides: no sender waits for a trade.

mod answer;
mod rate;

use super::door::Door;
use crate::configuration::{SignalSettings, WebhookSecret};
use crate::error::AppError;
use answer::Webhook;
use candlewick_broker::clock::Hold;
use candlewick_runtime::control::SignalOrder;
use candlewick_sdk::Millis;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

pub(super) const SOURCE: &str = "webhook";
const MAX_CONNECTIONS: usize = 64;
const HEAD_DEADLINE: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(10);
const MAX_HEAD_BYTES: usize = 8_192;
const WAITING: usize = 256;
/// Pause after a failed accept, for example for want of file descriptors.
const BREATH: Duration = Duration::from_millis(200);

pub(super) async fn listen(address: SocketAddr) -> Result<TcpListener, AppError> {
    let problem = |error: std::io::Error| {
        let cure = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                ", another program listens there, maybe another bot: end it, or take another port"
            }
            std::io::ErrorKind::AddrNotAvailable => {
                ", it is no address of this machine: use 127.0.0.1 with a port"
            }
            std::io::ErrorKind::PermissionDenied => ", ports below 1024 need rights: take a higher one",
            _ => "",
        };
        AppError::system(format!("signals.listen: {address} cannot be listened on{cure}"), error)
    };
    let listener = TcpListener::bind(address).await.map_err(problem)?;
    let address = listener.local_addr().map_err(problem)?;
    tracing::info!("signals are taken at http://{address}{}", answer::PATH);
    Ok(listener)
}

pub(super) async fn serve(
    listener: TcpListener,
    (settings, secret): (SignalSettings, WebhookSecret),
    lateness: Millis,
    door: Door,
) {
    let (queue, waiting) = mpsc::channel(WAITING);
    // What is dropped with its set ends with it.
    let mut connections = JoinSet::new();
    connections.spawn(give_in_turn(waiting, door.clone()));
    let served = Arc::new((Webhook::new((&settings, secret), lateness, queue), door));
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, sender)) => {
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                    served.1.report_turned_away("too many connections at a time");
                    continue;
                };
                let served = Arc::clone(&served);
                connections.spawn(async move {
                    drop(tokio::time::timeout(DEADLINE, converse(stream, sender.ip(), served)).await);
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a sender of signals could not be taken");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

async fn give_in_turn(mut waiting: mpsc::Receiver<SignalOrder>, door: Door) {
    while let Some(order) = waiting.recv().await {
        if !door.give(order, Hold::none()).await {
            return;
        }
    }
}

async fn converse(stream: TcpStream, sender: IpAddr, served: Arc<(Webhook, Door)>) {
    let service = service_fn(move |request| {
        let served = Arc::clone(&served);
        async move { Ok::<_, Infallible>(served.0.answer(request, sender, &served.1).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_buf_size(MAX_HEAD_BYTES)
        .keep_alive(false);
    drop(http.serve_connection(TokioIo::new(stream), service).await);
}
