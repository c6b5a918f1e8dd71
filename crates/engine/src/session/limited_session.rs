//! The session whose loss and profit are limited: when it begins, and what is counted of it.

use super::Session;
use crate::BotId;
use candlewick_sdk::{Millis, Money};

impl Session {
    /// A run begins, and with it the session of a run.
    pub(super) fn begin_session_of_run(&mut self) {
        if self.limits.session.is_of_runs() {
            self.state.begin_session(self.ledger.session_start(), None);
        }
    }

    /// Begins the session of hours whose time has come.
    pub(super) fn begin_session_of_hours(&mut self, now: Millis) {
        if self.limits.session.is_of_hours() && now >= self.state.session().end() {
            let end = self.limits.session_end(now);
            self.state.begin_session(self.ledger.session_start(), Some(end));
        }
    }

    /// A person resumed: what the session has won or lost is counted from here.
    pub(super) fn resume_session(&mut self) {
        if self.limits.session.is_on() {
            self.state.begin_session_anew(self.ledger.session_start());
        }
    }

    /// A trade of the bot ended in it with this profit.
    #[inline]
    pub(super) fn earn_in_session(&mut self, bot: BotId, profit: Money) {
        if self.limits.session.is_on() {
            self.state.earn_in_session(bot, profit);
        }
    }

    /// Books money that no trade explains. It moves the equity with which the session began.
    pub(super) fn deposit(&mut self, amount: Money) {
        self.ledger.deposit(amount);
        if self.limits.session.is_on() {
            self.state.session_mut().equity += amount;
        }
    }

    /// Records how far the wallet is from what the trades explain.
    pub(super) fn record_difference(&mut self, amount: Money) {
        self.ledger.record_difference(amount);
        if self.limits.session.is_on() {
            self.state.session_mut().limit_shortage(self.ledger.shortage());
        }
    }

    /// When time alone next releases a stake or begins a session.
    pub(super) fn next_due(&self) -> Millis {
        let session = self.limits.session.is_of_hours().then(|| self.state.session().end());
        self.intents.next_release().min(session.unwrap_or(Millis::MAX))
    }
}
