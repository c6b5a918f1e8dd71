//! External signals and their outcomes.

use super::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_broker::clock::Hold;
use candlewick_engine::{IntentId, Rule, SignalId, SignalReason, SignalSource};
use candlewick_sdk::{CloseType, Direction, Millis};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tokio::sync::{mpsc, oneshot};

/// A trade requested by an external source; names its bot, or the symbol of exactly one bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignalOrder {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    pub direction: Direction,
    pub source: SignalSource,
    /// Sender's id. Further signals with the same id are dropped.
    pub id: SignalId,
    /// Venue time of the signal, `None` for the time of arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Millis>,
    /// Lifetime, if shorter than the risk limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_type: Option<CloseType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SignalReason>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum SignalOutcome {
    Approved { intent: IntentId },
    Refused { rule: String },
    Duplicate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextEntry {
    pub at: Millis,
    pub bot: String,
    pub direction: Direction,
}

const MAX_REASONS: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalTally {
    pub approved: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, u64>,
    pub duplicates: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub malformed: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_source: BTreeMap<String, SourceTally>,
}

impl SignalTally {
    /// Counts a decision; `None` is a duplicate.
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceTally {
    pub approved: u64,
    /// Rejected signals, excluding late ones.
    pub refused: u64,
    pub late: u64,
    pub duplicates: u64,
    pub malformed: u64,
    pub turned_away: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
}

impl SourceTally {
    pub(crate) fn add_reasons(&mut self, reasons: BTreeMap<String, u64>) {
        for (reason, times) in reasons {
            if self.reasons.len() < MAX_REASONS || self.reasons.contains_key(&reason) {
                *self.reasons.entry(reason).or_default() += times;
            }
        }
    }
}

/// Queues a signal for the run and returns its future outcome.
///
/// Dropping the future before the run has received the signal withdraws it.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run has ended")]
pub struct RunEnded;
