//! A signal from outside, as it is handed to a run, and what becomes of it.

use super::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_broker::clock::Hold;
use candlewick_engine::{IntentId, Rule, SignalId, SignalReason, SignalSource};
use candlewick_sdk::{CloseType, Direction, Millis};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tokio::sync::{mpsc, oneshot};

/// A trade that somebody outside of the program asks of a bot. It names its bot, or the symbol of exactly one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignalOrder {
    /// The bot's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<String>,
    /// The symbol, which has to be the bot's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Up or down.
    pub direction: Direction,
    /// By which door it comes.
    pub source: SignalSource,
    /// What its sender calls it: a second one of this name is dropped.
    pub id: SignalId,
    /// Venue time at which it was given; that of its arrival where it says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Millis>,
    /// After how long it is late, where that is before the rule says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u32>,
    /// A duration that replaces the bot's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_type: Option<CloseType>,
    /// Why, in the sender's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SignalReason>,
}

/// What became of a signal that was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum SignalOutcome {
    /// Risk approved it: its trade is on its way.
    Approved {
        /// As this intent.
        intent: IntentId,
    },
    /// A rule refused it.
    Refused {
        /// Which.
        rule: String,
    },
    /// One of this bot, source and name was taken before: it is dropped.
    Duplicate,
}

/// What a list gives next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextEntry {
    /// When, in venue time.
    pub at: Millis,
    /// Whose trade.
    pub bot: String,
    /// Its direction.
    pub direction: Direction,
}

/// So many reasons of a door are told apart.
const MAX_REASONS: usize = 16;

/// How many signals came from outside since a run began, and what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalTally {
    /// Those that risk approved.
    pub approved: u64,
    /// Those that a rule refused, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, u64>,
    /// Those that were taken before, and dropped.
    pub duplicates: u64,
    /// What was no signal, by the door that it came by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub malformed: BTreeMap<String, u64>,
    /// What was wrong with the last of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What the list gives next; none without one, or where nothing is to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextEntry>,
    /// Which lines of the list are passed over, and why the first; none without one, or where all are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<String>,
    /// All of that by the door that it came by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_source: BTreeMap<String, SourceTally>,
}

impl SignalTally {
    /// Counts what was decided on a signal that came by a door: none on one that was taken before.
    pub fn count(&mut self, door: &str, decided: Option<Result<(), Rule>>) {
        let of_door = self.by_source.entry(door.to_owned()).or_default();
        match decided {
            Some(Ok(())) => {
                self.approved += 1;
                of_door.approved += 1;
            }
            Some(Err(rule)) => {
                let is_late = rule == Rule::LateSignal;
                *(if is_late { &mut of_door.late } else { &mut of_door.refused }) += 1;
                *self.refused.entry(rule.as_str().to_owned()).or_default() += 1;
            }
            None => {
                self.duplicates += 1;
                of_door.duplicates += 1;
            }
        }
    }
}

/// What came by one door since a run began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceTally {
    /// Those that risk approved.
    pub approved: u64,
    /// Those that a rule refused, but for late ones.
    pub refused: u64,
    /// Those that `LateSignal` refused.
    pub late: u64,
    /// Those that were taken before, and dropped.
    pub duplicates: u64,
    /// What was no signal.
    pub malformed: u64,
    /// What was not looked at because too many came.
    pub turned_away: u64,
    /// What was wrong with the last that was no signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What was wrong with those that were no signal, and how many of them had it; of very many different ones the first.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
}

impl SourceTally {
    /// Adds how many were no signal for each reason.
    pub(crate) fn add_reasons(&mut self, reasons: BTreeMap<String, u64>) {
        for (reason, times) in reasons {
            if self.reasons.len() < MAX_REASONS || self.reasons.contains_key(&reason) {
                *self.reasons.entry(reason).or_default() += times;
            }
        }
    }
}

/// Hands a signal to the run, in its turn behind those before it; what becomes of it can be waited for. Whoever drops that before
/// the run has the signal takes it back.
///
/// # Errors
/// The run has ended.
pub async fn send_signal(
    orders: &mpsc::WeakSender<ControlRequest>,
    order: SignalOrder,
    hold: Hold,
) -> Result<oneshot::Receiver<ControlAnswer>, RunEnded> {
    let (answer, answered) = oneshot::channel();
    let orders = orders.upgrade().ok_or(RunEnded)?;
    let request = ControlRequest { hold, ..ControlRequest::new(ControlOrder::Signal(order), answer) };
    orders.send(request).await.map_err(|_| RunEnded)?;
    Ok(answered)
}

/// The run takes nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run has ended")]
pub struct RunEnded;
