//! Price stream of the venue. All pairs share one connection. The first subscription opens the connection.
//!
//! A subscription ends with the connection, or when its pair has no price for `broker.stream_silence_ms`.
//! Prices are then polled until the next subscription.

use super::HttpBroker;
use super::market_data::is_same_pair;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use candlewick_broker::clock::{Clock, Hold};
use candlewick_broker::{BrokerError, PriceFeed, PriceSender, UnrecognisedData};
use candlewick_sdk::{Millis, Symbol};
use futures_util::{SinkExt, StreamExt};
use packet::{Packet, PriceUpdate};
use reqwest::header::HeaderMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

mod packet;

const PRICE_BUFFER_CAPACITY: usize = 256;
const SUBSCRIPTION_BUFFER_CAPACITY: usize = 64;
const RECONNECT_DELAY_BOUNDS: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(1)];

pub(super) struct PriceStream {
    connection: Mutex<StreamConnection>,
}

struct StreamConnection {
    subscriptions: Option<mpsc::Sender<Subscription>>,
    has_heard: Arc<AtomicBool>,
    pauses: ExponentialBackoff,
    not_before: Instant,
}

fn reconnect_backoff() -> ExponentialBackoff {
    let [least, most] = RECONNECT_DELAY_BOUNDS;
    let builder = ExponentialBuilder::default().with_min_delay(least).with_max_delay(most);
    builder.with_jitter().without_max_times().build()
}

impl PriceStream {
    pub(super) fn new() -> Self {
        let has_heard = Arc::new(AtomicBool::new(false));
        let link = StreamConnection {
            subscriptions: None,
            has_heard,
            pauses: reconnect_backoff(),
            not_before: Instant::now(),
        };
        Self { connection: Mutex::new(link) }
    }

    pub(super) async fn subscribe(
        &self,
        symbol: Symbol,
        venue: &HttpBroker,
        headers: HeaderMap,
    ) -> Result<PriceFeed, BrokerError> {
        let silence = venue.settings.max_stream_silence();
        let (prices, feed) = PriceFeed::channel(PRICE_BUFFER_CAPACITY);
        let (begun, begins) = oneshot::channel();
        let subscriptions = self.connection.lock().await.ensure_connected(venue, headers).await?;
        let asked = timeout(silence, subscriptions.send(Subscription { symbol, prices, begun })).await;
        if !matches!(asked, Ok(Ok(()))) {
            return Err(stream_error("the connection ended"));
        }
        match timeout(silence, begins).await {
            Ok(Ok(())) => Ok(feed),
            Ok(Err(_)) => Err(stream_error("the connection ended")),
            Err(_) => Err(stream_error(&format!("no {symbol} price within {} ms", silence.as_millis()))),
        }
    }
}

impl StreamConnection {
    async fn ensure_connected(
        &mut self,
        venue: &HttpBroker,
        headers: HeaderMap,
    ) -> Result<mpsc::Sender<Subscription>, BrokerError> {
        match self.subscriptions.take() {
            Some(open) if !open.is_closed() => return Ok(self.subscriptions.insert(open).clone()),
            Some(_) => self.schedule_reconnect(),
            None => {}
        }
        if Instant::now() < self.not_before {
            return Err(stream_error("the next connection attempt is not due yet"));
        }
        let opened = match build_request(venue, headers) {
            Ok(request) => Socket::open(request, venue.settings.timeout()).await,
            Err(error) => Err(error),
        };
        let socket = opened.inspect_err(|_| self.schedule_reconnect())?;
        let (subscriptions, receiver) = mpsc::channel(SUBSCRIPTION_BUFFER_CAPACITY);
        let reader = PriceReader {
            slot: venue.settings.slot.clone(),
            clock: Arc::clone(&venue.clock),
            drift: Arc::clone(&venue.unrecognised_data),
            silence: venue.settings.max_stream_silence(),
            has_heard: Arc::clone(&self.has_heard),
        };
        tokio::spawn(socket.serve(receiver, reader));
        Ok(self.subscriptions.insert(subscriptions).clone())
    }

    fn schedule_reconnect(&mut self) {
        if self.has_heard.swap(false, Ordering::Relaxed) {
            self.pauses = reconnect_backoff();
        }
        let [_, most] = RECONNECT_DELAY_BOUNDS;
        self.not_before = Instant::now() + self.pauses.next().unwrap_or(most);
    }
}

fn build_request(venue: &HttpBroker, headers: HeaderMap) -> Result<Request, BrokerError> {
    let mut url = venue.prices.join(venue.settings.stream_path.trim_matches('/').split('/'))?;
    url.set_path(&format!("{}/", url.path()));
    url.set_query(Some("EIO=4&transport=websocket"));
    let encrypted = url.scheme() == "https";
    let refused = |problem: &str| BrokerError::settings("price_url", &venue.settings.price_url, problem);
    url.set_scheme(if encrypted { "wss" } else { "ws" }).map_err(|()| refused("use an HTTP URL"))?;
    let request = url.as_str().into_client_request();
    let mut request = request.map_err(|error| refused(&error.to_string()))?;
    request.headers_mut().extend(headers);
    Ok(request)
}

const MAX_FRAME_BYTES: usize = 64 * 1024;
const SILENCE_CHECK_INTERVAL: Duration = Duration::from_millis(500);

struct Socket {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    dead_after: Duration,
}

struct Subscription {
    symbol: Symbol,
    prices: PriceSender,
    begun: oneshot::Sender<()>,
}

struct PriceReader {
    slot: String,
    clock: Arc<dyn Clock>,
    drift: Arc<UnrecognisedData>,
    silence: Duration,
    has_heard: Arc<AtomicBool>,
}

struct Feed {
    symbol: Symbol,
    prices: PriceSender,
    begun: Option<oneshot::Sender<()>>,
    newest: Millis,
    heard: Instant,
}

impl Socket {
    async fn open(request: Request, limit: Duration) -> Result<Self, BrokerError> {
        timeout(limit, Self::join(request)).await.unwrap_or_else(|_| Err(stream_error("no answer in time")))
    }

    async fn join(request: Request) -> Result<Self, BrokerError> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_FRAME_BYTES))
            .max_frame_size(Some(MAX_FRAME_BYTES))
            .max_write_buffer_size(MAX_FRAME_BYTES * 16);
        let connected = Box::pin(connect_async_with_config(request, Some(config), true)).await;
        let (mut socket, _) = connected.map_err(|error| connection_error(&error))?;
        let mut dead_after = None;
        loop {
            let message = socket.next().await.ok_or_else(|| stream_error("the connection ended"))?;
            let Message::Text(text) = message.map_err(|error| connection_error(&error))? else { continue };
            match packet::parse(&text) {
                Packet::Open(span) => {
                    dead_after = Some(span);
                    send(&mut socket, packet::build_join_packet()).await?;
                }
                Packet::Ping => send(&mut socket, packet::PONG.to_owned()).await?,
                Packet::Joined => {
                    let dead_after = dead_after.ok_or_else(|| stream_error("no session was opened"))?;
                    return Ok(Self { socket, dead_after });
                }
                Packet::Refused(text) => return Err(stream_error(&format!("connection rejected: {text}"))),
                Packet::End => return Err(stream_error("the connection ended")),
                Packet::Event(_) | Packet::Other | Packet::Unreadable => {}
            }
        }
    }

    async fn serve(mut self, mut subscriptions: mpsc::Receiver<Subscription>, reader: PriceReader) {
        let mut pairs: Vec<Feed> = Vec::new();
        let mut silence_check = tokio::time::interval(SILENCE_CHECK_INTERVAL);
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                biased;
                more = subscriptions.recv() => {
                    let Some(Subscription { symbol, prices, begun }) = more else { return };
                    let text = packet::build_subscribe_packet(&reader.slot, symbol.as_str());
                    if send(&mut self.socket, text).await.is_err() {
                        return;
                    }
                    pairs.retain(|pair| pair.symbol != symbol);
                    let heard = Instant::now();
                    pairs.push(Feed { symbol, prices, begun: Some(begun), newest: Millis::new(i64::MIN), heard });
                }
                message = self.socket.next() => {
                    heard = Instant::now();
                    let Some(Ok(message)) = message else {
                        return tracing::debug!("the price stream ended");
                    };
                    let Message::Text(text) = message else { continue };
                    match packet::parse(&text) {
                        Packet::Ping if send(&mut self.socket, packet::PONG.to_owned()).await.is_err() => return,
                        Packet::End => return,
                        Packet::Event(arguments) => reader.dispatch_price(arguments, &mut pairs),
                        Packet::Unreadable => reader.drift.count_unreadable_field("Stream", "packet"),
                        _ => {}
                    }
                }
                _ = silence_check.tick() => {
                    let had = !pairs.is_empty();
                    // If a feed is dropped, its reader polls prices instead.
                    pairs.retain(|pair| pair.heard.elapsed() < reader.silence);
                    if (had && pairs.is_empty()) || heard.elapsed() > self.dead_after {
                        return tracing::debug!("closing the price stream: no data for too long");
                    }
                }
            }
        }
    }
}

impl PriceReader {
    fn dispatch_price(&self, arguments: Vec<serde_json::Value>, pairs: &mut Vec<Feed>) {
        let update = packet::read_price(arguments, &self.slot, self.clock.now(), &self.drift);
        let Some(PriceUpdate { pair: name, tick }) = update else { return };
        let found = pairs.iter().position(|pair| is_same_pair(pair.symbol.as_str(), &name));
        let Some(place) = found else { return self.drift.count_unreadable_field("Stream", "pair") };
        let pair = &mut pairs[place];
        if tick.time <= pair.newest {
            return;
        }
        (pair.newest, pair.heard) = (tick.time, Instant::now());
        self.has_heard.store(true, Ordering::Relaxed);
        if !pair.prices.send(tick, Hold::none()) {
            pairs.swap_remove(place);
        } else if let Some(begun) = pair.begun.take() {
            // If the subscriber has timed out, the send fails and its feed is dropped.
            let _ = begun.send(());
        }
    }
}

async fn send(
    socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>,
    text: String,
) -> Result<(), BrokerError> {
    let sent = timeout(Duration::from_secs(5), socket.send(Message::text(text))).await;
    sent.map_err(|_| stream_error("sending timed out"))?.map_err(|error| connection_error(&error))
}

/// Converts a connection error. For a rejected handshake, the message contains only the HTTP status.
fn connection_error(error: &Error) -> BrokerError {
    match error {
        Error::Http(answer) if matches!(answer.status().as_u16(), 401 | 403) => {
            BrokerError::Credentials { text: format!("the stream server replied with {}", answer.status()) }
        }
        Error::Http(answer) => stream_error(&format!("the server answered {}", answer.status())),
        error => stream_error(&crate::model::to_one_line(&error.to_string())),
    }
}

fn stream_error(problem: &str) -> BrokerError {
    BrokerError::Unavailable { text: format!("price stream: {problem}") }
}
