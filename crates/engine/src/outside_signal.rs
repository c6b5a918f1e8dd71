//! Signals that come from outside of the program, and which of them a Session has met.

use crate::{BotId, Renumbering};
use candlewick_sdk::{Direction, Expiry, Millis, Reason, ReasonTemplate, Text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// By which door a signal came: `webhook`, `command`, `list`, `stdin`.
pub type SignalSource = Text<15>;
/// What a signal is called by whoever sent it.
pub type SignalId = Text<63>;
/// A sender's words.
pub type SignalReason = Text<47>;

/// How many signals are remembered, so that none is taken twice.
const REMEMBERED: usize = 4_096;
/// How many texts of reasons a run keeps.
const REASONS: usize = 64;

/// A trade that somebody outside of the program asks for. It is held against the same rules as a strategy's own signal, and is
/// late by the same rule; its event's `at` is its own time, or that of its arrival where it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideSignal {
    /// Whose signal it is from now on.
    pub bot: BotId,
    /// Up or down.
    pub direction: Direction,
    /// By which door it came.
    pub source: SignalSource,
    /// What it is called there: a second one of this name and source is dropped.
    pub id: SignalId,
    /// Venue time after which it is late, where that is before the rule says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Millis>,
    /// An expiry that replaces the bot's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
    /// Why, in the sender's words; may be empty.
    #[serde(default = "no_words", skip_serializing_if = "Text::is_empty")]
    pub reason: SignalReason,
}

fn no_words() -> SignalReason {
    Text::truncated("")
}

/// The latest signals of a Session, by bot, source and name; the oldest is forgotten first.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownSignals {
    names: BTreeSet<(BotId, SignalSource, SignalId)>,
    order: VecDeque<(BotId, SignalSource, SignalId)>,
    /// Not kept beyond a run.
    reasons: Vec<ReasonTemplate>,
}

impl KnownSignals {
    /// Remembers a signal; whether it was new.
    pub(crate) fn remember(&mut self, signal: &OutsideSignal) -> bool {
        self.insert((signal.bot, signal.source, signal.id))
    }

    pub(crate) fn knows(&self, signal: &OutsideSignal) -> bool {
        self.names.contains(&(signal.bot, signal.source, signal.id))
    }

    fn insert(&mut self, name: (BotId, SignalSource, SignalId)) -> bool {
        if !self.names.insert(name) {
            return false;
        }
        self.order.push_back(name);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.names.remove(&oldest);
        }
        true
    }

    /// Why a trade on the signal was opened, for people: the sender's words. Beyond the number of texts that a run keeps only the
    /// door is named, so that a sender who writes a price into each text costs no memory.
    pub(crate) fn reason_of(&mut self, signal: &OutsideSignal) -> Reason {
        let text = if signal.reason.is_empty() {
            format!("signal from {}", signal.source)
        } else {
            format!("{}: {}", signal.source, signal.reason)
        };
        let known = self.reasons.iter().find(|template| template.text() == text);
        if let Some(template) = known {
            return template.with_numbers(&[]);
        }
        if self.reasons.len() == REASONS {
            return Reason::new("signal from outside");
        }
        let template = ReasonTemplate::new(text, [""; 0]);
        self.reasons.push(template.clone());
        template.with_numbers(&[])
    }

    /// The same by the numbers of another Session.
    pub(crate) fn under(self, numbers: &Renumbering) -> Self {
        let mut known = Self::default();
        for (bot, source, id) in self.order {
            known.insert((numbers.bot(bot), source, id));
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
        for name in VecDeque::<(BotId, SignalSource, SignalId)>::deserialize(deserializer)? {
            known.insert(name);
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
    fn a_signal_is_known_by_bot_source_and_name_and_the_oldest_is_forgotten() {
        let mut known = KnownSignals::default();
        assert!(known.remember(&signal(0, "")));
        assert!(!known.remember(&OutsideSignal { direction: Direction::Sell, ..signal(0, "") }));
        assert!(known.remember(&OutsideSignal { bot: BotId::new(1).unwrap(), ..signal(0, "") }));
        assert!(known.remember(&OutsideSignal { source: Text::new("list").unwrap(), ..signal(0, "") }));
        let kept = serde_json::to_string(&known).unwrap();
        let mut known: KnownSignals = serde_json::from_str(&kept).unwrap();
        assert!(known.knows(&signal(0, "")));
        assert!((1..=REMEMBERED).all(|number| known.remember(&signal(number, ""))));
        assert!(!known.knows(&signal(0, "")));
        assert!(known.knows(&signal(1, "")));
        assert_eq!(known.names.len(), REMEMBERED);
    }

    #[test]
    fn a_reason_is_the_senders_words_until_there_are_too_many() {
        let mut known = KnownSignals::default();
        assert_eq!(known.reason_of(&signal(1, "")).text(), "signal from webhook");
        for number in 0..100 {
            let reason = known.reason_of(&signal(number, &format!("price {number}")));
            let expected = if number < 63 {
                format!("webhook: price {number}")
            } else {
                "signal from outside".to_owned()
            };
            assert_eq!(reason.text(), expected);
        }
        assert_eq!(known.reason_of(&signal(1, "price 7")).text(), "webhook: price 7");
    }
}
