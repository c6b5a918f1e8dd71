//! Executes control orders.

use super::Coordinator;
use super::believed::counted;
use super::command::{Ask, Command, Step};
use super::doubts::PersonsVerdict;
use super::input::{OrderId, RequestId};
use super::journal_state::Urgency;
use crate::RuntimeError;
use crate::adoption::check_adoption;
use crate::control::{ControlAnswer, ControlOrder, Resolution};
use candlewick_broker::{BrokerError, TradeReport};
use candlewick_engine::{IntentId, VenueId};
use std::collections::BTreeMap;
use std::error::Error;

#[derive(Debug, Default)]
pub(crate) struct Claims(BTreeMap<OrderId, Claim>);

#[derive(Debug)]
struct Claim {
    intent: IntentId,
    venue_id: VenueId,
    reason: String,
}

impl Coordinator {
    pub(super) fn on_order(&mut self, id: OrderId, order: ControlOrder, step: &mut Step<'_>) {
        let answer = match order {
            ControlOrder::Halt { reason } => {
                self.begin_halt(reason, step);
                self.done(step)
            }
            ControlOrder::Resume if self.ending.is_stopping() => {
                ControlAnswer::Refused { problem: "the run is about to end".to_owned() }
            }
            ControlOrder::Resume if self.contradictions.needs_restart => ControlAnswer::Refused {
                problem: "a corrected result is applied by a restart only: stop the bot and start it again"
                    .to_owned(),
            },
            ControlOrder::Resume => {
                self.session.end_halt();
                self.resume(step);
                self.override_restrictions(step);
                step.log_warning("resumed: drawdown peak and loss streak are reset");
                self.done(step)
            }
            ControlOrder::Reload { by } => match self.ask_settings(id, by, step) {
                Ok(()) => return,
                Err(problem) => {
                    step.warn(format!("the settings stay as they were: {problem}"));
                    ControlAnswer::Refused { problem }
                }
            },
            ControlOrder::Status => self.done(step),
            ControlOrder::Signal(order) => return self.on_signal(id, &order, step),
            ControlOrder::SignalProblem { source, first, last, malformed, turned_away, reasons } => {
                self.on_signal_problem(source, ([first, last], reasons), (malformed, turned_away), step);
                self.done(step)
            }
            ControlOrder::SignalNote { source, text, mended } => {
                self.on_signal_note(source, &text, mended, step);
                self.done(step)
            }
            ControlOrder::SignalNext { next, passed_over } => {
                self.outside.expect(next, passed_over);
                self.done(step)
            }
            ControlOrder::Resolve { intent, resolution: Resolution::Adopt(venue_id), reason } => {
                if self.session.terms(intent).is_some() {
                    return self.ask_named_trade(id, Claim { intent, venue_id, reason }, step);
                }
                ControlAnswer::Refused { problem: format!("unknown trade #{intent}") }
            }
            ControlOrder::Resolve { intent, resolution: Resolution::NotOpened, reason } => {
                self.end_doubt(intent, &PersonsVerdict::NotOpened, &reason, step)
            }
            ControlOrder::Resolve { intent, resolution: Resolution::Settled(outcome), reason } => {
                match self.settle_by_person(intent, outcome, &reason, step) {
                    Ok(()) => self.done(step),
                    Err(problem) => ControlAnswer::Refused { problem },
                }
            }
        };
        self.answer(id, answer, step);
    }

    /// Answers an order. Orders from the journal are answered there, so it is saved immediately.
    pub(super) fn answer(&mut self, id: OrderId, answer: ControlAnswer, step: &mut Step<'_>) {
        step.commands.push(Command::AnswerOrder(id, answer));
        self.save(Urgency::Now, step);
    }

    fn ask_named_trade(&mut self, id: OrderId, claim: Claim, step: &mut Step<'_>) {
        self.requests.begin(RequestId::NamedTrade(id));
        step.ask(Ask::NamedTrade(id, claim.intent, claim.venue_id.as_str().to_owned()));
        self.claims.0.insert(id, claim);
    }

    pub(super) fn on_named_trade(
        &mut self,
        id: OrderId,
        answer: Result<TradeReport, BrokerError>,
        step: &mut Step<'_>,
    ) {
        let Some(Claim { intent, venue_id, reason }) = self.claims.0.remove(&id) else { return };
        let Some(terms) = self.session.terms(intent) else { return };
        let may_have_taken =
            |report: &TradeReport| self.doubts.may_have_taken(intent, report, self.skew.uncertainty());
        let order = self.session.order_of(&terms);
        let answer = answer.map(|report| counted(report, self.session.scale()));
        let checked = check_adoption(&order, venue_id.as_str(), answer, may_have_taken);
        let answer = match checked {
            Ok(report) => self.end_doubt(intent, &PersonsVerdict::Adopt(Box::new(report)), &reason, step),
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

    fn end_doubt(
        &mut self,
        intent: IntentId,
        verdict: &PersonsVerdict,
        reason: &str,
        step: &mut Step<'_>,
    ) -> ControlAnswer {
        match self.decide_doubt(intent, verdict, step) {
            Ok(()) => {
                let text = format!("the operator resolved trade #{intent}: {reason}");
                self.session.alarm(text, step);
                // The answer says how it stands after that.
                self.dispatch_due(step);
                self.done(step)
            }
            Err(problem) => ControlAnswer::Refused { problem },
        }
    }
}
