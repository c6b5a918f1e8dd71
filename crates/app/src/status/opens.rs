//! Reports whether bots open trades, and what blocks them.

use super::Status;
use candlewick_records::describe_halt;
use candlewick_runtime::control::{Phase, RunState};
use candlewick_sdk::visible;

impl Status {
    /// Uses the bot's answer if there is one, else the end of the journal.
    pub fn opens(&self) -> String {
        let has_silent_bot = self.holder.as_ref().is_some_and(|holder| holder.alive);
        if let Some(RunState { phase: Phase::Suspended, reason: Some(reason), .. }) = &self.bot {
            return format!("suspended: {}", visible(reason));
        }
        if let (Some(ended), false) = (&self.ended_by, self.halted) {
            return ended.words();
        }
        match (self.bot.as_ref().map(|bot| bot.phase), self.halted) {
            (Some(Phase::Halted), _) | (None, true) => {
                let halt = self.halt.clone().unwrap_or_default();
                format!("{}; run `candlewick resume` to open trades again", describe_halt(&halt))
            }
            (Some(Phase::Suspended), _) => "suspended".to_owned(),
            (Some(Phase::Stopping), _) => "none any more: the bot is stopping".to_owned(),
            (None, false) if has_silent_bot => {
                "not known: a process holds the journal, and does not answer here".to_owned()
            }
            (Some(Phase::Trading), _) | (None, false) if self.all_blocked => {
                "none at present, because risk rules refuse every signal".to_owned()
            }
            (Some(Phase::Trading), _) | (None, false) => "allowed".to_owned(),
        }
    }
}
