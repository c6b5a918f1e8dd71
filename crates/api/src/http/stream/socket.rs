//! A stream connection, read until it ends, falls silent or has no subscribers.

use super::super::market_data::is_same_pair;
use super::packet::{self, Packet};
use super::update::{self, Update};
use candlewick_broker::clock::{Clock, Hold};
use candlewick_broker::{BrokerError, PriceSender, UnrecognisedData};
use candlewick_sdk::{Millis, Symbol};
use futures_util::{SinkExt, StreamExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

/// Maximum frame length in bytes; longer frames end the connection.
///
/// A price has some hundred bytes.
const LONGEST_FRAME: usize = 64 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(super) struct Socket {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    dead_after: Duration,
}

pub(super) struct Wanted {
    pub(super) symbol: Symbol,
    pub(super) prices: PriceSender,
    pub(super) begun: oneshot::Sender<()>,
}

pub(super) struct Reader {
    pub(super) slot: String,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) drift: Arc<UnrecognisedData>,
    pub(super) silence: Duration,
    pub(super) has_heard: Arc<AtomicBool>,
}

struct Pair {
    symbol: Symbol,
    prices: PriceSender,
    begun: Option<oneshot::Sender<()>>,
    newest: Millis,
    heard: Instant,
}

impl Socket {
    pub(super) async fn open(request: Request, limit: Duration) -> Result<Self, BrokerError> {
        timeout(limit, Self::join(request)).await.unwrap_or_else(|_| Err(unavailable("no answer in time")))
    }

    async fn join(request: Request) -> Result<Self, BrokerError> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(LONGEST_FRAME))
            .max_frame_size(Some(LONGEST_FRAME))
            .max_write_buffer_size(LONGEST_FRAME * 16);
        let connected = Box::pin(connect_async_with_config(request, Some(config), true)).await;
        let (mut socket, _) = connected.map_err(|error| failure_of(&error))?;
        let mut dead_after = None;
        loop {
            let message = socket.next().await.ok_or_else(|| unavailable("it ended"))?;
            let Message::Text(text) = message.map_err(|error| failure_of(&error))? else { continue };
            match packet::read(&text) {
                Packet::Open(span) => {
                    dead_after = Some(span);
                    send(&mut socket, packet::join()).await?;
                }
                Packet::Ping => send(&mut socket, packet::PONG.to_owned()).await?,
                Packet::Joined => {
                    let dead_after = dead_after.ok_or_else(|| unavailable("it did not open"))?;
                    return Ok(Self { socket, dead_after });
                }
                Packet::Refused(text) => return Err(unavailable(&format!("it is refused: {text}"))),
                Packet::End => return Err(unavailable("it ended")),
                Packet::Event(_) | Packet::Other | Packet::Unreadable => {}
            }
        }
    }

    pub(super) async fn serve(mut self, mut wanted: mpsc::Receiver<Wanted>, reader: Reader) {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut look = tokio::time::interval(LOOK_EVERY);
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                biased;
                more = wanted.recv() => {
                    let Some(Wanted { symbol, prices, begun }) = more else { return };
                    let text = packet::subscribe(&reader.slot, symbol.as_str());
                    if send(&mut self.socket, text).await.is_err() {
                        return;
                    }
                    pairs.retain(|pair| pair.symbol != symbol);
                    let heard = Instant::now();
                    pairs.push(Pair { symbol, prices, begun: Some(begun), newest: Millis::new(i64::MIN), heard });
                }
                message = self.socket.next() => {
                    heard = Instant::now();
                    let Some(Ok(message)) = message else {
                        return tracing::debug!("the stream of prices ended");
                    };
                    let Message::Text(text) = message else { continue };
                    match packet::read(&text) {
                        Packet::Ping if send(&mut self.socket, packet::PONG.to_owned()).await.is_err() => return,
                        Packet::End => return,
                        Packet::Event(arguments) => reader.take(arguments, &mut pairs),
                        Packet::Unreadable => reader.drift.count_unreadable("Stream", "packet"),
                        _ => {}
                    }
                }
                _ = look.tick() => {
                    let had = !pairs.is_empty();
                    // A feed that is dropped says to its reader that prices are to be asked for.
                    pairs.retain(|pair| pair.heard.elapsed() < reader.silence);
                    if (had && pairs.is_empty()) || heard.elapsed() > self.dead_after {
                        return tracing::debug!("the stream of prices is silent");
                    }
                }
            }
        }
    }
}

impl Reader {
    fn take(&self, arguments: Vec<serde_json::Value>, pairs: &mut Vec<Pair>) {
        let update = update::read(arguments, &self.slot, self.clock.now(), &self.drift);
        let Some(Update { pair: name, tick }) = update else { return };
        let found = pairs.iter().position(|pair| is_same_pair(pair.symbol.as_str(), &name));
        let Some(place) = found else { return self.drift.count_unreadable("Stream", "pair") };
        let pair = &mut pairs[place];
        if tick.time <= pair.newest {
            // It came twice, or was overtaken.
            return;
        }
        (pair.newest, pair.heard) = (tick.time, Instant::now());
        self.has_heard.store(true, Ordering::Relaxed);
        if !pair.prices.send(tick, Hold::none()) {
            pairs.swap_remove(place);
        } else if let Some(begun) = pair.begun.take() {
            // Nobody waits any more where it took too long: the feed is dropped then.
            let _ = begun.send(());
        }
    }
}

async fn send(
    socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>,
    text: String,
) -> Result<(), BrokerError> {
    let sent = timeout(Duration::from_secs(5), socket.send(Message::text(text))).await;
    sent.map_err(|_| unavailable("it takes nothing"))?.map_err(|error| failure_of(&error))
}

/// Describes an error.
///
/// A rejected handshake is reported by its status only, since its text may be anything.
fn failure_of(error: &Error) -> BrokerError {
    match error {
        Error::Http(answer) if matches!(answer.status().as_u16(), 401 | 403) => {
            BrokerError::Credentials { text: format!("the stream of prices answers {}", answer.status()) }
        }
        Error::Http(answer) => unavailable(&format!("it answers {}", answer.status())),
        error => unavailable(&crate::model::one_line(&error.to_string())),
    }
}

pub(super) fn unavailable(problem: &str) -> BrokerError {
    BrokerError::Unavailable { text: format!("the stream of prices: {problem}") }
}
