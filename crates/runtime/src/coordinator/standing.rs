//! How the run stands: for whoever asks, and as news for whoever watches.

use super::Coordinator;
use super::command::{Command, Step};
use super::token::WHERE_FROM;
use crate::Notice;
use crate::control::{ControlAnswer, Phase, RunState};
use candlewick_engine::IntentState;
use candlewick_sdk::Millis;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What whoever watches has been told last.
#[derive(Debug)]
pub(crate) struct Told {
    phase: Phase,
    reason: Option<String>,
    is_silent: bool,
}

/// A run begins with the news that it trades, unless something else is so.
impl Default for Told {
    fn default() -> Self {
        Self { phase: Phase::Trading, reason: None, is_silent: false }
    }
}

impl Coordinator {
    /// What it does with signals, and why.
    fn standing(&self) -> (Phase, Option<Cow<'_, str>>) {
        let (halted, suspended) = (self.session.halted(), self.session.journal.suspended());
        let phase = if self.ending.is_stopping() {
            Phase::Stopping
        } else if halted.is_some() {
            Phase::Halted
        } else if suspended.is_some() || self.token_refused.is_some() {
            Phase::Suspended
        } else {
            Phase::Trading
        };
        let token_refused = self.token_refused.as_ref().map(|text| {
            format!("the venue does not accept the token: {text}; a new one is waited for, {WHERE_FROM}")
        });
        let reason = halted.map(|text| Cow::Borrowed(text.as_str())).or(token_refused.map(Cow::Owned));
        (phase, reason.or(suspended.map(|text| Cow::Borrowed(text.as_str()))))
    }

    /// The answer to an order that was carried out.
    pub(super) fn done(&self, step: &Step<'_>) -> ControlAnswer {
        ControlAnswer::Done { state: self.run_state(step.now) }
    }

    /// How the run stands, as far as orders concern it.
    pub(super) fn run_state(&self, now: Millis) -> RunState {
        let (phase, reason) = self.standing();
        let gates: BTreeMap<String, String> = self.session.session().gates().collect();
        RunState {
            phase,
            reason: reason.map(Cow::into_owned),
            in_flight: self.session.in_state(IntentState::InFlight).count(),
            in_doubt: self.session.in_state(IntentState::InDoubt).collect(),
            open: self.session.in_state(IntentState::Open).count(),
            at: now,
            clock: self.skew.estimate(),
            audits: self.audits.tallies(),
            heard: self.heard(),
            troubles: self.troubles(now),
            reloaded: self.reloaded.clone().map(Box::new),
            stale_after_s: self.settings.stale_after_s,
            signals: self.outside.tally(),
            market: self.market_state(now).map(Box::new),
            gates: Some(gates).filter(|gates| !gates.is_empty()).map(Box::new),
        }
    }

    /// Tells whoever watches what has changed since the last time.
    pub(super) fn tell_changes(&mut self, step: &mut Step<'_>) {
        let (phase, reason) = self.standing();
        if phase != self.told.phase || reason.as_deref() != self.told.reason.as_deref() {
            let reason = reason.map(Cow::into_owned);
            step.commands.push(Command::Notify(Notice::Phase { phase, reason: reason.clone() }));
            (self.told.phase, self.told.reason) = (phase, reason);
        }
        let is_silent = self.is_silent(step.now);
        if is_silent != self.told.is_silent {
            self.told.is_silent = is_silent;
            step.commands.push(Command::Notify(Notice::Venue { is_silent, heard: self.heard() }));
        }
    }
}
