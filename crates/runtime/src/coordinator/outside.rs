//! External signals: bot lookup, duplicates and outcomes.

use super::Coordinator;
use super::command::Step;
use super::event_queue::Place;
use super::input::OrderId;
use crate::control::{
    ControlAnswer, NextEntry, SignalBots, SignalOrder, SignalOutcome, SignalTally, SourceTally,
};
use candlewick_engine::{
    BotId, EventKind, IntentId, OutsideSignal, Rule, Session, SignalId, SignalReason, SignalSource,
};
use candlewick_sdk::{Expiry, Millis};
use std::collections::BTreeMap;

const ALARM_PACE: Millis = Millis::MINUTE;
const MENDED: &str = "; it was read again since, without an error";

#[derive(Debug, Default)]
pub(crate) struct OutsideWatch {
    tally: SignalTally,
    waiting: BTreeMap<(BotId, SignalSource, SignalId), OrderId>,
    next_alarm: BTreeMap<SignalSource, Millis>,
}

impl OutsideWatch {
    pub(crate) fn tally(&self) -> Option<Box<SignalTally>> {
        (self.tally != SignalTally::default()).then(|| Box::new(self.tally.clone()))
    }

    pub(super) fn came(&self) -> Option<&SignalTally> {
        Some(&self.tally).filter(|tally| !tally.is_empty())
    }

    pub(super) fn expect(&mut self, next: Option<NextEntry>, passed_over: Option<String>) {
        (self.tally.next, self.tally.passed_over) = (next, passed_over);
    }

    fn of(&mut self, source: SignalSource) -> &mut SourceTally {
        self.tally.by_source.entry(source.to_string()).or_default()
    }

    fn mend(&mut self, source: SignalSource, mended: &[String]) {
        let of_source =
            self.tally.by_source.get_mut(source.as_str()).and_then(|tally| tally.problem.as_mut());
        for problem in self.tally.problem.as_mut().into_iter().chain(of_source) {
            if mended.contains(problem) {
                problem.push_str(MENDED);
            }
        }
    }

    fn count(&mut self, source: SignalSource, decided: Option<Result<IntentId, Rule>>) -> SignalOutcome {
        self.tally.count(source.as_str(), decided.map(|decided| decided.map(|_| ())));
        match decided {
            Some(Ok(intent)) => SignalOutcome::Approved { intent },
            Some(Err(rule)) => SignalOutcome::Refused { rule: rule.as_str().to_owned() },
            None => SignalOutcome::Duplicate,
        }
    }
}

impl Coordinator {
    pub(super) fn on_signal(&mut self, id: OrderId, order: &SignalOrder, step: &mut Step<'_>) {
        if self.ending.is_stopping() || self.phase.is_over() {
            let problem = "the run is about to end".to_owned();
            return self.answer(id, ControlAnswer::Refused { problem }, step);
        }
        match signal_of(order, self.session.session(), step.now) {
            Err(problem) => {
                let reasons = BTreeMap::from([(problem.clone(), 1)]);
                let first_and_last = [problem.clone(), problem.clone()];
                self.on_signal_problem(order.source, (first_and_last, reasons), (1, 0), step);
                self.answer(id, ControlAnswer::Refused { problem }, step);
            }
            Ok((at, signal)) => {
                let name = (signal.bot, signal.source, signal.id);
                if self.session.session().knows_signal(&signal) || self.outside.waiting.contains_key(&name) {
                    let outcome = self.outside.count(order.source, None);
                    return self.answer(id, ControlAnswer::Signal { outcome }, step);
                }
                self.outside.waiting.insert(name, id);
                self.events.add(at, Place::Signal, EventKind::OutsideSignal(signal));
            }
        }
    }

    pub(super) fn answer_signal(
        &mut self,
        signal: &OutsideSignal,
        decided: Option<Result<IntentId, Rule>>,
        step: &mut Step<'_>,
    ) {
        let outcome = self.outside.count(signal.source, decided);
        if let Some(id) = self.outside.waiting.remove(&(signal.bot, signal.source, signal.id)) {
            self.answer(id, ControlAnswer::Signal { outcome }, step);
        }
    }

    pub(super) fn on_signal_problem(
        &mut self,
        source: SignalSource,
        ([first, last], reasons): ([String; 2], BTreeMap<String, u64>),
        (malformed, turned_away): (u64, u64),
        step: &mut Step<'_>,
    ) {
        let of_source = self.outside.of(source);
        of_source.malformed += malformed;
        of_source.turned_away += turned_away;
        of_source.problem = Some(last.clone());
        of_source.add_reasons(reasons);
        if malformed > 0 {
            *self.outside.tally.malformed.entry(source.to_string()).or_default() += malformed;
        }
        if self.outside.next_alarm.get(&source).is_none_or(|next| *next <= step.now) {
            self.outside.next_alarm.insert(source, step.now + ALARM_PACE);
            self.session.alarm(format!("what came as a signal ({source}) is none: {first}"), step);
        }
        self.outside.tally.problem = Some(last);
    }

    /// Journals the final tally. Duplicates and malformed signals appear in no other entry.
    pub(super) fn note_signals(&mut self, step: &mut Step<'_>) {
        if let Some(note) = self.outside.came().map(SignalTally::note) {
            self.session.journal.note(note, step);
        }
    }

    pub(super) fn on_signal_note(
        &mut self,
        source: SignalSource,
        text: &str,
        mended: Vec<String>,
        step: &mut Step<'_>,
    ) {
        self.outside.mend(source, &mended);
        if !mended.is_empty() {
            // Who saw that it was mended hears at once of the next fault.
            self.outside.next_alarm.remove(&source);
        }
        let text = format!("signals ({source}): {text}");
        self.session.journal.note(serde_json::json!({ "note": text }).to_string(), step);
        step.note(text, mended);
    }
}

fn signal_of(order: &SignalOrder, session: &Session, now: Millis) -> Result<(Millis, OutsideSignal), String> {
    let SignalOrder { direction, source, id, .. } = *order;
    let bot = BotId::new(bots_of(session).check(order, now)?).ok_or("there are too many bots")?;
    if id.is_empty() {
        return Err("it has no id: give each signal one of its own".to_owned());
    }
    let at = order.time.unwrap_or(now).min(now);
    let expires = order.expires_ms.map(|after| at + Millis::new(i64::from(after)));
    let expiry = order.close_type.zip(session.expiry_of(bot));
    let expiry = expiry.map(|(close_type, own)| Expiry { close_type, ..own });
    let reason = order.reason.unwrap_or(SignalReason::truncated(""));
    Ok((at, OutsideSignal { bot, direction, source, id, expires, expiry, reason }))
}

fn bots_of(session: &Session) -> SignalBots {
    let symbol = |place| session.symbol_of(BotId::new(place)?);
    let bots = session.bots().iter().enumerate();
    SignalBots::new(bots.map(|(place, name)| {
        let symbol = symbol(place).map(|symbol| symbol.to_string());
        (name.clone(), symbol.unwrap_or_default())
    }))
}
