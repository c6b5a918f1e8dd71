//! State of the run for status requests, and its changes for observers.

use super::Coordinator;
use super::command::{Command, Step};
use super::token::{WHERE_FROM, describe_refusal};
use crate::Notice;
use crate::control::{Blockage, ControlAnswer, LateSeries, Phase, QuietSeries, RunState, VenueApi};
use candlewick_engine::{IntentState, SeriesId};
use candlewick_sdk::Millis;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) struct Told {
    phase: Phase,
    reason: Option<String>,
    is_halted: bool,
    silent: Vec<VenueApi>,
    late: BTreeMap<SeriesId, LateSeries>,
    quiet: BTreeSet<SeriesId>,
    blocked: Vec<(String, Vec<String>)>,
    looked: Option<(u64, Millis)>,
}

/// Observers assume a trading run until told otherwise.
impl Default for Told {
    fn default() -> Self {
        Self {
            phase: Phase::Trading,
            reason: None,
            is_halted: false,
            silent: Vec::new(),
            late: BTreeMap::new(),
            quiet: BTreeSet::new(),
            blocked: Vec::new(),
            looked: None,
        }
    }
}

impl Coordinator {
    fn standing(&self) -> (Phase, Option<Cow<'_, str>>) {
        let (halted, suspended) = (self.session.halted(), self.session.journal.suspended());
        let phase = if self.ending.is_stopping() {
            Phase::Stopping
        } else if halted.is_some() {
            Phase::Halted
        } else if suspended.is_some() || self.token_refused.is_some() || self.is_account_barred() {
            Phase::Suspended
        } else {
            Phase::Trading
        };
        let token_refused = self
            .token_refused
            .as_ref()
            .map(|text| format!("{}; a new one is waited for, {WHERE_FROM}", describe_refusal(text)));
        let reason = halted.map(|text| Cow::Borrowed(text.as_str())).or(token_refused.map(Cow::Owned));
        let reason = reason.or(suspended.map(|text| Cow::Borrowed(text.as_str())));
        (phase, reason.or_else(|| self.account_barred().map(Cow::Owned)))
    }

    pub(super) fn done(&self, step: &Step<'_>) -> ControlAnswer {
        ControlAnswer::Done { state: Box::new(self.run_state(step.now)) }
    }

    pub(super) fn run_state(&self, now: Millis) -> RunState {
        let (phase, reason) = self.standing();
        let gates: BTreeMap<String, String> = self.session.session().gates().collect();
        let blocked = Blockage::all_of(self.session.session(), now);
        RunState {
            phase,
            reason: reason.map(Cow::into_owned),
            halt: self.session.halt().cloned(),
            in_flight: self.session.in_state(IntentState::InFlight).count(),
            in_doubt: self.session.in_state(IntentState::InDoubt).collect(),
            open: self.session.in_state(IntentState::Open).count(),
            at: now,
            clock: self.skew.estimate(),
            audits: self.audits.tallies(),
            heard: self.heard(),
            apis: self.venue_health(now),
            troubles: self.troubles(now),
            reloaded: self.reloaded.clone().map(Box::new),
            stale_after_s: self.settings.stale_after_s,
            signals: self.outside.tally(),
            market: self.market_state(now).map(Box::new),
            gates: Some(gates).filter(|gates| !gates.is_empty()).map(Box::new),
            all_blocked: Blockage::stop_all(&blocked, self.session.session().bots().len()),
            blocked,
        }
    }

    pub(super) fn tell_changes(&mut self, step: &mut Step<'_>) {
        let is_halted = self.session.halted().is_some();
        let was_halted = std::mem::replace(&mut self.told.is_halted, is_halted);
        let (phase, reason) = self.standing();
        // A run that stops may halt all the same, on what it reads last.
        if phase == Phase::Stopping && is_halted && !was_halted {
            let reason = reason.as_deref().map(str::to_owned);
            step.commands.push(Command::Notify(Notice::Phase { phase: Phase::Halted, reason }));
        }
        if phase != self.told.phase || reason.as_deref() != self.told.reason.as_deref() {
            let reason = reason.map(Cow::into_owned);
            step.commands.push(Command::Notify(Notice::Phase { phase, reason: reason.clone() }));
            (self.told.phase, self.told.reason) = (phase, reason);
        }
        self.tell_silence(step);
        self.tell_late_series(step);
        self.warn_of_quiet_series(step);
        self.tell_blockages(step);
    }

    fn tell_silence(&mut self, step: &mut Step<'_>) {
        for api in VenueApi::ALL {
            let (was, is_silent) = (self.told.silent.contains(&api), self.is_silent(api, step.now));
            if was == is_silent {
                continue;
            }
            self.told.silent.retain(|told| *told != api);
            self.told.silent.extend(is_silent.then_some(api));
            let heard = self.venue_heard(api);
            step.commands.push(Command::Notify(Notice::Venue { api, is_silent, heard }));
        }
    }

    fn tell_blockages(&mut self, step: &mut Step<'_>) {
        let looked = Some((self.session.news(), step.now.floor_to(Millis::MINUTE)));
        if looked == self.told.looked {
            return;
        }
        self.told.looked = looked;
        let mut lasting = Blockage::all_of(self.session.session(), step.now);
        lasting.retain(|blockage| !blockage.brief);
        let keys = lasting.iter().map(|blockage| (blockage.rule.clone(), blockage.bots.clone()));
        let keys: Vec<_> = keys.collect();
        if keys != self.told.blocked {
            self.told.blocked = keys;
            step.commands.push(Command::Notify(Notice::Blocked(lasting)));
        }
    }

    fn warn_of_quiet_series(&mut self, step: &mut Step<'_>) {
        let quiet: BTreeMap<SeriesId, QuietSeries> = self.market.quiet_series().collect();
        for (_, series) in quiet.iter().filter(|(id, _)| !self.told.quiet.contains(id)) {
            step.warn(series.to_string());
        }
        self.told.quiet = quiet.into_keys().collect();
    }

    fn tell_late_series(&mut self, step: &mut Step<'_>) {
        let late: BTreeMap<SeriesId, LateSeries> = self.market.late_series().collect();
        if late.is_empty() && self.told.late.is_empty() {
            return;
        }
        let began = late.iter().filter(|(id, _)| !self.told.late.contains_key(id));
        let ended = self.told.late.iter().filter(|(id, _)| !late.contains_key(id));
        let notices =
            began.map(|(_, series)| (*series, true)).chain(ended.map(|(_, series)| (*series, false)));
        for (series, is_late) in notices {
            step.commands.push(Command::Notify(Notice::Candles { series, is_late }));
        }
        self.told.late = late;
    }
}
