//! Chat commands through a mock of the Bot API (core.telegram.org/bots/api).
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use axum::extract::{Path, State};
use axum::routing::post;
use axum::{Json, Router};
use candlewick_notify::{ChatClient, ChatQuestion, ChatRequest, Endpoint, Secret};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
const CHAT: i64 = -1_001_234;

#[derive(Default)]
struct Server {
    updates: Mutex<Vec<Value>>,
    polls: Mutex<Vec<Value>>,
    replies: Mutex<Vec<Value>>,
    changed: Notify,
    reached: Notify,
}

impl Server {
    async fn start() -> (Arc<Self>, Endpoint) {
        let server: Arc<Self> = Arc::default();
        let router = Router::new().route("/{bot}/{method}", post(answer)).with_state(Arc::clone(&server));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Secret::new(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, Endpoint { url, secret: Secret::new(TOKEN) })
    }

    fn write(&self, id: i64, chat: i64, text: &str) {
        let message = json!({ "message_id": id, "chat": { "id": chat }, "from": { "id": 42 }, "text": text });
        self.updates.lock().unwrap().push(json!({ "update_id": id, "message": message }));
        self.changed.notify_one();
    }

    async fn reply(&self, number: usize) -> String {
        let reply = self.when(|| self.replies.lock().unwrap().get(number).cloned()).await;
        assert_eq!(reply["chat_id"], CHAT);
        reply["text"].as_str().unwrap().to_owned()
    }

    async fn when<T>(&self, find: impl Fn() -> Option<T>) -> T {
        let there = async {
            loop {
                if let Some(found) = find() {
                    return found;
                }
                self.reached.notified().await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), there).await.expect("it comes")
    }

    /// Waits for the second poll, which returns new messages only.
    async fn wait_for_listener(&self) {
        self.when(|| (self.polls.lock().unwrap().len() >= 2).then_some(())).await;
    }
}

async fn answer(
    State(server): State<Arc<Server>>,
    Path((bot, method)): Path<(String, String)>,
    Json(body): Json<Value>,
) -> Json<Value> {
    assert_eq!(bot, format!("bot{TOKEN}"));
    if method == "sendMessage" {
        server.replies.lock().unwrap().push(body);
        server.reached.notify_one();
        return Json(json!({ "ok": true, "result": {} }));
    }
    if method == "getMe" {
        return Json(json!({ "ok": true, "result": { "id": 110_201_543, "username": "night_bot" } }));
    }
    assert_eq!(method, "getUpdates");
    let offset = body["offset"].as_i64().unwrap();
    let holds = body["timeout"].as_u64().unwrap() > 0;
    server.polls.lock().unwrap().push(body);
    server.reached.notify_one();
    // A negative offset counts from the end and drops earlier updates; a positive one confirms them.
    {
        let mut updates = server.updates.lock().unwrap();
        let first = if offset < 0 { updates.len().saturating_sub(1) } else { 0 };
        updates.drain(..first);
        updates.retain(|update| update["update_id"].as_i64().unwrap() >= offset);
    }
    if holds && server.updates.lock().unwrap().is_empty() {
        let _ = tokio::time::timeout(Duration::from_secs(5), server.changed.notified()).await;
    }
    Json(json!({ "ok": true, "result": server.updates.lock().unwrap().clone() }))
}

fn run() -> (mpsc::Sender<ChatQuestion>, Arc<Mutex<Vec<ChatRequest>>>) {
    let (questions, mut asked) = mpsc::channel::<ChatQuestion>(1);
    let log: Arc<Mutex<Vec<ChatRequest>>> = Arc::default();
    let all = Arc::clone(&log);
    tokio::spawn(async move {
        while let Some(ChatQuestion { request, reply_to: answer }) = asked.recv().await {
            let words = if request == ChatRequest::Status { "trading; 2 open" } else { "halted" };
            all.lock().unwrap().push(request);
            let _ = answer.send(words.to_owned());
        }
    });
    (questions, log)
}

#[tokio::test]
async fn allowed_chat_can_read_the_status_and_halt_by_code() {
    let (server, endpoint) = Server::start().await;
    server.write(1, CHAT, "/halt");
    server.write(2, CHAT, "/status");
    let (questions, asked) = run();
    let chat = ChatClient::open(&endpoint, "night bot", &[CHAT]).unwrap();
    let listening = tokio::spawn(chat.listen(questions));
    server.wait_for_listener().await;
    let polls = server.polls.lock().unwrap().clone();
    assert_eq!(polls[0], json!({ "offset": -1, "limit": 10, "timeout": 0, "allowed_updates": ["message"] }));
    assert_eq!((&polls[1]["offset"], &polls[1]["timeout"]), (&json!(3), &json!(50)));
    assert!(asked.lock().unwrap().is_empty(), "earlier messages are ignored");

    server.write(3, 999, "/status");
    server.write(4, CHAT, "/resume");
    server.write(4, CHAT, "/status@other_bot");
    server.write(5, CHAT, "/halt 123456");
    for (id, mut update) in (6..).zip([
        json!({ "message": { "chat": { "id": CHAT }, "from": { "id": 42 }, "photo": [] } }),
        json!({ "message": { "chat": { "id": CHAT }, "text": "/status" } }),
        json!({ "edited_message": { "chat": { "id": CHAT }, "from": { "id": 42 }, "text": "/status" } }),
        json!({ "message": null }),
        json!({ "message": { "chat": { "id": CHAT.to_string() }, "from": { "id": 42 }, "text": "/status" } }),
        json!({ "message": { "chat": { "id": CHAT }, "from": { "id": 42 }, "text": "/halt \u{0}\u{202e}1" } }),
    ]) {
        update["update_id"] = json!(id);
        server.updates.lock().unwrap().push(update);
    }
    server.write(12, CHAT, "/status");
    for number in 0..2 {
        assert!(server.reply(number).await.contains("nothing was halted"));
    }
    assert_eq!(server.reply(2).await, "trading; 2 open");
    server.write(13, CHAT, "/halt");
    let words = server.reply(3).await;
    let code = words.rsplit(' ').next().unwrap();
    assert!(words.contains("night bot") && code.len() == 6, "{words}");
    server.write(14, CHAT, &format!("/halt {code}"));
    assert_eq!(server.reply(4).await, "halted");
    let by = format!("chat {CHAT}, sender 42");
    assert_eq!(*asked.lock().unwrap(), [ChatRequest::Status, ChatRequest::Halt { by }]);
    assert_eq!(server.replies.lock().unwrap().len(), 5, "neither the other chat nor /resume is answered");
    listening.abort();
}
