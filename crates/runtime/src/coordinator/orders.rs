//! Executes operator commands (halt, resume, reload, resolution of orders in doubt) and external signals.

use super::Coordinator;
use super::agenda::EventRank;
use super::command::{Command, ControlOrderId, ReadRequest, Step};
use super::journal_state::Urgency;
use super::plausibility::with_rounded_amount;
use crate::RuntimeError;
use crate::adoption::check_report;
use crate::control::{
    ControlAnswer, ControlOrder, Resolution, SignalBots, SignalOrder, SignalOutcome, SignalTally, SourceTally,
};
use crate::reload::{NewSettings, ReloadInput};
use candlewick_broker::{BrokerError, TradeReport};
use candlewick_engine::{
    BotId, Control, EventKind, IntentId, OutsideSignal, ReloadNote, ReloadTrigger, Rule, Session, SignalId,
    SignalReason, SignalSource, VenueId,
};
use candlewick_sdk::{Expiry, Millis};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;

#[derive(Debug)]
pub(super) struct AdoptionRequest {
    intent: IntentId,
    venue_id: VenueId,
    reason: String,
}

impl Coordinator {
    pub(super) fn on_order(&mut self, id: ControlOrderId, order: ControlOrder, step: &mut Step<'_>) {
        let answer = match order {
            ControlOrder::Halt { reason } => {
                self.begin_halt(reason, step);
                self.answer_with_state(step)
            }
            ControlOrder::Resume if self.ending.is_stopping() => {
                ControlAnswer::Refused { problem: "the run is stopping".to_owned() }
            }
            ControlOrder::Resume if self.contradictions.needs_restart => ControlAnswer::Refused {
                problem: "a corrected result takes effect only after a restart. Restart the bot".to_owned(),
            },
            ControlOrder::Resume => {
                self.session.halt = None;
                self.resume(step);
                self.override_restrictions(step);
                step.log_warning("the run has resumed. Its drawdown peak and loss streak were reset");
                self.answer_with_state(step)
            }
            ControlOrder::Reload { by } => match self.request_settings(id, by, step) {
                Ok(()) => return,
                Err(problem) => {
                    step.warn(format!("the settings were not reloaded: {problem}"));
                    ControlAnswer::Refused { problem }
                }
            },
            ControlOrder::Status => self.answer_with_state(step),
            ControlOrder::Signal(order) => return self.on_signal(id, &order, step),
            ControlOrder::SignalProblem { source, first, last, malformed, turned_away, reasons } => {
                self.on_signal_problem(source, ([first, last], reasons), (malformed, turned_away), step);
                self.answer_with_state(step)
            }
            ControlOrder::SignalNote { source, text, fixed } => {
                self.on_signal_note(source, &text, fixed, step);
                self.answer_with_state(step)
            }
            ControlOrder::SignalNext { next, passed_over } => {
                (self.outside.tally.next, self.outside.tally.passed_over) = (next, passed_over);
                self.answer_with_state(step)
            }
            ControlOrder::Resolve { intent, resolution: Resolution::Adopt(venue_id), reason } => {
                if self.session.terms(intent).is_some() {
                    return self.request_trade_to_adopt(
                        id,
                        AdoptionRequest { intent, venue_id, reason },
                        step,
                    );
                }
                ControlAnswer::Refused { problem: format!("unknown trade #{intent}") }
            }
            ControlOrder::Resolve { intent, resolution: Resolution::NotOpened, reason } => {
                self.resolve_doubt(intent, None, &reason, step)
            }
            ControlOrder::Resolve { intent, resolution: Resolution::Settled(outcome), reason } => {
                match self.settle_manually(intent, outcome, &reason, step) {
                    Ok(()) => self.answer_with_state(step),
                    Err(problem) => ControlAnswer::Refused { problem },
                }
            }
        };
        self.answer(id, answer, step);
    }

    /// Answers an operator command, and saves the journal immediately to make the effects of the command durable.
    pub(super) fn answer(&mut self, id: ControlOrderId, answer: ControlAnswer, step: &mut Step<'_>) {
        step.commands.push(Command::AnswerOrder(id, answer));
        self.save(Urgency::Now, step);
    }

    fn request_trade_to_adopt(&mut self, id: ControlOrderId, claim: AdoptionRequest, step: &mut Step<'_>) {
        self.request(ReadRequest::TradeToAdopt(id, claim.intent, claim.venue_id.as_str().to_owned()), step);
        self.claims.insert(id, claim);
    }

    pub(super) fn on_trade_to_adopt(
        &mut self,
        id: ControlOrderId,
        answer: Result<TradeReport, BrokerError>,
        step: &mut Step<'_>,
    ) {
        let Some(AdoptionRequest { intent, venue_id, reason }) = self.claims.remove(&id) else { return };
        let Some(terms) = self.session.terms(intent) else { return };
        let may_have_other_terms = |report: &TradeReport| {
            self.doubts.resolver.may_have_other_terms(intent, report, self.clock_uncertainty())
        };
        let order = self.session.to_trade_order(&terms);
        let answer = answer.map(|report| with_rounded_amount(report, self.session.scale()));
        let checked = check_report(&order, venue_id.as_str(), answer, may_have_other_terms);
        let answer = match checked {
            Ok(report) => self.resolve_doubt(intent, Some(&report), &reason, step),
            Err(error) => {
                let cause = error.source().map_or(String::new(), |cause| format!(" ({cause})"));
                let problem = format!("{error}{cause}; nothing has changed");
                match error {
                    RuntimeError::Venue { .. } => ControlAnswer::VenueFailed { problem },
                    _ => ControlAnswer::Refused { problem },
                }
            }
        };
        self.answer(id, answer, step);
    }

    fn resolve_doubt(
        &mut self,
        intent: IntentId,
        trade: Option<&TradeReport>,
        reason: &str,
        step: &mut Step<'_>,
    ) -> ControlAnswer {
        match self.resolve_manually(intent, trade, step) {
            Ok(()) => {
                self.session.alarm(format!("the operator resolved trade #{intent}: {reason}"), step);
                // Pending events are processed first, so that the answer contains the resulting state.
                self.dispatch_events(step);
                self.answer_with_state(step)
            }
            Err(problem) => ControlAnswer::Refused { problem },
        }
    }
}

const MAX_PROBLEM_CHARS: usize = 2_000;

impl Coordinator {
    fn request_settings(
        &mut self,
        id: ControlOrderId,
        by: ReloadTrigger,
        step: &mut Step<'_>,
    ) -> Result<(), String> {
        if self.ending.is_stopping() {
            return Err("the run is stopping".to_owned());
        }
        if self.reloading.is_some() {
            // If two reads ran at the same time, the older settings could be applied last.
            return Err("another reload is in progress. Try again later".to_owned());
        }
        self.reloading = Some((id, by));
        let forgotten = self.session.forgotten.total;
        let standing = ReloadInput {
            forgotten_trades: forgotten,
            ..ReloadInput::new(self.session.session(), self.session.book())
        };
        self.request(ReadRequest::Settings(Box::new(standing)), step);
        Ok(())
    }

    /// Applies new settings. If the settings are invalid, nothing changes.
    pub(super) fn on_settings(&mut self, read: Result<Box<NewSettings>, String>, step: &mut Step<'_>) {
        let Some((id, by)) = self.reloading.take() else { return };
        let answer = match read.and_then(|new| self.reload(*new, by, step)) {
            Ok(()) => self.answer_with_state(step),
            Err(problem) => {
                let problem: String = problem.chars().take(MAX_PROBLEM_CHARS).collect();
                let lines: Vec<&str> = problem.lines().map(str::trim).collect();
                step.warn(format!("the settings were not reloaded: {}", lines.join("; ")));
                ControlAnswer::Refused { problem }
            }
        };
        self.answer(id, answer, step);
    }

    fn reload(&mut self, new: NewSettings, by: ReloadTrigger, step: &mut Step<'_>) -> Result<(), String> {
        if self.ending.is_stopping() {
            return Err("the run is stopping".to_owned());
        }
        let mut settings = self.settings.clone();
        settings.apply_reloadable(&new.runtime);
        let runtime = serde_json::to_value(&settings).map_err(|error| error.to_string())?;
        let risk = serde_json::to_value(&new.risk).map_err(|error| error.to_string())?;
        let of_header = |pointer: &str| self.header.settings.pointer(pointer).cloned().unwrap_or_default();
        let before = json!({ "risk": of_header("/session/risk"), "runtime": of_header("/runtime") });
        let note = ReloadNote::new((step.now, by), new.risk, runtime.clone(), &before);
        let mut note = note.map_err(|error| error.to_string())?;
        note.reloaded.changes.extend(new.unreloaded_inputs);
        self.session.prepare_reload(&note, step)?;
        self.apply_control(Control::Reload, step);
        self.ending.set_patience(&settings);
        self.settings = settings;
        // The next reload compares its settings with these.
        if let Some(session) = self.header.settings.get_mut("session").and_then(Value::as_object_mut) {
            session.insert("risk".to_owned(), risk);
        }
        if let Some(header) = self.header.settings.as_object_mut() {
            header.insert("runtime".to_owned(), runtime);
        }
        let changes = &note.reloaded.changes;
        let summary = if changes.is_empty() { "nothing has changed".to_owned() } else { changes.join("; ") };
        step.warn(format!("settings reloaded by {by}: {summary}"));
        self.reloaded = Some(note.reloaded);
        Ok(())
    }
}

const SIGNAL_ALARM_INTERVAL: Millis = Millis::MINUTE;
const FIX_NOTE: &str = "; fixed by a later reload";

#[derive(Debug, Default)]
pub(crate) struct ExternalSignals {
    tally: SignalTally,
    waiting: BTreeMap<(BotId, SignalSource, SignalId), ControlOrderId>,
    next_alarm: BTreeMap<SignalSource, Millis>,
}

impl ExternalSignals {
    pub(crate) fn tally(&self) -> Option<Box<SignalTally>> {
        (self.tally != SignalTally::default()).then(|| Box::new(self.tally.clone()))
    }

    pub(super) fn signal_tally(&self) -> Option<&SignalTally> {
        Some(&self.tally).filter(|tally| !tally.is_empty())
    }

    fn source_tally(&mut self, source: SignalSource) -> &mut SourceTally {
        self.tally.by_source.entry(source.to_string()).or_default()
    }

    fn mark_problems_fixed(&mut self, source: SignalSource, fixed: &[String]) {
        let of_source = self.tally.by_source.get_mut(source.as_str()).and_then(|one| one.problem.as_mut());
        for problem in self.tally.problem.as_mut().into_iter().chain(of_source) {
            if fixed.contains(problem) {
                problem.push_str(FIX_NOTE);
            }
        }
    }

    fn record_signal(&mut self, from: SignalSource, result: Option<Result<IntentId, Rule>>) -> SignalOutcome {
        self.tally.count(from.as_str(), result.map(|result| result.map(|_| ())));
        match result {
            Some(Ok(intent)) => SignalOutcome::Approved { intent },
            Some(Err(rule)) => SignalOutcome::Refused { rule: rule.as_str().to_owned() },
            None => SignalOutcome::Duplicate,
        }
    }
}

impl Coordinator {
    fn on_signal(&mut self, id: ControlOrderId, order: &SignalOrder, step: &mut Step<'_>) {
        if self.ending.is_stopping() || self.phase.is_over() {
            let problem = "the run is stopping".to_owned();
            return self.answer(id, ControlAnswer::Refused { problem }, step);
        }
        match to_outside_signal(order, self.session.session(), step.now) {
            Err(problem) => {
                let reasons = BTreeMap::from([(problem.clone(), 1)]);
                let first_and_last = [problem.clone(), problem.clone()];
                self.on_signal_problem(order.source, (first_and_last, reasons), (1, 0), step);
                self.answer(id, ControlAnswer::Refused { problem }, step);
            }
            Ok((at, signal)) => {
                let name = (signal.bot, signal.source, signal.id);
                if self.session.session().knows_signal(&signal) || self.outside.waiting.contains_key(&name) {
                    let outcome = self.outside.record_signal(order.source, None);
                    return self.answer(id, ControlAnswer::Signal { outcome }, step);
                }
                self.outside.waiting.insert(name, id);
                self.events.add(at, EventRank::Signal, EventKind::OutsideSignal(signal));
            }
        }
    }

    pub(super) fn answer_signal(
        &mut self,
        signal: &OutsideSignal,
        decided: Option<Result<IntentId, Rule>>,
        step: &mut Step<'_>,
    ) {
        let outcome = self.outside.record_signal(signal.source, decided);
        if let Some(id) = self.outside.waiting.remove(&(signal.bot, signal.source, signal.id)) {
            self.answer(id, ControlAnswer::Signal { outcome }, step);
        }
    }

    fn on_signal_problem(
        &mut self,
        source: SignalSource,
        ([first, last], reasons): ([String; 2], BTreeMap<String, u64>),
        (malformed, turned_away): (u64, u64),
        step: &mut Step<'_>,
    ) {
        let of_source = self.outside.source_tally(source);
        of_source.malformed += malformed;
        of_source.turned_away += turned_away;
        of_source.problem = Some(last.clone());
        of_source.add_reasons(reasons);
        if malformed > 0 {
            *self.outside.tally.malformed.entry(source.to_string()).or_default() += malformed;
        }
        if self.outside.next_alarm.get(&source).is_none_or(|next| *next <= step.now) {
            self.outside.next_alarm.insert(source, step.now + SIGNAL_ALARM_INTERVAL);
            self.session.alarm(format!("invalid signal ({source}): {first}"), step);
        }
        self.outside.tally.problem = Some(last);
    }

    /// Journals the final signal counts, because no other entry counts duplicate and malformed signals.
    pub(super) fn journal_signal_counts(&mut self, step: &mut Step<'_>) {
        if let Some(note) = self.outside.signal_tally().map(SignalTally::to_note) {
            self.session.journal.note(note, step);
        }
    }

    fn on_signal_note(&mut self, source: SignalSource, text: &str, fixed: Vec<String>, step: &mut Step<'_>) {
        self.outside.mark_problems_fixed(source, &fixed);
        if !fixed.is_empty() {
            // The problem is fixed, so the next problem of this source raises an alarm immediately.
            self.outside.next_alarm.remove(&source);
        }
        let text = format!("signals ({source}): {text}");
        self.session.journal.note(serde_json::json!({ "note": text }).to_string(), step);
        step.note(text, fixed);
    }
}

fn to_outside_signal(
    order: &SignalOrder,
    session: &Session,
    now: Millis,
) -> Result<(Millis, OutsideSignal), String> {
    let SignalOrder { direction, source, id, .. } = *order;
    let bot = BotId::new(signal_bots(session).check(order, now)?).ok_or("a run has at most 65,535 bots")?;
    if id.is_empty() {
        return Err("the signal has no id. Give each signal a unique id".to_owned());
    }
    let at = order.time.unwrap_or(now).min(now);
    let expires = order.expires_ms.map(|after| at + Millis::new(i64::from(after)));
    let expiry = order.close_type.zip(session.expiry_of(bot));
    let expiry = expiry.map(|(close_type, own)| Expiry { close_type, ..own });
    let reason = order.reason.unwrap_or(SignalReason::truncated(""));
    Ok((at, OutsideSignal { bot, direction, source, id, expires, expiry, reason }))
}

fn signal_bots(session: &Session) -> SignalBots {
    let symbol = |place| session.symbol_of(BotId::new(place)?);
    let bots = session.bot_names().iter().enumerate();
    SignalBots::new(bots.map(|(place, name)| {
        let symbol = symbol(place).map(|symbol| symbol.to_string());
        (name.clone(), symbol.unwrap_or_default())
    }))
}
