//! Control orders to a run, the run's answers, and transport errors.

use super::{
    ApiState, Blockage, LateSeries, MarketState, NextEntry, SignalOrder, SignalOutcome, SignalTally,
    VenueApi, VenueHealth,
};
use crate::audit::{Audit, Tally};
use crate::skew::ClockEstimate;
use candlewick_broker::clock::Hold;
use candlewick_engine::{Halt, IntentId, ReloadTrigger, SettingsReload, SignalSource, VenueId};
use candlewick_journal::OrderToken;
use candlewick_sdk::{Millis, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Maximum length of a control order's JSON line in bytes, excluding the newline.
pub(super) const MAX_LINE_BYTES: usize = 4_096;
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for sending a signal. The run drops a signal whose sender has stopped waiting.
const SIGNAL_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlOrder {
    Halt {
        #[serde(default)]
        reason: String,
    },
    Resume,
    Reload {
        by: ReloadTrigger,
    },
    Status,
    Signal(SignalOrder),
    /// A signal source has sent malformed input. The run creates this order itself; clients never send it.
    #[serde(skip)]
    SignalProblem {
        source: SignalSource,
        /// First error message, without secrets. Later errors may be consequences of the first error.
        first: String,
        last: String,
        malformed: u64,
        turned_away: u64,
        reasons: BTreeMap<String, u64>,
    },
    #[serde(skip)]
    SignalNote {
        source: SignalSource,
        text: String,
        fixed: Vec<String>,
    },
    #[serde(skip)]
    SignalNext {
        next: Option<NextEntry>,
        passed_over: Option<String>,
    },
    /// Manually resolves an order of unknown status or a trade missing at the venue (see `domain 5.5` and `5.9`).
    Resolve {
        intent: IntentId,
        resolution: Resolution,
        #[serde(default)]
        reason: String,
    },
}

/// A control order as sent over the socket. The token prevents a second execution if a copy arrives by another route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OrderMessage {
    #[serde(flatten)]
    pub(super) order: ControlOrder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<OrderToken>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    Adopt(VenueId),
    NotOpened,
    Settled(Outcome),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum ControlAnswer {
    Done {
        state: Box<RunState>,
    },
    Signal {
        #[serde(flatten)]
        outcome: SignalOutcome,
    },
    Refused {
        problem: String,
    },
    VenueFailed {
        problem: String,
    },
    /// The run did not answer in time. The order may still be executed.
    Unanswered {
        problem: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    pub phase: Phase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halt: Option<Halt>,
    pub in_flight: usize,
    pub in_doubt: Vec<IntentId>,
    pub open: usize,
    pub at: Millis,
    /// Offset between the venue's clock and the local clock, `None` before the first response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockEstimate>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub audits: BTreeMap<Audit, Tally>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apis: Option<Box<VenueHealth>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reloaded: Option<Box<SettingsReload>>,
    /// Age at which data that is polled every minute counts as stale, in seconds of venue time.
    /// Only set if venue time runs faster than real time. Otherwise [`RunState::SILENT_AFTER`] applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_after_s: Option<NonZeroU32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Box<SignalTally>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub market: Option<Box<MarketState>>,
    /// State of each bot's trade gate, by bot name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<Box<BTreeMap<String, String>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<Blockage>,
    /// Whether risk rules block all bots, not counting brief blocks such as a wait for an open trade.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_blocked: bool,
}

impl RunState {
    /// Time after which an API with failing requests counts as silent, and minute-by-minute data as stale.
    pub const SILENT_AFTER: Millis = Millis::from_seconds(180);

    pub fn api_states(&self) -> &[ApiState] {
        self.apis.as_ref().map_or(&[], |health| &health.0)
    }

    pub fn is_silent(&self, api: VenueApi) -> bool {
        self.api_states().iter().any(|state| state.api == api && state.is_silent)
    }

    pub fn venue_problems(&self) -> Vec<String> {
        let late = self.market.iter().flat_map(|market| describe_late_series(&market.late));
        describe_silence(|api| self.is_silent(api)).into_iter().chain(late).collect()
    }
}

pub(crate) fn describe_silence(is_silent: impl Fn(VenueApi) -> bool) -> Option<String> {
    let silent: Vec<VenueApi> = VenueApi::ALL.into_iter().filter(|api| is_silent(*api)).collect();
    let name = match silent[..] {
        [] => return None,
        [api] => api.label(),
        _ => "the venue",
    };
    Some(format!("{name} does not answer"))
}

pub(crate) fn describe_late_series(late: &[LateSeries]) -> Vec<String> {
    const MAX_LISTED: usize = 3;
    let mut lines: Vec<String> = late.iter().take(MAX_LISTED).map(ToString::to_string).collect();
    if late.len() > MAX_LISTED {
        lines.push(format!("candles of {} more series are late", late.len() - MAX_LISTED));
    }
    lines
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    #[default]
    Trading,
    Halted,
    /// The run refuses signals until the journal is writable, the token is valid and the account may trade.
    Suspended,
    Stopping,
}

#[derive(Debug)]
pub struct ControlRequest {
    pub order: ControlOrder,
    pub token: Option<OrderToken>,
    /// Channel for the answer. The requester may have disconnected, so a failed send is not an error.
    pub answer: oneshot::Sender<ControlAnswer>,
    /// Stops a virtual clock until the run has received the order. Used for orders that are due at a fixed time.
    pub hold: Hold,
}

impl ControlRequest {
    pub const fn new(order: ControlOrder, answer: oneshot::Sender<ControlAnswer>) -> Self {
        Self { order, token: None, answer, hold: Hold::none() }
    }
}

impl ControlOrder {
    pub fn check_length(&self) -> Result<(), ControlError> {
        // The 64 bytes leave room for the token.
        let bytes = serde_json::to_vec(self).map_or(usize::MAX, |message| message.len().saturating_add(64));
        if bytes > MAX_LINE_BYTES {
            return Err(ControlError::ReasonTooLong { bytes, most: MAX_LINE_BYTES });
        }
        Ok(())
    }

    pub(super) async fn deliver(
        self,
        token: Option<OrderToken>,
        orders: &mpsc::Sender<ControlRequest>,
    ) -> ControlAnswer {
        let patience = if matches!(self, Self::Signal(_)) { SIGNAL_TIMEOUT } else { ANSWER_TIMEOUT };
        let (answer, answered) = oneshot::channel();
        let request = ControlRequest { token, ..ControlRequest::new(self, answer) };
        let delivered = async {
            orders.send(request).await.ok()?;
            answered.await.ok()
        };
        match tokio::time::timeout(patience, delivered).await {
            Ok(Some(answer)) => answer,
            Ok(None) => ControlAnswer::Unanswered { problem: "the run has ended or is stopping".to_owned() },
            Err(_) => {
                let seconds = patience.as_secs();
                ControlAnswer::Unanswered {
                    problem: format!("the run did not answer within {seconds} s. Run `candlewick status`"),
                }
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("no bot listens at {}", path.display())]
    NoBotListens { path: PathBuf },
    #[error("{} belongs to another user. Only the user who runs the bot can send it commands", path.display())]
    OtherOwner { path: PathBuf },
    #[error("another bot listens at {}. Stop it, or set control.socket", path.display())]
    SocketInUse { path: PathBuf },
    #[error("{} is not a socket. Move it away, or set control.socket", path.display())]
    NotASocket { path: PathBuf },
    #[error("the socket path {} is longer than {most} bytes. Set control.socket", path.display())]
    PathTooLong { path: PathBuf, most: usize },
    #[error("the socket {} cannot be created", path.display())]
    SocketNotMade { path: PathBuf, source: io::Error },
    /// The order was sent, but no answer arrived. The run may have accepted the order, so check its status.
    #[error("the bot at {} did not answer: {problem}", path.display())]
    TransportError { path: PathBuf, problem: String },
    #[error("the command has {bytes} bytes, but the limit is {most}. Shorten the reason")]
    ReasonTooLong { bytes: usize, most: usize },
    #[error("this system has no Unix sockets. Use the HALT file to halt a run")]
    NoSocketsHere,
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
    fn parses_orders_and_rejects_other_lines() {
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
    fn answers_round_trip() {
        let done = json!({"answer": "done", "state":
            {"phase": "halted", "reason": "news", "halt": {"at": 41_000, "reason": "news"}, "in_flight": 1, "in_doubt": [7], "open": 2, "at": 60_000,
             "gates": {"hook": "closed: 1 of 2 virtual losses in a row"},
             "clock": {"low_ms": -40, "high_ms": 60, "agreeing": 3, "outvoted": 1}, "audits": {"terms": {"checked": 5, "findings": 1}},
             "heard": 59_000, "troubles": ["the account is banned"], "all_blocked": true, "blocked":
                [{"rule": "Pause", "text": "pause until 00:02 UTC", "bots": ["hook"], "all": true, "until": 120_000, "brief": false}]}});
        let problem = |answer: &str| json!({"answer": answer, "problem": "no"});
        let read = [done, problem("refused"), problem("venue_failed")].map(|json| {
            let answer: ControlAnswer = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(to_value(&answer).unwrap(), json);
            answer
        });
        assert!(matches!(&read[1..], [ControlAnswer::Refused { .. }, ControlAnswer::VenueFailed { .. }]));
        let ControlAnswer::Done { state } = &read[0] else { panic!("{read:?}") };
        let clock = state.clock.as_ref().map(|clock| (clock.low.get(), clock.high.map(Millis::get)));
        assert_eq!((state.phase, clock), (Phase::Halted, Some((-40, Some(60)))));
        assert_eq!((state.in_flight, state.open, state.at), (1, 2, Millis::MINUTE));
        assert_eq!(state.audits[&Audit::Terms], Tally { checked: 5, findings: 1 });
    }

    fn is_unanswered(answer: &ControlAnswer, part: &str) -> bool {
        let json: Value = to_value(answer).unwrap();
        json["answer"] == "unanswered" && json["problem"].as_str().unwrap().contains(part)
    }

    #[tokio::test(start_paused = true)]
    async fn order_without_an_answer_is_unanswered() {
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
