//! Chat commands that show the status of a run or halt the run.

use crate::channel::{Endpoint, MAX_TELEGRAM_UNITS, telegram_method_url};
use crate::http::{ChannelError, Failure, build_client, send, send_and_read};
use crate::worker::backoff;
use reqwest::Client;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// Long-poll timeout of the server, in seconds. The client waits longer for the response.
const POLL_TIMEOUT_SECONDS: u64 = 50;
const CLIENT_TIMEOUT: Duration = Duration::from_secs(POLL_TIMEOUT_SECONDS + 15);
/// Minimum interval between polls, for servers that do not support long polling.
const MIN_POLL_INTERVAL: Duration = Duration::from_secs(1);
const MAX_UPDATES_PER_POLL: u32 = 10;
const MAX_RESPONSE_BYTES: usize = 1 << 20;
const REPLY_TIMEOUT: Duration = Duration::from_secs(15);
const MAX_REPLY_ATTEMPTS: u32 = 3;
/// Maximum pause before retrying a reply. No messages are received during the pause.
const MAX_REPLY_DELAY: Duration = Duration::from_secs(30);
const MAX_POLL_DELAY: Duration = Duration::from_mins(1);
/// Lifetime of a halt code, and the period in which a sender may send up to [`MAX_COMMANDS`] commands.
const CODE_LIFETIME: Duration = Duration::from_mins(1);
const MAX_COMMANDS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatRequest {
    Status,
    Halt { by: String },
}

#[derive(Debug)]
pub struct ChatQuestion {
    pub request: ChatRequest,
    /// Channel for the reply. The receiver may be gone, so a failed send is not an error.
    pub reply_to: oneshot::Sender<String>,
}

/// Telegram bot that receives messages (core.telegram.org/bots/api, "getUpdates").
#[derive(Debug)]
pub struct ChatClient {
    client: Client,
    updates: Url,
    replies: Url,
    name: Url,
    conversation: Conversation,
}

impl ChatClient {
    pub fn open(endpoint: &Endpoint, sender: &str, chats: &[i64]) -> Result<Self, ChannelError> {
        let method = |name| telegram_method_url(endpoint, name);
        let (updates, replies, name) = (method("getUpdates")?, method("sendMessage")?, method("getMe")?);
        let client = build_client(&updates, CLIENT_TIMEOUT)?;
        Ok(Self { client, updates, replies, name, conversation: Conversation::new(sender, chats) })
    }

    /// Answers commands until `questions` is closed or the future is dropped. Ignores messages from before the call.
    pub async fn listen(mut self, questions: mpsc::Sender<ChatQuestion>) {
        let (mut next, mut failures) = (None, 0_u64);
        let mut pauses = backoff(MIN_POLL_INTERVAL, MAX_POLL_DELAY);
        while !questions.is_closed() {
            let begun = Instant::now();
            // The bot accepts commands addressed to any bot until its own name is known.
            if self.conversation.bot_name.is_none()
                && let Ok(answer) = self.call_method(&self.name, &json!({})).await
            {
                self.conversation.bot_name = answer["result"]["username"].as_str().map(str::to_owned);
            }
            let rest = match self.poll_updates(next).await {
                Ok(batch) => {
                    (pauses, failures) = (backoff(MIN_POLL_INTERVAL, MAX_POLL_DELAY), 0);
                    let before = next;
                    // The first poll only finds the latest update, so that earlier messages are ignored.
                    let last = batch.iter().filter_map(|update| update["update_id"].as_i64()).max();
                    next = last.map(|last| last.saturating_add(1)).max(next);
                    // A batch without a new id is skipped, because the server would deliver the batch again.
                    let is_new = next > before;
                    if before.is_none() {
                        next = next.or(Some(0));
                    } else if is_new {
                        for update in &batch {
                            self.handle_update(update, &questions).await;
                        }
                    }
                    if is_new { Duration::ZERO } else { MIN_POLL_INTERVAL.saturating_sub(begun.elapsed()) }
                }
                Err(failure) => {
                    failures += 1;
                    if failures % 20 == 1 {
                        tracing::warn!(failures, %failure, "cannot read chat messages");
                    }
                    let delay = failure.retry_after().or_else(|| pauses.next());
                    delay.unwrap_or(MAX_POLL_DELAY).clamp(MIN_POLL_INTERVAL, MAX_POLL_DELAY)
                }
            };
            sleep(rest).await;
        }
    }

    async fn poll_updates(&self, next: Option<i64>) -> Result<Vec<Value>, Failure> {
        let body = json!({
            "offset": next.unwrap_or(-1),
            "limit": MAX_UPDATES_PER_POLL,
            "timeout": if next.is_some() { POLL_TIMEOUT_SECONDS } else { 0 },
            "allowed_updates": ["message"],
        });
        match self.call_method(&self.updates, &body).await?["result"].take() {
            Value::Array(updates) => Ok(updates),
            _ => Err(Failure::try_later("the response is not a list of messages")),
        }
    }

    async fn call_method(&self, method: &Url, body: &Value) -> Result<Value, Failure> {
        send_and_read(self.client.post(method.clone()).json(body), MAX_RESPONSE_BYTES).await
    }

    async fn handle_update(&mut self, update: &Value, questions: &mpsc::Sender<ChatQuestion>) {
        let message = &update["message"];
        let (chat, from) = (message["chat"]["id"].as_i64(), message["from"]["id"].as_i64());
        let text = message["text"].as_str().filter(|_| message["sender_chat"].is_null());
        let who = chat.zip(from);
        let response = who.zip(text).map(|(who, text)| self.conversation.handle(who, text, Instant::now()));
        let reply = match response.unwrap_or(Response::Ignore) {
            Response::Ignore => {
                self.conversation.ignored += 1;
                tracing::debug!(ignored = self.conversation.ignored, "ignored a chat message");
                return;
            }
            Response::Reply(text) => text,
            Response::Forward(request) => forward_request(request, questions).await,
        };
        if let Some(who) = who
            && self.reply(who.0, &reply).await
        {
            self.conversation.extend_code_expiry(who, Instant::now());
        }
    }

    async fn reply(&self, chat: i64, reply: &str) -> bool {
        let text = crate::alert::truncate(reply, MAX_TELEGRAM_UNITS, char::len_utf16);
        let body = json!({ "chat_id": chat, "text": text, "link_preview_options": { "is_disabled": true } });
        for _ in 0..MAX_REPLY_ATTEMPTS {
            let sent = timeout(REPLY_TIMEOUT, send(self.client.post(self.replies.clone()).json(&body))).await;
            let delay = match sent {
                Ok(Ok(())) => return true,
                Ok(Err(Failure::Permanent { reason })) => {
                    tracing::warn!(reason, "the chat rejected a reply");
                    return false;
                }
                Ok(Err(failure)) => failure.retry_after(),
                Err(_) => None,
            };
            sleep(delay.unwrap_or(MIN_POLL_INTERVAL).clamp(MIN_POLL_INTERVAL, MAX_REPLY_DELAY)).await;
        }
        tracing::warn!("cannot deliver a chat reply");
        false
    }
}

async fn forward_request(request: ChatRequest, questions: &mpsc::Sender<ChatQuestion>) -> String {
    let (answer, answered) = oneshot::channel();
    let response = async {
        questions.send(ChatQuestion { request, reply_to: answer }).await.ok()?;
        answered.await.ok()
    };
    match timeout(REPLY_TIMEOUT, response).await {
        Ok(Some(text)) => text,
        Ok(None) => "The run has ended or is stopping.".to_owned(),
        Err(_) => "The run did not respond in time. Send /status to check it.".to_owned(),
    }
}

/// Chat id and sender id.
type ChatSender = (i64, i64);

#[derive(Debug, PartialEq, Eq)]
enum Response {
    Ignore,
    Reply(String),
    Forward(ChatRequest),
}

/// State machine of the chat commands, without I/O or a clock.
#[derive(Debug, Default)]
struct Conversation {
    run_name: String,
    /// Telegram user name of the bot, `None` until known.
    bot_name: Option<String>,
    chats: Vec<i64>,
    /// Issued halt codes with their expiry times.
    codes: HashMap<ChatSender, (String, Instant)>,
    recent_commands: HashMap<ChatSender, VecDeque<Instant>>,
    ignored: u64,
}

impl Conversation {
    fn new(run_name: &str, chats: &[i64]) -> Self {
        let (run_name, chats) = (run_name.to_owned(), chats.to_vec());
        Self { run_name, chats, ..Self::default() }
    }

    fn handle(&mut self, who: ChatSender, text: &str, now: Instant) -> Response {
        let mut words = text.split_whitespace();
        let Some(first) = words.next().filter(|_| self.chats.contains(&who.0)) else {
            return Response::Ignore;
        };
        // In a group, /status@name addresses the command to one bot.
        let (command, name) =
            first.split_once('@').map_or((first, None), |(command, name)| (command, Some(name)));
        if name.zip(self.bot_name.as_deref()).is_some_and(|(name, bot)| !name.eq_ignore_ascii_case(bot)) {
            return Response::Ignore;
        }
        // A sender with a code can always use it, even after a flood of other commands.
        let has_code = self.codes.contains_key(&who);
        match (command, words.next(), words.next()) {
            ("/halt", Some(code), None) if has_code || self.admits_command(who, now) => {
                self.confirm_halt(who, code, now)
            }
            ("/status", None, _) if self.admits_command(who, now) => Response::Forward(ChatRequest::Status),
            ("/halt", None, _) if self.admits_command(who, now) => Response::Reply(self.issue_code(who, now)),
            _ => Response::Ignore,
        }
    }

    fn admits_command(&mut self, who: ChatSender, now: Instant) -> bool {
        self.recent_commands.retain(|_, times| {
            times.retain(|at| now.duration_since(*at) < CODE_LIFETIME);
            !times.is_empty()
        });
        let recent = self.recent_commands.entry(who).or_default();
        let is_admitted = recent.len() < MAX_COMMANDS;
        if is_admitted {
            recent.push_back(now);
        }
        is_admitted
    }

    fn extend_code_expiry(&mut self, who: ChatSender, now: Instant) {
        if let Some((_, expires_at)) = self.codes.get_mut(&who) {
            *expires_at = now + CODE_LIFETIME;
        }
    }

    fn issue_code(&mut self, who: ChatSender, now: Instant) -> String {
        self.codes.retain(|_, (_, expires_at)| *expires_at > now);
        let Some(code) = generate_code() else {
            return "Cannot generate a code. Run `candlewick halt` instead.".to_owned();
        };
        let reply = format!("To halt {} within the next minute, send: /halt {code}", self.run_name);
        self.codes.insert(who, (code, now + CODE_LIFETIME));
        reply
    }

    /// Checks a halt code. Each code allows a single attempt, so it cannot be guessed.
    fn confirm_halt(&mut self, who: ChatSender, code: &str, now: Instant) -> Response {
        let issued = self.codes.remove(&who);
        if issued.is_some_and(|(issued, expires_at)| issued == code && now < expires_at) {
            return Response::Forward(ChatRequest::Halt { by: format!("chat {}, sender {}", who.0, who.1) });
        }
        Response::Reply("Invalid or expired code: nothing was halted. Send /halt for a new code.".to_owned())
    }
}

/// Generates a random six-digit code. Returns `None` if no entropy is available.
fn generate_code() -> Option<String> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:06}", u64::from_le_bytes(bytes) % 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: i64 = -1_007;
    const ANN: i64 = 42;
    const BOB: i64 = 43;

    fn conversation() -> (Conversation, Instant) {
        (Conversation::new("night bot", &[CHAT]), Instant::now())
    }

    fn parse_code(response: &Response) -> String {
        let Response::Reply(text) = response else { panic!("{response:?}") };
        text.rsplit(' ').next().unwrap().to_owned()
    }

    #[tokio::test]
    async fn halt_requires_an_unused_code_of_the_same_sender_within_a_minute() {
        let (mut chat, now) = conversation();
        let late = now + CODE_LIFETIME;
        let is_refused = |response: &Response| matches!(response, Response::Reply(text) if text.starts_with("Invalid or expired code"));
        let halt = |chat: &mut Conversation, sender, code: &str, at| {
            chat.handle((CHAT, sender), &format!("/halt {code}"), at)
        };

        assert!(is_refused(&halt(&mut chat, ANN, "123456", now)), "no code was issued");
        let given = parse_code(&chat.handle((CHAT, ANN), "/halt", now));
        assert_eq!(given.len(), 6);
        assert!(is_refused(&halt(&mut chat, BOB, &given, now)), "the code was issued to another sender");
        let by = format!("chat {CHAT}, sender {ANN}");
        assert_eq!(halt(&mut chat, ANN, &given, now), Response::Forward(ChatRequest::Halt { by }));
        assert!(is_refused(&halt(&mut chat, ANN, &given, now)), "the code was used");

        let given = parse_code(&chat.handle((CHAT, ANN), "/halt", now));
        assert!(is_refused(&halt(&mut chat, ANN, &given, late)), "the code has expired");
        let given = parse_code(&chat.handle((CHAT, ANN), "/halt", now));
        chat.extend_code_expiry((CHAT, ANN), late);
        assert_ne!(chat.handle((CHAT, BOB), "/halt", late), Response::Ignore);
        let by = format!("chat {CHAT}, sender {ANN}");
        assert_eq!(
            halt(&mut chat, ANN, &given, late),
            Response::Forward(ChatRequest::Halt { by }),
            "the code was delivered late"
        );
        let given = parse_code(&chat.handle((CHAT, ANN), "/halt", now));
        let wrong = if given == "000000" { "000001" } else { "000000" };
        assert!(is_refused(&halt(&mut chat, ANN, wrong, now)));
        assert!(is_refused(&halt(&mut chat, ANN, &given, now)), "a wrong attempt revokes the code");
    }

    #[tokio::test]
    async fn ignores_other_commands_and_other_chats() {
        let (mut chat, now) = conversation();
        assert_eq!(chat.handle((CHAT, ANN), "/status", now), Response::Forward(ChatRequest::Status));
        assert_eq!(
            chat.handle((CHAT, ANN), " /status@night_bot ", now),
            Response::Forward(ChatRequest::Status)
        );
        chat.bot_name = Some("Night_bot".to_owned());
        assert_eq!(
            chat.handle((CHAT, ANN), "/status@night_bot", now),
            Response::Forward(ChatRequest::Status)
        );
        assert_eq!(chat.handle((CHAT, ANN), "/status", now), Response::Forward(ChatRequest::Status));
        let ignored = "/status@other_bot|/halt@other_bot 123456|/resume|/open BTCUSDT|/reload|/resolve 7|status|\
                       /status now|halt|/halt 1 2|/HALT|| |/";
        for text in ignored.split('|') {
            assert_eq!(chat.handle((CHAT, ANN), text, now), Response::Ignore, "{text}");
        }
        for text in ["/status", "/halt", "/halt 123456"] {
            assert_eq!(chat.handle((CHAT + 1, ANN), text, now), Response::Ignore, "{text}");
        }
    }

    #[tokio::test]
    async fn rate_limit_applies_per_sender() {
        let (mut chat, now) = conversation();
        let answered =
            (0..1_000).filter(|_| chat.handle((CHAT, ANN), "/status", now) != Response::Ignore).count();
        assert_eq!(answered, MAX_COMMANDS);
        assert_ne!(chat.handle((CHAT, BOB), "/halt", now), Response::Ignore, "another sender is admitted");
        assert_ne!(chat.handle((CHAT, ANN), "/status", now + CODE_LIFETIME), Response::Ignore);
    }
}
