//! The session with a loss limit and a profit target: its start and its counts.

use super::Session;
use crate::BotId;
use candlewick_sdk::{Millis, Money};

impl Session {
    pub(super) fn begin_session_of_run(&mut self) {
        if self.limits.session.is_of_runs() {
            self.state.begin_session(self.ledger.session_start(), None);
        }
    }

    pub(super) fn begin_session_of_hours(&mut self, now: Millis) {
        if self.limits.session.is_of_hours() && now >= self.state.session().end() {
            let end = self.limits.session_end(now);
            self.state.begin_session(self.ledger.session_start(), Some(end));
        }
    }

    pub(super) fn resume_session(&mut self) {
        if self.limits.session.is_on() {
            self.state.begin_session_anew(self.ledger.session_start());
        }
    }

    #[inline]
    pub(super) fn earn_in_session(&mut self, bot: BotId, profit: Money) {
        if self.limits.session.is_on() {
            self.state.earn_in_session(bot, profit);
        }
    }

    pub(super) fn deposit(&mut self, amount: Money) {
        self.ledger.deposit(amount);
        if self.limits.session.is_on() {
            self.state.session_mut().equity += amount;
        }
    }

    pub(super) fn record_difference(&mut self, amount: Money) {
        self.ledger.record_difference(amount);
        if self.limits.session.is_on() {
            self.state.session_mut().limit_shortage(self.ledger.shortage());
        }
    }

    pub(super) fn next_due(&self) -> Millis {
        let session = self.limits.session.is_of_hours().then(|| self.state.session().end());
        self.intents.next_release().min(session.unwrap_or(Millis::MAX))
    }
}
