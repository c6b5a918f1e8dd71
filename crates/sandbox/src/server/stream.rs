//! Price stream `/symbol-prices`, which uses Socket.IO 4 over WebSocket.

use super::ServerState;
use super::extract::{KeyCheck, Parameters, error_response};
use super::listener::Connection;
use super::prices::{DEFAULT_SLOT, build_record};
use crate::fault::{Fault, garbage_body};
use axum::Extension;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use candlewick_sdk::Millis;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

const NAMESPACE: &str = "/symbol-prices";
const MAX_FRAME_BYTES: usize = 4_096;
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PONG_TIMEOUT: Duration = Duration::from_secs(10);
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

struct StreamClosed;

struct StreamClient {
    state: Arc<ServerState>,
    connection: Option<Connection>,
    socket: WebSocket,
    has_joined: bool,
    pairs: BTreeMap<String, Millis>,
    stalls_until: Option<Instant>,
    held_back: Option<String>,
    heard: Instant,
}

pub(crate) async fn stream(
    State(state): State<Arc<ServerState>>,
    _: KeyCheck,
    connection: Option<Extension<ConnectInfo<Connection>>>,
    Query(parameters): Query<Parameters>,
    uri: Uri,
    upgrade: WebSocketUpgrade,
) -> Response {
    let is = |name: &str, value: &str| parameters.get(name).is_some_and(|given| given == value);
    if !is("EIO", "4") || !is("transport", "websocket") {
        let message = "Only EIO=4&transport=websocket is served";
        return error_response(StatusCode::BAD_REQUEST, message, state.now(), &uri);
    }
    let connection = connection.map(|Extension(ConnectInfo(connection))| connection);
    upgrade.max_message_size(MAX_FRAME_BYTES).max_frame_size(MAX_FRAME_BYTES).on_upgrade(
        |socket| async move {
            // An open stream counts as a request in flight, so the connection is not idle.
            let _under_way = connection.clone().map(Connection::begin_request);
            let client = StreamClient {
                state,
                connection,
                socket,
                has_joined: false,
                pairs: BTreeMap::new(),
                stalls_until: None,
                held_back: None,
                heard: Instant::now(),
            };
            if client.serve().await.is_err() {
                tracing::debug!("a stream ended");
            }
        },
    )
}

impl StreamClient {
    async fn serve(mut self) -> Result<(), StreamClosed> {
        let spans = (PING_INTERVAL.as_millis() as u64, PONG_TIMEOUT.as_millis() as u64);
        let hello = json!({
            "sid": "sandbox", "upgrades": [], "pingInterval": spans.0, "pingTimeout": spans.1,
            "maxPayload": MAX_FRAME_BYTES,
        });
        self.send(format!("0{hello}")).await?;
        let state = Arc::clone(&self.state);
        let mut ping = tokio::time::interval(PING_INTERVAL);
        let mut next = state.now().floor_to(Millis::SECOND) + Millis::SECOND;
        loop {
            tokio::select! {
                () = state.wait_until_stopping() => return Ok(()),
                message = self.socket.recv() => match message {
                    Some(Ok(Message::Text(text))) => self.handle_message(text.as_str()).await?,
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Err(StreamClosed),
                },
                _ = ping.tick() => {
                    if self.heard.elapsed() > PING_INTERVAL + PONG_TIMEOUT {
                        return Err(StreamClosed);
                    }
                    if !self.is_stalled() {
                        self.send("2".to_owned()).await?;
                    }
                }
                _held = state.clock.sleep_until(next), if !self.pairs.is_empty() => {
                    let now = state.now();
                    self.push_prices(now).await?;
                    next = now.floor_to(Millis::SECOND) + Millis::SECOND;
                }
            }
        }
    }

    async fn handle_message(&mut self, text: &str) -> Result<(), StreamClosed> {
        self.heard = Instant::now();
        if text == "3" {
            return Ok(());
        }
        if text.starts_with("41") || text == "1" {
            return Err(StreamClosed);
        }
        if text == "2probe" {
            return self.send("3probe".to_owned()).await;
        }
        if text.starts_with(&format!("40{NAMESPACE},")) {
            self.has_joined = true;
            return self.send(format!("40{NAMESPACE},{}", json!({"sid": "sandbox"}))).await;
        }
        if text.starts_with("40") {
            let refusal = json!({"message": "Invalid namespace"});
            return self.send(format!("44{refusal}")).await;
        }
        let event = text.strip_prefix(&format!("42{NAMESPACE},")).filter(|_| self.has_joined);
        let Some(Ok(Value::Array(arguments))) = event.map(serde_json::from_str) else {
            return Err(StreamClosed);
        };
        let mut arguments = arguments.iter().map(|argument| argument.as_str().unwrap_or_default());
        if arguments.next() == Some("last-symbol-price")
            && let Some((slot, pair)) = arguments.next().and_then(|name| name.split_once(':'))
            && slot == DEFAULT_SLOT
            && self.state.boards.get(pair).is_some()
        {
            self.pairs.entry(pair.to_owned()).or_insert(Millis::ZERO);
            let now = self.state.now();
            self.push_prices(now).await?;
        }
        Ok(())
    }

    async fn push_prices(&mut self, now: Millis) -> Result<(), StreamClosed> {
        let mut messages = VecDeque::new();
        for (pair, sent) in &mut self.pairs {
            let Some(board) = self.state.boards.get(pair) else { continue };
            let Ok(record) = build_record(board, now, now) else { continue };
            if record.time > sent.get() {
                *sent = Millis::new(record.time);
                let body = json!(["message", {"event": "symbol.price.update", "data": record}]);
                messages.push_back(format!("42{NAMESPACE},{body}"));
            }
        }
        while let Some(message) = messages.pop_front() {
            self.push_message(message).await?;
        }
        self.state.prices_pushed_until.send_replace(now);
        Ok(())
    }

    async fn push_message(&mut self, message: String) -> Result<(), StreamClosed> {
        let state = Arc::clone(&self.state);
        let strike = |fault| state.switchboard.draw_fault(fault);
        if self.is_stalled() {
            return Ok(());
        }
        if strike(Fault::StreamDrop).is_some() {
            if let Some(connection) = &self.connection {
                connection.sever();
            }
            return Err(StreamClosed);
        }
        if let Some(span) = strike(Fault::StreamStall) {
            let span = Duration::from_millis(span.get().max(0).cast_unsigned());
            self.stalls_until = Some(Instant::now() + span);
            return Ok(());
        }
        if strike(Fault::StreamGarbage).is_some() {
            let text =
                String::from_utf8_lossy(garbage_body(state.switchboard.counts().count(Fault::StreamGarbage)))
                    .into_owned();
            return self.send(text).await;
        }
        if self.held_back.is_none() && strike(Fault::StreamReorder).is_some() {
            self.held_back = Some(message);
            return Ok(());
        }
        if strike(Fault::StreamDuplicate).is_some() {
            self.send(message.clone()).await?;
        }
        self.send(message).await?;
        match self.held_back.take() {
            Some(late) => self.send(late).await,
            None => Ok(()),
        }
    }

    fn is_stalled(&self) -> bool {
        self.stalls_until.is_some_and(|until| Instant::now() < until)
    }

    async fn send(&mut self, text: String) -> Result<(), StreamClosed> {
        let sent = timeout(SEND_TIMEOUT, self.socket.send(Message::text(text))).await;
        sent.map_err(|_| StreamClosed)?.map_err(|_| StreamClosed)
    }
}
