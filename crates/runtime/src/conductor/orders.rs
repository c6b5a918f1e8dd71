//! What people order of a running bot.

use super::Conductor;
use crate::control::{ControlAnswer, ControlOrder, ControlRequest, Phase, Resolution, RunState};
use crate::resolver::Decision;
use candlewick_engine::{Control, EventKind, IntentState};

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
            ControlOrder::Resolve { intent, resolution, reason } => {
                let decision = match resolution {
                    Resolution::Adopt(venue_id) => Decision::Adopt { venue_id: venue_id.as_str().to_owned() },
                    Resolution::NotOpened => Decision::NotOpened,
                };
                match self.decide_doubt(intent, decision) {
                    Ok(()) => {
                        self.alarm(&format!("a person ended the doubt of intent {intent}: {reason}"));
                        self.done()
                    }
                    Err(problem) => ControlAnswer::Refused { problem },
                }
            }
        };
        // Whoever asked may have gone.
        drop(request.answer.send(answer));
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
