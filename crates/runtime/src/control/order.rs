//! What is ordered, and what is answered.

use super::{ApiState, Blockage, LateSeries, MarketState, VenueApi, VenueHealth};
use super::{ControlError, NextEntry, SignalOrder, SignalOutcome, SignalTally};
use crate::audit::{Audit, Tally};
use crate::skew::ClockEstimate;
use candlewick_broker::clock::Hold;
use candlewick_engine::{Halt, IntentId, Reloaded, ReloadedBy, SignalSource, VenueId};
use candlewick_journal::OrderToken;
use candlewick_sdk::{Millis, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// The longest order, as a line of JSON without its end.
pub(super) const MAX_BYTES: usize = 4_096;
/// How long the run may take to answer an order.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// The same of a signal: one whose sender waits no longer is not carried out.
const SIGNAL_PATIENCE: Duration = Duration::from_secs(3);

/// What a person orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlOrder {
    /// Open nothing more until resumed; what is open is tracked on.
    Halt {
        /// Why, in the person's words.
        #[serde(default)]
        reason: String,
    },
    /// Opens are allowed again; peak and loss streak start anew.
    Resume,
    /// Read the settings again, and go on by them; what is open, in doubt or halted stays so.
    Reload {
        /// Who orders it.
        by: ReloadedBy,
    },
    /// Change nothing; say how the run stands.
    Status,
    /// A trade that somebody outside of the program asks for (`domain 4`).
    Signal(SignalOrder),
    /// A door was handed what is no signal: it is noted and counted. No message says so, only a door.
    #[serde(skip)]
    SignalProblem {
        /// By which door.
        source: SignalSource,
        /// What is wrong with the first of them, without what is secret: others may follow from it.
        first: String,
        /// The same of the last.
        last: String,
        /// How many were no signal since the door said so last.
        malformed: u64,
        /// How many were not looked at meanwhile, because too many came.
        turned_away: u64,
        /// Of those that were no signal, how many for each reason.
        reasons: BTreeMap<String, u64>,
    },
    /// What a door has to say that is no problem, such as that its list was read again: it is noted. No message says so either.
    #[serde(skip)]
    SignalNote {
        /// By which door.
        source: SignalSource,
        /// What happened.
        text: String,
        /// What the door said is wrong and no longer is.
        mended: Vec<String>,
    },
    /// What a door's list gives next, or that it gives nothing more: told to whoever asks for the status. No message says so either.
    #[serde(skip)]
    SignalNext {
        /// The entry.
        next: Option<NextEntry>,
        /// Which of its lines are passed over, and why the first, in words; none where all are taken.
        passed_over: Option<String>,
    },
    /// End a doubt that only a person can end (`domain 5.5`), or a trade that the venue no longer has (`domain 5.9`).
    Resolve {
        /// Which intent.
        intent: IntentId,
        /// What became of it.
        resolution: Resolution,
        /// How the person knows.
        #[serde(default)]
        reason: String,
    },
}

/// An order as it is sent: with the mark by which it is carried out once, if it may come another way as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MarkedOrder {
    #[serde(flatten)]
    pub(super) order: ControlOrder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<OrderToken>,
}

/// What a person found out about an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// It is this trade of the venue.
    Adopt(VenueId),
    /// The venue has no trade of it.
    NotOpened,
    /// It is a trade that the venue no longer has, and ended so.
    Settled(Outcome),
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum ControlAnswer {
    /// It is done, and journalled where it changes something.
    Done {
        /// How the run stands now.
        state: Box<RunState>,
    },
    /// A signal was taken, and this became of it.
    Signal {
        /// What.
        #[serde(flatten)]
        outcome: SignalOutcome,
    },
    /// It is not done.
    Refused {
        /// Why not, and what to do.
        problem: String,
    },
    /// It is not done: the venue has to say something first, and did not.
    VenueFailed {
        /// What was asked of it, and what came of that.
        problem: String,
    },
    /// The run has not answered in time: it may yet be done.
    Unanswered {
        /// What is known.
        problem: String,
    },
}

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    /// What it does with signals.
    pub phase: Phase,
    /// Why it is halted, suspended or stopping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The halt in force, whatever the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halt: Option<Halt>,
    /// Opens whose answers are awaited.
    pub in_flight: usize,
    /// Intents that may or may not be trades.
    pub in_doubt: Vec<IntentId>,
    /// Trades that have not settled.
    pub open: usize,
    /// Venue time.
    pub at: Millis,
    /// How far the venue's clock is ahead of the machine's; none before any answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockEstimate>,
    /// What was audited how often, and with how many findings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub audits: BTreeMap<Audit, Tally>,
    /// Venue time at which the venue last answered anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Millis>,
    /// How each API of the venue answers, `None` before the first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apis: Option<Box<VenueHealth>>,
    /// What stands between the run and its venue at present, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
    /// The last time that settings were read again in this run; none where those of its start are in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reloaded: Option<Box<Reloaded>>,
    /// After how many seconds of venue time what is read every minute is stale, where venue time runs faster than a person's; else
    /// [`RunState::SILENT_AFTER`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_after_s: Option<NonZeroU32>,
    /// Signals from outside since the run began; none where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Box<SignalTally>>,
    /// How the market's data come; none before any was due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub market: Option<Box<MarketState>>,
    /// How the gate of each bot that has one stands, in words, by the bots' names; none where no bot has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<Box<BTreeMap<String, String>>>,
    /// Risk rules that refuse every signal of some bots at present, besides a halt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<Blockage>,
    /// Whether no bot can open a trade for longer than an open trade lasts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_blocked: bool,
}

impl RunState {
    /// An API whose requests fail is silent if it has not answered for longer; what is read every minute is stale then.
    pub const SILENT_AFTER: Millis = Millis::from_seconds(180);

    /// Returns how each API of the venue answers; empty before the first answer.
    pub fn api_states(&self) -> &[ApiState] {
        self.apis.as_ref().map_or(&[], |health| &health.0)
    }

    /// Returns whether requests to an API fail and it has not answered for a while.
    pub fn is_silent(&self, api: VenueApi) -> bool {
        self.api_states().iter().any(|state| state.api == api && state.is_silent)
    }

    /// Describes what keeps the run from hearing its venue: silent APIs and late candles. Empty if it is healthy.
    pub fn venue_problems(&self) -> Vec<String> {
        let late = self.market.iter().flat_map(|market| describe_late(&market.late));
        silence(|api| self.is_silent(api)).into_iter().chain(late).collect()
    }
}

/// Names the silent APIs, the venue if both are.
pub(crate) fn silence(is_silent: impl Fn(VenueApi) -> bool) -> Option<String> {
    let silent: Vec<VenueApi> = VenueApi::ALL.into_iter().filter(|api| is_silent(*api)).collect();
    let name = match silent[..] {
        [] => return None,
        [api] => api.label(),
        _ => "the venue",
    };
    Some(format!("{name} does not answer"))
}

/// Describes late series, at most three by name.
pub(crate) fn describe_late(late: &[LateSeries]) -> Vec<String> {
    const MAX_NAMED: usize = 3;
    let mut lines: Vec<String> = late.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    if late.len() > MAX_NAMED {
        lines.push(format!("{} more series have no candle either", late.len() - MAX_NAMED));
    }
    lines
}

/// What a run does with signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// They become trades, as far as risk approves.
    Trading,
    /// They are refused until somebody resumes: a person or a rule halted them.
    Halted,
    /// They are refused until the journal can be written, the venue accepts the token and the account may trade.
    Suspended,
    /// They are refused, and the run ends once what is open has settled.
    Stopping,
}

/// An order on its way to the run, which answers it once.
#[derive(Debug)]
pub struct ControlRequest {
    /// What is ordered.
    pub order: ControlOrder,
    /// By which mark it is known when it comes another way as well.
    pub token: Option<OrderToken>,
    /// Where the answer goes. Whoever asked may have gone: a failed send is no error.
    pub answer: oneshot::Sender<ControlAnswer>,
    /// Keeps a virtual clock still until the run has the order, for one that belongs to a moment.
    pub hold: Hold,
}

impl ControlRequest {
    /// An order that comes one way only and belongs to no moment.
    pub const fn new(order: ControlOrder, answer: oneshot::Sender<ControlAnswer>) -> Self {
        Self { order, token: None, answer, hold: Hold::none() }
    }
}

impl ControlOrder {
    /// Whether it is short enough to be taken.
    ///
    /// # Errors
    /// [`ControlError::ReasonTooLong`] when it is not.
    pub fn check_length(&self) -> Result<(), ControlError> {
        // Room for the mark.
        let bytes = serde_json::to_vec(self).map_or(usize::MAX, |message| message.len().saturating_add(64));
        if bytes > MAX_BYTES {
            return Err(ControlError::ReasonTooLong { bytes, most: MAX_BYTES });
        }
        Ok(())
    }

    /// Hands the order to the run and waits for its answer, within a deadline.
    pub(super) async fn deliver(
        self,
        token: Option<OrderToken>,
        orders: &mpsc::Sender<ControlRequest>,
    ) -> ControlAnswer {
        let patience = if matches!(self, Self::Signal(_)) { SIGNAL_PATIENCE } else { ANSWER_PATIENCE };
        let (answer, answered) = oneshot::channel();
        let request = ControlRequest { token, ..ControlRequest::new(self, answer) };
        let delivered = async {
            orders.send(request).await.ok()?;
            answered.await.ok()
        };
        match tokio::time::timeout(patience, delivered).await {
            Ok(Some(answer)) => answer,
            Ok(None) => ControlAnswer::Unanswered { problem: "the run has ended, or is about to".to_owned() },
            Err(_) => {
                let seconds = patience.as_secs();
                ControlAnswer::Unanswered {
                    problem: format!("the run has not answered within {seconds} s; ask for its status"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_str, json, to_value};

    fn check(text: &str, expected: Option<&ControlOrder>) {
        assert_eq!(from_str(text).ok().as_ref(), expected, "{text}");
    }

    fn resolve(resolution: Resolution) -> ControlOrder {
        ControlOrder::Resolve { intent: IntentId::new(7), resolution, reason: "seen".to_owned() }
    }

    #[test]
    fn orders_are_lines_of_json_and_nothing_else_is_one() {
        check(r#"{"order":"halt","reason":"news"}"#, Some(&ControlOrder::Halt { reason: "news".to_owned() }));
        check(r#"{"order":"halt"}"#, Some(&ControlOrder::Halt { reason: String::new() }));
        check(r#" {"order" : "resume"} "#, Some(&ControlOrder::Resume));
        check(r#"{"order":"status"}"#, Some(&ControlOrder::Status));
        let adopt = Resolution::Adopt(VenueId::new("01JT").unwrap());
        let text = r#"{"order":"resolve","intent":7,"resolution":{"adopt":"01JT"},"reason":"seen"}"#;
        check(text, Some(&resolve(adopt)));
        let text = r#"{"order":"resolve","intent":7,"resolution":"not_opened","reason":"seen"}"#;
        check(text, Some(&resolve(Resolution::NotOpened)));
        let text = r#"{"order":"resolve","intent":7,"resolution":{"settled":"LOST"},"reason":"seen"}"#;
        check(text, Some(&resolve(Resolution::Settled(Outcome::Lost))));
        for text in [
            "",
            "halt",
            r#"{"order":"open"}"#,
            r#"{"order":"halt","because":"news"}"#,
            r#"{"order":"resolve","intent":7}"#,
            r#"{"order":"resolve","intent":-7,"resolution":"not_opened"}"#,
            r#"{"order":"status"}{"order":"resume"}"#,
        ] {
            check(text, None);
        }
    }

    #[test]
    fn answers_are_read_as_they_are_written() {
        let state = RunState {
            phase: Phase::Halted,
            reason: Some("news".to_owned()),
            halt: Some(Halt { at: Some(Millis::new(41_000)), reason: "news".to_owned() }),
            in_flight: 1,
            in_doubt: vec![IntentId::new(7)],
            open: 2,
            at: Millis::MINUTE,
            clock: Some(ClockEstimate {
                low: Millis::new(-40),
                high: Some(Millis::new(60)),
                agreeing: 3,
                outvoted: 1,
            }),
            audits: [(Audit::Terms, Tally { checked: 5, findings: 1 })].into(),
            heard: Some(Millis::new(59_000)),
            apis: None,
            troubles: vec!["the account is banned".to_owned()],
            reloaded: None,
            stale_after_s: None,
            signals: None,
            market: None,
            gates: Some(Box::new(BTreeMap::from([(
                "hook".to_owned(),
                "closed: 1 of 2 virtual losses in a row".to_owned(),
            )]))),
            blocked: vec![Blockage {
                rule: "Pause".to_owned(),
                text: "pause until 00:02 UTC".to_owned(),
                bots: vec!["hook".to_owned()],
                all: true,
                until: Some(Millis::new(120_000)),
                brief: false,
            }],
            all_blocked: true,
        };
        let json = json!({"answer": "done", "state":
            {"phase": "halted", "reason": "news", "halt": {"at": 41_000, "reason": "news"}, "in_flight": 1, "in_doubt": [7], "open": 2, "at": 60_000,
             "gates": {"hook": "closed: 1 of 2 virtual losses in a row"},
             "clock": {"low_ms": -40, "high_ms": 60, "agreeing": 3, "outvoted": 1}, "audits": {"terms": {"checked": 5, "findings": 1}},
             "heard": 59_000, "troubles": ["the account is banned"], "all_blocked": true, "blocked":
                [{"rule": "Pause", "text": "pause until 00:02 UTC", "bots": ["hook"], "all": true, "until": 120_000, "brief": false}]}});
        let problem = || "no".to_owned();
        for (answer, json) in [
            (ControlAnswer::Done { state: Box::new(state) }, json),
            (ControlAnswer::Refused { problem: problem() }, json!({"answer": "refused", "problem": "no"})),
            (
                ControlAnswer::VenueFailed { problem: problem() },
                json!({"answer": "venue_failed", "problem": "no"}),
            ),
        ] {
            assert_eq!(to_value(&answer).ok().as_ref(), Some(&json));
            assert_eq!(serde_json::from_value::<ControlAnswer>(json).ok(), Some(answer));
        }
    }

    fn is_unanswered(answer: &ControlAnswer, part: &str) -> bool {
        let json: Value = to_value(answer).unwrap();
        json["answer"] == "unanswered" && json["problem"].as_str().unwrap().contains(part)
    }

    #[tokio::test(start_paused = true)]
    async fn an_order_that_the_run_does_not_answer_is_neither_done_nor_refused() {
        let (orders, mut taken) = mpsc::channel(1);
        let silent = ControlOrder::Status.deliver(None, &orders).await;
        assert!(is_unanswered(&silent, "within 10 s"), "{silent:?}");
        let request = taken.recv().await.unwrap();
        assert!(request.answer.is_closed());
        drop(taken);
        let ended = ControlOrder::Status.deliver(None, &orders).await;
        assert!(is_unanswered(&ended, "has ended"), "{ended:?}");
    }
}
