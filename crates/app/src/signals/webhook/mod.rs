//! Webhook server. Each request is answered before the run decides: no sender waits for a trade.

mod answer;
mod rate;

use super::door::Door;
use crate::configuration::{SignalSettings, WebhookSecret};
use crate::error::AppError;
use crate::http_server;
use answer::Webhook;
use candlewick_broker::clock::Hold;
use candlewick_runtime::control::SignalOrder;
use candlewick_sdk::Millis;
use hyper::Request;
use hyper::body::Incoming;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

pub(super) const SOURCE: &str = "webhook";
const WAITING: usize = 256;

pub(super) async fn listen(address: SocketAddr) -> Result<TcpListener, AppError> {
    let listener = http_server::listen("signals.listen", address).await?;
    let address = listener.local_addr().unwrap_or(address);
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
    let served = Arc::new((Webhook::new((&settings, secret), lateness, queue), door.clone()));
    let answer = move |request: Request<Incoming>, sender: IpAddr| {
        let served = Arc::clone(&served);
        async move { served.0.answer(request, sender, &served.1).await }
    };
    let on_too_many = || door.report_turned_away("too many connections at a time");
    tokio::join!(give_in_turn(waiting, door.clone()), http_server::serve(listener, answer, on_too_many));
}

async fn give_in_turn(mut waiting: mpsc::Receiver<SignalOrder>, door: Door) {
    while let Some(order) = waiting.recv().await {
        if !door.give(order, Hold::none()).await {
            return;
        }
    }
}
