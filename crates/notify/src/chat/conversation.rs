//! What a chat says, and what follows: without network and clock.

use super::ChatRequest;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// How long the code of a halt holds.
const CODE_HOLDS: Duration = Duration::from_mins(1);
/// Commands of one person in one chat that are answered within that time.
const MOST_COMMANDS: usize = 20;

/// A message of a chat.
pub(super) struct Heard<'a> {
    /// In which chat.
    pub(super) chat: i64,
    /// Of whom.
    pub(super) sender: i64,
    pub(super) text: &'a str,
}

/// What follows from it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It is none of ours.
    Nothing,
    /// These words.
    Answer(String),
    /// The run is asked, and its answer goes back.
    Ask(ChatRequest),
}

/// What is understood.
enum Command<'a> {
    Status,
    AskHalt,
    Halt(&'a str),
}

/// What was said so far.
#[derive(Debug)]
pub(super) struct Conversation {
    name: String,
    chats: Vec<i64>,
    /// Codes that were given, by chat and sender.
    codes: HashMap<(i64, i64), (String, Instant)>,
    /// When commands were answered lately, by chat and sender.
    answered: HashMap<(i64, i64), VecDeque<Instant>>,
    ignored: u64,
}

impl Conversation {
    pub(super) fn new(name: &str, chats: &[i64]) -> Self {
        let (name, chats) = (name.to_owned(), chats.to_vec());
        Self { name, chats, codes: HashMap::new(), answered: HashMap::new(), ignored: 0 }
    }

    /// Counts a message that is not answered; how many there were.
    pub(super) const fn ignore(&mut self) -> u64 {
        self.ignored += 1;
        self.ignored
    }

    pub(super) fn hear(&mut self, heard: &Heard<'_>, now: Instant) -> Said {
        if !self.chats.contains(&heard.chat) {
            return Said::Nothing;
        }
        let Some(command) = Command::read(heard.text) else { return Said::Nothing };
        // Who was given a code is heard, however much is asked beside it.
        let has_code = self.codes.contains_key(&(heard.chat, heard.sender));
        match command {
            Command::Halt(code) if has_code || self.has_time(heard, now) => self.check_code(heard, code, now),
            Command::Status if self.has_time(heard, now) => Said::Ask(ChatRequest::Status),
            Command::AskHalt if self.has_time(heard, now) => Said::Answer(self.give_code(heard, now)),
            Command::Halt(_) | Command::Status | Command::AskHalt => Said::Nothing,
        }
    }

    /// Whether one more command is answered.
    fn has_time(&mut self, heard: &Heard<'_>, now: Instant) -> bool {
        self.answered.retain(|_, all| {
            all.retain(|at| now.duration_since(*at) < CODE_HOLDS);
            !all.is_empty()
        });
        let answered = self.answered.entry((heard.chat, heard.sender)).or_default();
        let has_time = answered.len() < MOST_COMMANDS;
        if has_time {
            answered.push_back(now);
        }
        has_time
    }

    /// A code holds from when it could be read.
    pub(super) fn restart_code(&mut self, chat: i64, sender: i64, now: Instant) {
        if let Some((_, until)) = self.codes.get_mut(&(chat, sender)) {
            *until = now + CODE_HOLDS;
        }
    }

    fn give_code(&mut self, heard: &Heard<'_>, now: Instant) -> String {
        self.codes.retain(|_, (_, until)| *until > now);
        let Some(code) = new_code() else {
            return "No code can be made here: halt it with `candlewick halt`.".to_owned();
        };
        let words = format!("To halt {}, send within a minute: /halt {code}", self.name);
        self.codes.insert((heard.chat, heard.sender), (code, now + CODE_HOLDS));
        words
    }

    /// A code is good once, whether it was right or not.
    fn check_code(&mut self, heard: &Heard<'_>, code: &str, now: Instant) -> Said {
        let given = self.codes.remove(&(heard.chat, heard.sender));
        if given.is_some_and(|(given, until)| given == code && now < until) {
            let by = format!("chat {}, sender {}", heard.chat, heard.sender);
            return Said::Ask(ChatRequest::Halt { by });
        }
        Said::Answer("This code does not hold: nothing is halted. Send /halt for one.".to_owned())
    }
}

impl<'a> Command<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let mut words = text.split_whitespace();
        // In a group a command may bear the bot's name: /status@name.
        let command = words.next()?.split('@').next()?;
        match (command, words.next(), words.next()) {
            ("/status", None, _) => Some(Self::Status),
            ("/halt", None, _) => Some(Self::AskHalt),
            ("/halt", Some(code), None) => Some(Self::Halt(code)),
            _ => None,
        }
    }
}

/// Six digits that nobody can guess; none where there is no chance to be had.
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

    fn heard(sender: i64, text: &str) -> Heard<'_> {
        Heard { chat: CHAT, sender, text }
    }

    #[tokio::test]
    async fn a_halt_takes_a_code_of_the_same_person_within_a_minute_once() {
        let (mut chat, now) = conversation();
        let late = now + CODE_HOLDS;
        let is_refused = |said: &Said| matches!(said, Said::Answer(words) if words.contains("does not hold"));
        let halt = |chat: &mut Conversation, sender, code: &str, at| {
            chat.hear(&heard(sender, &format!("/halt {code}")), at)
        };

        assert!(is_refused(&halt(&mut chat, ANN, "123456", now)), "no code was given");
        let given = code(&chat.hear(&heard(ANN, "/halt"), now));
        assert_eq!(given.len(), 6);
        assert!(is_refused(&halt(&mut chat, BOB, &given, now)), "it was given to another");
        let by = format!("chat {CHAT}, sender {ANN}");
        assert_eq!(halt(&mut chat, ANN, &given, now), Said::Ask(ChatRequest::Halt { by }));
        assert!(is_refused(&halt(&mut chat, ANN, &given, now)), "it is good once");

        let given = code(&chat.hear(&heard(ANN, "/halt"), now));
        assert!(is_refused(&halt(&mut chat, ANN, &given, late)), "it is too late");
        let given = code(&chat.hear(&heard(ANN, "/halt"), now));
        chat.restart_code(CHAT, ANN, late);
        assert_ne!(chat.hear(&heard(BOB, "/halt"), late), Said::Nothing);
        let by = format!("chat {CHAT}, sender {ANN}");
        assert_eq!(halt(&mut chat, ANN, &given, late), Said::Ask(ChatRequest::Halt { by }), "read late");
        let given = code(&chat.hear(&heard(ANN, "/halt"), now));
        let wrong = if given == "000000" { "000001" } else { "000000" };
        assert!(is_refused(&halt(&mut chat, ANN, wrong, now)));
        assert!(is_refused(&halt(&mut chat, ANN, &given, now)), "a wrong one ends it");
    }

    #[tokio::test]
    async fn nothing_else_is_asked_for_and_no_other_chat_is_heard() {
        let (mut chat, now) = conversation();
        assert_eq!(chat.hear(&heard(ANN, "/status"), now), Said::Ask(ChatRequest::Status));
        assert_eq!(chat.hear(&heard(ANN, " /status@night_bot "), now), Said::Ask(ChatRequest::Status));
        for text in [
            "/resume",
            "/open BTCUSDT",
            "/reload",
            "/resolve 7",
            "status",
            "/status now",
            "halt",
            "/halt 1 2",
            "/HALT",
            "",
            " ",
            "/",
        ] {
            assert_eq!(chat.hear(&heard(ANN, text), now), Said::Nothing, "{text}");
        }
        for text in ["/status", "/halt", "/halt 123456"] {
            let foreign = Heard { chat: CHAT + 1, sender: ANN, text };
            assert_eq!(chat.hear(&foreign, now), Said::Nothing, "{text}");
        }
    }

    #[tokio::test]
    async fn a_chat_that_asks_without_end_is_not_answered_without_end() {
        let (mut chat, now) = conversation();
        let answered = (0..1_000).filter(|_| chat.hear(&heard(ANN, "/status"), now) != Said::Nothing).count();
        assert_eq!(answered, MOST_COMMANDS);
        assert_ne!(chat.hear(&heard(BOB, "/halt"), now), Said::Nothing, "another person is heard");
        assert_ne!(chat.hear(&heard(ANN, "/status"), now + CODE_HOLDS), Said::Nothing);
    }
}
