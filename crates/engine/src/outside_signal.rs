//! Signals from outside the program, and detection of repeated signals.

use crate::{BotId, Renumbering};
use candlewick_sdk::{Direction, Expiry, Millis, Reason, ReasonTemplate, Text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// Source of a signal: `webhook`, `command`, `list` or `stdin`.
pub type SignalSource = Text<15>;
/// Id that the sender gives to a signal.
pub type SignalId = Text<63>;
/// Reason that the sender gives for a signal.
pub type SignalReason = Text<47>;

const MAX_REMEMBERED_SIGNALS: usize = 4_096;
const MAX_REASON_TEXTS: usize = 64;

/// A trade signal from outside the program.
/// All rules apply as for a strategy's own signal, including the lateness rule. The event's `at` is the time of the
/// signal, or the arrival time if the sender gave no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideSignal {
    /// Bot that trades the signal.
    pub bot: BotId,
    /// Direction of the trade.
    pub direction: Direction,
    /// Source of the signal.
    pub source: SignalSource,
    /// Id of the signal. Further signals with the same bot, source and id are dropped.
    pub id: SignalId,
    /// Venue time after which the signal is rejected as late, even if it is younger than the maximum delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Millis>,
    /// Expiry of the trade, `None` for the bot's own expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
    /// Reason given by the sender, may be empty.
    #[serde(default = "empty_reason", skip_serializing_if = "Text::is_empty")]
    pub reason: SignalReason,
}

fn empty_reason() -> SignalReason {
    Text::truncated("")
}

#[derive(Clone, Debug, Default)]
pub(crate) struct KnownSignals {
    keys: BTreeSet<(BotId, SignalSource, SignalId)>,
    order: VecDeque<(BotId, SignalSource, SignalId)>,
    reasons: Vec<ReasonTemplate>,
}

impl KnownSignals {
    pub(crate) fn remember(&mut self, signal: &OutsideSignal) -> bool {
        self.insert((signal.bot, signal.source, signal.id))
    }

    pub(crate) fn contains(&self, signal: &OutsideSignal) -> bool {
        self.keys.contains(&(signal.bot, signal.source, signal.id))
    }

    fn insert(&mut self, key: (BotId, SignalSource, SignalId)) -> bool {
        if !self.keys.insert(key) {
            return false;
        }
        self.order.push_back(key);
        if self.order.len() > MAX_REMEMBERED_SIGNALS
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
        true
    }

    /// Builds the trade reason. Replaces new texts beyond `MAX_REASON_TEXTS` with a generic text to limit memory use.
    pub(crate) fn build_reason(&mut self, signal: &OutsideSignal) -> Reason {
        let text = if signal.reason.is_empty() {
            format!("signal from {}", signal.source)
        } else {
            format!("{}: {}", signal.source, signal.reason)
        };
        let known = self.reasons.iter().find(|template| template.text() == text);
        if let Some(template) = known {
            return template.with_numbers(&[]);
        }
        if self.reasons.len() == MAX_REASON_TEXTS {
            return Reason::new("signal from outside");
        }
        let template = ReasonTemplate::new(text, [""; 0]);
        self.reasons.push(template.clone());
        template.with_numbers(&[])
    }

    pub(crate) fn renumbered(self, numbers: &Renumbering) -> Self {
        let mut known = Self::default();
        for (bot, source, id) in self.order {
            known.insert((numbers.map_bot(bot), source, id));
        }
        known
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Serialize for KnownSignals {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.order)
    }
}

impl<'de> Deserialize<'de> for KnownSignals {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut known = Self::default();
        for key in VecDeque::<(BotId, SignalSource, SignalId)>::deserialize(deserializer)? {
            known.insert(key);
        }
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(number: usize, reason: &str) -> OutsideSignal {
        OutsideSignal {
            bot: BotId::FIRST,
            direction: Direction::Buy,
            source: SignalSource::new("webhook").unwrap(),
            id: SignalId::new(&number.to_string()).unwrap(),
            expires: None,
            expiry: None,
            reason: Text::new(reason).unwrap(),
        }
    }

    #[test]
    fn signals_are_identified_by_bot_source_and_id_and_the_oldest_is_dropped() {
        let mut known = KnownSignals::default();
        assert!(known.remember(&signal(0, "")));
        assert!(!known.remember(&OutsideSignal { direction: Direction::Sell, ..signal(0, "") }));
        assert!(known.remember(&OutsideSignal { bot: BotId::new(1).unwrap(), ..signal(0, "") }));
        assert!(known.remember(&OutsideSignal { source: Text::new("list").unwrap(), ..signal(0, "") }));
        let kept = serde_json::to_string(&known).unwrap();
        let mut known: KnownSignals = serde_json::from_str(&kept).unwrap();
        assert!(known.contains(&signal(0, "")));
        assert!((1..=MAX_REMEMBERED_SIGNALS).all(|number| known.remember(&signal(number, ""))));
        assert!(!known.contains(&signal(0, "")));
        assert!(known.contains(&signal(1, "")));
        assert_eq!(known.keys.len(), MAX_REMEMBERED_SIGNALS);
    }

    #[test]
    fn reason_is_that_of_the_sender_until_there_are_too_many() {
        let mut known = KnownSignals::default();
        assert_eq!(known.build_reason(&signal(1, "")).text(), "signal from webhook");
        for number in 0..100 {
            let reason = known.build_reason(&signal(number, &format!("price {number}")));
            let expected = if number < 63 {
                format!("webhook: price {number}")
            } else {
                "signal from outside".to_owned()
            };
            assert_eq!(reason.text(), expected);
        }
        assert_eq!(known.build_reason(&signal(1, "price 7")).text(), "webhook: price 7");
    }
}
