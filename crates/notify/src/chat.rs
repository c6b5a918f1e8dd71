//! Chat commands: status and halt of a run, nothing else.

use crate::channel::{MAX_TELEGRAM_LENGTH, Place, telegram_method};
use crate::http::{ChannelError, Failure, client, send, send_and_read};
use crate::worker::backoff;
use reqwest::Client;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
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
/// Lifetime of a halt code, and window of the rate limit.
const CODE_HOLDS: Duration = Duration::from_mins(1);
/// Rate limit: maximum number of commands per sender and chat.
const MOST_COMMANDS: usize = 20;

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
        let method = |name| telegram_method(place, name);
        let (updates, replies, name) = (method("getUpdates")?, method("sendMessage")?, method("getMe")?);
        let client = client(&updates, POLL_DEADLINE)?;
        Ok(Self { client, updates, replies, name, conversation: Conversation::new(sender, chats) })
    }

    /// Listens until dropped or `questions` is closed. Earlier messages are ignored.
    pub async fn listen(mut self, questions: mpsc::Sender<ChatQuestion>) {
        let (mut next, mut failures) = (None, 0_u64);
        let mut pauses = backoff(POLL_PACE, LONGEST_PAUSE);
        while !questions.is_closed() {
            let begun = Instant::now();
            // Until it is known, a command is taken whatever name it bears.
            if self.conversation.bot.is_none()
                && let Ok(answer) = self.request(&self.name, &json!({})).await
            {
                self.conversation.bot = answer["result"]["username"].as_str().map(str::to_owned);
            }
            let rest = match self.poll(next).await {
                Ok(batch) => {
                    (pauses, failures) = (backoff(POLL_PACE, LONGEST_PAUSE), 0);
                    let before = next;
                    // Without a message the first question is asked again, by the same name.
                    let last = batch.iter().filter_map(|update| update["update_id"].as_i64()).max();
                    next = last.map(|last| last.saturating_add(1)).max(next);
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
                    let wish = failure.after().or_else(|| pauses.next());
                    wish.unwrap_or(LONGEST_PAUSE).clamp(POLL_PACE, LONGEST_PAUSE)
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
        match self.request(&self.updates, &body).await?["result"].take() {
            Value::Array(updates) => Ok(updates),
            _ => Err(Failure::later("the answer is no list of messages")),
        }
    }

    async fn request(&self, method: &Url, body: &Value) -> Result<Value, Failure> {
        send_and_read(self.client.post(method.clone()).json(body), MOST_BYTES).await
    }

    async fn take(&mut self, update: &Value, questions: &mpsc::Sender<ChatQuestion>) {
        let message = &update["message"];
        let (chat, from) = (message["chat"]["id"].as_i64(), message["from"]["id"].as_i64());
        let text = message["text"].as_str().filter(|_| message["sender_chat"].is_null());
        let who = chat.zip(from);
        let said = who.zip(text).map(|(who, text)| self.conversation.hear(who, text, Instant::now()));
        let words = match said.unwrap_or(Said::Nothing) {
            Said::Nothing => {
                self.conversation.ignored += 1;
                tracing::debug!(ignored = self.conversation.ignored, "a message of a chat is ignored");
                return;
            }
            Said::Answer(words) => words,
            Said::Ask(request) => ask(request, questions).await,
        };
        if let Some(who) = who
            && self.reply(who.0, &words).await
        {
            self.conversation.restart_code(who, Instant::now());
        }
    }

    async fn reply(&self, chat: i64, words: &str) -> bool {
        let text = crate::alert::cut(words, MAX_TELEGRAM_LENGTH, char::len_utf16);
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

/// Chat id and sender id.
type Who = (i64, i64);

#[derive(Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    Answer(String),
    Ask(ChatRequest),
}

/// State machine of the commands, without I/O and clock.
#[derive(Debug)]
struct Conversation {
    name: String,
    bot: Option<String>,
    chats: Vec<i64>,
    codes: HashMap<Who, (String, Instant)>,
    answered: HashMap<Who, VecDeque<Instant>>,
    ignored: u64,
}

impl Conversation {
    fn new(name: &str, chats: &[i64]) -> Self {
        let (name, chats) = (name.to_owned(), chats.to_vec());
        Self { name, bot: None, chats, codes: HashMap::new(), answered: HashMap::new(), ignored: 0 }
    }

    fn hear(&mut self, who: Who, text: &str, now: Instant) -> Said {
        let mut words = text.split_whitespace();
        let Some(first) = words.next().filter(|_| self.chats.contains(&who.0)) else { return Said::Nothing };
        // In a group a command may bear the name of the bot that it is for: /status@name.
        let (command, name) =
            first.split_once('@').map_or((first, None), |(command, name)| (command, Some(name)));
        if name.zip(self.bot.as_deref()).is_some_and(|(name, bot)| !name.eq_ignore_ascii_case(bot)) {
            return Said::Nothing;
        }
        // Who was given a code is heard, however much is asked beside it.
        let has_code = self.codes.contains_key(&who);
        match (command, words.next(), words.next()) {
            ("/halt", Some(code), None) if has_code || self.has_time(who, now) => {
                self.check_code(who, code, now)
            }
            ("/status", None, _) if self.has_time(who, now) => Said::Ask(ChatRequest::Status),
            ("/halt", None, _) if self.has_time(who, now) => Said::Answer(self.give_code(who, now)),
            _ => Said::Nothing,
        }
    }

    fn has_time(&mut self, who: Who, now: Instant) -> bool {
        self.answered.retain(|_, all| {
            all.retain(|at| now.duration_since(*at) < CODE_HOLDS);
            !all.is_empty()
        });
        let answered = self.answered.entry(who).or_default();
        let has_time = answered.len() < MOST_COMMANDS;
        if has_time {
            answered.push_back(now);
        }
        has_time
    }

    fn restart_code(&mut self, who: Who, now: Instant) {
        if let Some((_, until)) = self.codes.get_mut(&who) {
            *until = now + CODE_HOLDS;
        }
    }

    fn give_code(&mut self, who: Who, now: Instant) -> String {
        self.codes.retain(|_, (_, until)| *until > now);
        let Some(code) = new_code() else {
            return "No code can be made here: halt it with `candlewick halt`.".to_owned();
        };
        let words = format!("To halt {}, send within a minute: /halt {code}", self.name);
        self.codes.insert(who, (code, now + CODE_HOLDS));
        words
    }

    /// Checks a halt code. A code is valid for one attempt, so it cannot be guessed.
    fn check_code(&mut self, who: Who, code: &str, now: Instant) -> Said {
        let given = self.codes.remove(&who);
        if given.is_some_and(|(given, until)| given == code && now < until) {
            let by = format!("chat {}, sender {}", who.0, who.1);
            return Said::Ask(ChatRequest::Halt { by });
        }
        Said::Answer("This code does not hold: nothing is halted. Send /halt for one.".to_owned())
    }
}

/// Six digits, `None` without entropy.
fn new_code() -> Option<String> {
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

    fn code(said: &Said) -> String {
        let Said::Answer(words) = said else { panic!("{said:?}") };
        words.rsplit(' ').next().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_halt_takes_a_code_of_the_same_person_within_a_minute_once() {
        let (mut chat, now) = conversation();
        let late = now + CODE_HOLDS;
        let is_refused = |said: &Said| matches!(said, Said::Answer(words) if words.contains("does not hold"));
        let halt = |chat: &mut Conversation, sender, code: &str, at| {
            chat.hear((CHAT, sender), &format!("/halt {code}"), at)
        };

        assert!(is_refused(&halt(&mut chat, ANN, "123456", now)), "no code was given");
        let given = code(&chat.hear((CHAT, ANN), "/halt", now));
        assert_eq!(given.len(), 6);
        assert!(is_refused(&halt(&mut chat, BOB, &given, now)), "it was given to another");
        let by = format!("chat {CHAT}, sender {ANN}");
        assert_eq!(halt(&mut chat, ANN, &given, now), Said::Ask(ChatRequest::Halt { by }));
        assert!(is_refused(&halt(&mut chat, ANN, &given, now)), "it is good once");

        let given = code(&chat.hear((CHAT, ANN), "/halt", now));
        assert!(is_refused(&halt(&mut chat, ANN, &given, late)), "it is too late");
        let given = code(&chat.hear((CHAT, ANN), "/halt", now));
        chat.restart_code((CHAT, ANN), late);
        assert_ne!(chat.hear((CHAT, BOB), "/halt", late), Said::Nothing);
        let by = format!("chat {CHAT}, sender {ANN}");
        assert_eq!(halt(&mut chat, ANN, &given, late), Said::Ask(ChatRequest::Halt { by }), "read late");
        let given = code(&chat.hear((CHAT, ANN), "/halt", now));
        let wrong = if given == "000000" { "000001" } else { "000000" };
        assert!(is_refused(&halt(&mut chat, ANN, wrong, now)));
        assert!(is_refused(&halt(&mut chat, ANN, &given, now)), "a wrong one ends it");
    }

    #[tokio::test]
    async fn nothing_else_is_asked_for_and_no_other_chat_is_heard() {
        let (mut chat, now) = conversation();
        assert_eq!(chat.hear((CHAT, ANN), "/status", now), Said::Ask(ChatRequest::Status));
        assert_eq!(chat.hear((CHAT, ANN), " /status@night_bot ", now), Said::Ask(ChatRequest::Status));
        chat.bot = Some("Night_bot".to_owned());
        assert_eq!(chat.hear((CHAT, ANN), "/status@night_bot", now), Said::Ask(ChatRequest::Status));
        assert_eq!(chat.hear((CHAT, ANN), "/status", now), Said::Ask(ChatRequest::Status));
        let ignored = "/status@other_bot|/halt@other_bot 123456|/resume|/open BTCUSDT|/reload|/resolve 7|status|\
                       /status now|halt|/halt 1 2|/HALT|| |/";
        for text in ignored.split('|') {
            assert_eq!(chat.hear((CHAT, ANN), text, now), Said::Nothing, "{text}");
        }
        for text in ["/status", "/halt", "/halt 123456"] {
            assert_eq!(chat.hear((CHAT + 1, ANN), text, now), Said::Nothing, "{text}");
        }
    }

    #[tokio::test]
    async fn a_chat_that_asks_without_end_is_not_answered_without_end() {
        let (mut chat, now) = conversation();
        let answered = (0..1_000).filter(|_| chat.hear((CHAT, ANN), "/status", now) != Said::Nothing).count();
        assert_eq!(answered, MOST_COMMANDS);
        assert_ne!(chat.hear((CHAT, BOB), "/halt", now), Said::Nothing, "another person is heard");
        assert_ne!(chat.hear((CHAT, ANN), "/status", now + CODE_HOLDS), Said::Nothing);
    }
}
