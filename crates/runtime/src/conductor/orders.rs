//! What people order of a running bot.

use super::Conductor;
use super::doubt::Verdict;
use crate::control::{ControlAnswer, ControlOrder, ControlRequest, Phase, Resolution, RunState};
use crate::request::{self, Adoption, Asked, Claim};
use candlewick_engine::{Control, EventKind, IntentId, IntentState};
use std::error::Error;
use std::sync::Arc;

impl Conductor {
    /// Carries out an order and answers it.
    pub(super) fn obey(&mut self, request: ControlRequest) {
        let answer = match request.order {
            ControlOrder::Halt { reason } => {
                if self.halted.is_none() {
                    self.tell(self.clock.now(), EventKind::Control { control: Control::Halt });
                    self.alarm(&format!("halted: {reason}"));
                }
                self.halted = Some(reason);
                self.done()
            }
            ControlOrder::Resume if self.stopping.is_some() => {
                ControlAnswer::Refused { problem: "the run is about to end".to_owned() }
            }
            ControlOrder::Resume => {
                self.halted = None;
                self.tell(self.clock.now(), EventKind::Control { control: Control::Resume });
                self.warn("resumed: peak and loss streak start anew");
                self.done()
            }
            ControlOrder::Status => self.done(),
            ControlOrder::Resolve { intent, resolution: Resolution::Adopt(venue_id), reason } => {
                let claim = Claim { intent, venue_id, reason, answer: request.answer };
                // Answered when the venue has said what it knows of that trade.
                return self.ask_adoption(claim);
            }
            ControlOrder::Resolve { intent, resolution: Resolution::NotOpened, reason } => {
                self.end_doubt(intent, Verdict::NotOpened, &reason)
            }
        };
        // Whoever asked may have gone.
        drop(request.answer.send(answer));
    }

    /// Whether the venue has the trade that a person names, and what it is.
    fn ask_adoption(&mut self, claim: Claim) {
        let Some(approved) = self.book.row(claim.intent).map(|row| row.approved) else {
            let problem = format!("there is no intent {}", claim.intent);
            // Whoever asked may have gone.
            return drop(claim.answer.send(ControlAnswer::Refused { problem }));
        };
        let (venue, order) = (Arc::clone(&self.venue), self.order_of(&approved));
        let user_id = self.account.user_id.clone();
        self.ask(Asked::Adoption(claim.intent), request::confirm(venue, order, (claim, user_id)));
    }

    /// What the venue does not have is adopted by nobody: the doubt goes on.
    pub(super) fn hear_adoption(&mut self, adoption: Option<Adoption>) {
        let Some(Adoption { claim, confirmed }) = adoption else { return };
        let Claim { intent, reason, answer, .. } = claim;
        let answered = match confirmed {
            Ok(record) => self.end_doubt(intent, Verdict::Adopt(Box::new(record)), &reason),
            Err(error) => {
                let cause = error.source().map_or(String::new(), |cause| format!(" ({cause})"));
                ControlAnswer::Refused { problem: format!("{error}{cause}; nothing has changed") }
            }
        };
        drop(answer.send(answered));
    }

    fn end_doubt(&mut self, intent: IntentId, verdict: Verdict, reason: &str) -> ControlAnswer {
        match self.decide_doubt(intent, verdict) {
            Ok(()) => {
                self.alarm(&format!("a person ended the doubt of intent {intent}: {reason}"));
                // The answer says how it stands after that.
                self.tell_due();
                self.done()
            }
            Err(problem) => ControlAnswer::Refused { problem },
        }
    }

    fn done(&self) -> ControlAnswer {
        let in_state = |state| {
            let rows = self.book.rows().iter().filter(move |row| row.state == state);
            rows.map(|row| row.approved.intent())
        };
        let phase = match (&self.stopping, &self.halted) {
            (Some(_), _) => Phase::Stopping,
            (None, Some(_)) => Phase::Halted,
            (None, None) if self.suspended => Phase::Halted,
            (None, None) => Phase::Trading,
        };
        ControlAnswer::Done {
            state: RunState {
                phase,
                reason: self.halted.clone(),
                in_flight: in_state(IntentState::InFlight).count(),
                in_doubt: in_state(IntentState::InDoubt).collect(),
                open: in_state(IntentState::Open).count(),
                at: self.clock.now(),
                clock: self.skew.estimate(),
                audits: self.audits.tallies(),
            },
        }
    }
}
