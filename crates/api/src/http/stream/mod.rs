//! Price stream of the venue: one connection for all pairs, opened by the first subscription.
//!
//! A subscription starts with its first price. It ends with the connection, or when its pair is
//! silent for `broker.stream_silence_ms`. Prices are then polled until the next subscription.
//! Reconnects back off exponentially with jitter; a received price resets the backoff.

mod packet;
mod socket;
mod update;

use super::address::Address;
use crate::Settings;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use candlewick_broker::clock::Clock;
use candlewick_broker::{BrokerError, PriceFeed, UnrecognisedData};
use candlewick_sdk::Symbol;
use reqwest::header::HeaderMap;
use socket::{Reader, Socket, Wanted, unavailable};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;

const WAITING_PRICES: usize = 256;
const WAITING_PAIRS: usize = 64;
/// Minimum and maximum reconnect delay.
const PAUSE: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(1)];

pub(super) struct PriceStream {
    link: Mutex<Link>,
}

struct Link {
    wanted: Option<mpsc::Sender<Wanted>>,
    has_heard: Arc<AtomicBool>,
    pauses: ExponentialBackoff,
    not_before: Instant,
}

pub(super) struct Access<'a> {
    pub(super) settings: &'a Settings,
    pub(super) address: &'a Address,
    pub(super) headers: HeaderMap,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) drift: Arc<UnrecognisedData>,
}

fn pauses() -> ExponentialBackoff {
    let [least, most] = PAUSE;
    let builder = ExponentialBuilder::default().with_min_delay(least).with_max_delay(most);
    builder.with_jitter().without_max_times().build()
}

impl PriceStream {
    pub(super) fn new() -> Self {
        let has_heard = Arc::new(AtomicBool::new(false));
        let link = Link { wanted: None, has_heard, pauses: pauses(), not_before: Instant::now() };
        Self { link: Mutex::new(link) }
    }

    pub(super) async fn subscribe(
        &self,
        symbol: Symbol,
        access: Access<'_>,
    ) -> Result<PriceFeed, BrokerError> {
        let silence = access.settings.stream_silence();
        let (prices, feed) = PriceFeed::channel(WAITING_PRICES);
        let (begun, begins) = oneshot::channel();
        let wanted = self.link.lock().await.connected(access).await?;
        let asked = timeout(silence, wanted.send(Wanted { symbol, prices, begun })).await;
        if !matches!(asked, Ok(Ok(()))) {
            return Err(unavailable("it ended"));
        }
        match timeout(silence, begins).await {
            Ok(Ok(())) => Ok(feed),
            Ok(Err(_)) => Err(unavailable("it ended")),
            Err(_) => Err(unavailable(&format!("no price of {symbol} within {} ms", silence.as_millis()))),
        }
    }
}

impl Link {
    async fn connected(&mut self, access: Access<'_>) -> Result<mpsc::Sender<Wanted>, BrokerError> {
        match self.wanted.take() {
            Some(wanted) if !wanted.is_closed() => return Ok(self.wanted.insert(wanted).clone()),
            Some(_) => self.pause(),
            None => {}
        }
        if Instant::now() < self.not_before {
            return Err(unavailable("it is tried again in a moment"));
        }
        let limit = access.settings.timeout();
        let opened = match request_of(&access) {
            Ok(request) => Socket::open(request, limit).await,
            Err(error) => Err(error),
        };
        let socket = opened.inspect_err(|_| self.pause())?;
        let (wanted, receiver) = mpsc::channel(WAITING_PAIRS);
        let Access { settings, clock, drift, .. } = access;
        let reader = Reader {
            slot: settings.slot.clone(),
            clock,
            drift,
            silence: settings.stream_silence(),
            has_heard: Arc::clone(&self.has_heard),
        };
        tokio::spawn(socket.serve(receiver, reader));
        Ok(self.wanted.insert(wanted).clone())
    }

    fn pause(&mut self) {
        if self.has_heard.swap(false, Ordering::Relaxed) {
            self.pauses = pauses();
        }
        let [_, most] = PAUSE;
        self.not_before = Instant::now() + self.pauses.next().unwrap_or(most);
    }
}

fn request_of(access: &Access<'_>) -> Result<Request, BrokerError> {
    let path = access.settings.stream_path.trim_matches('/');
    let mut url = access.address.join(path.split('/'))?;
    let with_slash = format!("{}/", url.path());
    url.set_path(&with_slash);
    url.set_query(Some("EIO=4&transport=websocket"));
    let encrypted = url.scheme() == "https";
    let refused = |problem: &str| BrokerError::settings("price_url", &access.settings.price_url, problem);
    url.set_scheme(if encrypted { "wss" } else { "ws" }).map_err(|()| refused("cannot be streamed from"))?;
    let request = url.as_str().into_client_request();
    let mut request = request.map_err(|error| refused(&error.to_string()))?;
    for (name, value) in &access.headers {
        request.headers_mut().insert(name, value.clone());
    }
    Ok(request)
}
