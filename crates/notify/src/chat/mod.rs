//! Chat commands: status and halt of a run, nothing else.

mod conversation;

use crate::channel::{Place, telegram_method};
use crate::failure::{ChannelError, Failure};
use crate::http::{client, send, send_and_read};
use backon::{BackoffBuilder, ExponentialBuilder};
use conversation::{Conversation, Heard, Said};
use reqwest::Client;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// Long-poll timeout of the server, and deadline of the response.
const POLL_SECONDS: u64 = 50;
const POLL_DEADLINE: Duration = Duration::from_secs(POLL_SECONDS + 15);
/// Minimum interval of polls, for servers without long polling.
const POLL_PACE: Duration = Duration::from_secs(1);
const POLL_LIMIT: u32 = 10;
const MOST_BYTES: usize = 1 << 20;
const ANSWER_DEADLINE: Duration = Duration::from_secs(15);
const REPLIES: u32 = 3;
/// Maximum pause before a retried reply. No messages are received meanwhile.
const REPLY_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatRequest {
    Status,
    Halt { by: String },
}

#[derive(Debug)]
pub struct ChatQuestion {
    pub request: ChatRequest,
    /// Channel for the reply. The receiver may be gone: a failed send is not an error.
    pub answer: oneshot::Sender<String>,
}

/// Telegram bot that receives messages (core.telegram.org/bots/api, "getUpdates").
#[derive(Debug)]
pub struct Chat {
    client: Client,
    updates: Url,
    replies: Url,
    name: Url,
    conversation: Conversation,
}

impl Chat {
    pub fn open(place: &Place, sender: &str, chats: &[i64]) -> Result<Self, ChannelError> {
        let (updates, replies) =
            (telegram_method(place, "getUpdates")?, telegram_method(place, "sendMessage")?);
        let client = client(&updates, POLL_DEADLINE)?;
        let name = telegram_method(place, "getMe")?;
        Ok(Self { client, updates, replies, name, conversation: Conversation::new(sender, chats) })
    }

    /// Listens until dropped or `questions` is closed. Earlier messages are ignored.
    pub async fn listen(mut self, questions: mpsc::Sender<ChatQuestion>) {
        let (mut next, mut failures) = (None, 0_u64);
        let mut pauses = pauses();
        while !questions.is_closed() {
            let begun = Instant::now();
            // Until it is known, a command is taken whatever name it bears.
            if self.conversation.bot.is_none()
                && let Ok(answer) =
                    send_and_read(self.client.post(self.name.clone()).json(&json!({})), MOST_BYTES).await
            {
                self.conversation.bot = answer["result"]["username"].as_str().map(str::to_owned);
            }
            let rest = match self.poll(next).await {
                Ok(batch) => {
                    (pauses, failures) = (self::pauses(), 0);
                    let before = next;
                    // Without a message the first question is asked again, by the same name.
                    next = batch
                        .iter()
                        .filter_map(|update| update["update_id"].as_i64())
                        .max()
                        .map(|last| last.saturating_add(1))
                        .max(next);
                    // What has no number of its own would come again and again.
                    let is_news = next > before;
                    if before.is_none() {
                        next = next.or(Some(0));
                    } else if is_news {
                        for update in &batch {
                            self.take(update, &questions).await;
                        }
                    }
                    if is_news { Duration::ZERO } else { POLL_PACE.saturating_sub(begun.elapsed()) }
                }
                Err(failure) => {
                    failures += 1;
                    if failures % 20 == 1 {
                        tracing::warn!(failures, %failure, "the chat does not say what was written");
                    }
                    failure
                        .after()
                        .or_else(|| pauses.next())
                        .unwrap_or(LONGEST_PAUSE)
                        .clamp(POLL_PACE, LONGEST_PAUSE)
                }
            };
            sleep(rest).await;
        }
    }

    async fn poll(&self, next: Option<i64>) -> Result<Vec<Value>, Failure> {
        let body = json!({
            "offset": next.unwrap_or(-1),
            "limit": POLL_LIMIT,
            "timeout": if next.is_some() { POLL_SECONDS } else { 0 },
            "allowed_updates": ["message"],
        });
        let mut answer =
            send_and_read(self.client.post(self.updates.clone()).json(&body), MOST_BYTES).await?;
        match answer["result"].take() {
            Value::Array(updates) => Ok(updates),
            _ => Err(Failure::later("the answer is no list of messages")),
        }
    }

    async fn take(&mut self, update: &Value, questions: &mpsc::Sender<ChatQuestion>) {
        let message = &update["message"];
        let (chat, from) = (message["chat"]["id"].as_i64(), message["from"]["id"].as_i64());
        // Whoever writes in the name of a chat is nobody in particular.
        let text = message["text"].as_str().filter(|_| message["sender_chat"].is_null());
        let heard = chat.zip(from).zip(text);
        let heard = heard.map(|((chat, sender), text)| Heard { chat, sender, text });
        let said =
            heard.as_ref().map_or(Said::Nothing, |heard| self.conversation.hear(heard, Instant::now()));
        let words = match said {
            Said::Nothing => {
                let ignored = self.conversation.ignore();
                tracing::debug!(ignored, "a message of a chat is ignored");
                return;
            }
            Said::Answer(words) => words,
            Said::Ask(request) => ask(request, questions).await,
        };
        if let Some((chat, sender)) = chat.zip(from)
            && self.reply(chat, &words).await
        {
            self.conversation.restart_code(chat, sender, Instant::now());
        }
    }

    async fn reply(&self, chat: i64, words: &str) -> bool {
        let text = crate::message::cut(words, 4_096, char::len_utf16);
        let body = json!({ "chat_id": chat, "text": text, "link_preview_options": { "is_disabled": true } });
        for _ in 0..REPLIES {
            let sent =
                timeout(ANSWER_DEADLINE, send(self.client.post(self.replies.clone()).json(&body))).await;
            let wish = match sent {
                Ok(Ok(())) => return true,
                Ok(Err(Failure::Refused { reason })) => {
                    tracing::warn!(reason, "the chat refuses a reply");
                    return false;
                }
                Ok(Err(failure)) => failure.after(),
                Err(_) => None,
            };
            sleep(wish.unwrap_or(POLL_PACE).clamp(POLL_PACE, REPLY_PAUSE)).await;
        }
        tracing::warn!("a reply to the chat was not taken");
        false
    }
}

async fn ask(request: ChatRequest, questions: &mpsc::Sender<ChatQuestion>) -> String {
    let (answer, answered) = oneshot::channel();
    let asked = async {
        questions.send(ChatQuestion { request, answer }).await.ok()?;
        answered.await.ok()
    };
    match timeout(ANSWER_DEADLINE, asked).await {
        Ok(Some(words)) => words,
        Ok(None) => "The run has ended, or is about to.".to_owned(),
        Err(_) => "The run has not answered in time: ask for its /status.".to_owned(),
    }
}

fn pauses() -> impl Iterator<Item = Duration> {
    let pauses = ExponentialBuilder::default().with_min_delay(POLL_PACE).with_max_delay(LONGEST_PAUSE);
    pauses.without_max_times().with_jitter().build()
}
