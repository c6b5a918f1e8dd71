//! Booked results that the venue contradicts: a second reading decides on correction or halt.

use crate::audit::{Settling, Word};
use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Money, Outcome};
use std::collections::BTreeMap;

pub(super) const READ_AGAIN_AFTER: Millis = Millis::from_seconds(5);

const MAX_CHANGES: u32 = 3;

const MAX_WAIT: Millis = Millis::from_seconds(600);

/// Requests for a trade's record before the run halts. A record that exists may say otherwise than the list.
const MAX_REQUESTS: u32 = 8;

#[derive(Debug, Default)]
pub(crate) struct Contradictions {
    pending: BTreeMap<IntentId, Contradiction>,
    changes: BTreeMap<IntentId, u32>,
    cancelled: BTreeMap<IntentId, Millis>,
    /// Whether a correction exceeds what this run knows, so that only the next start applies it.
    pub(super) needs_restart: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contradiction {
    pub(crate) venue_id: String,
    pub(crate) settling: Settling,
    pub(crate) word: Word,
    since: Millis,
    is_confirmed: bool,
    record: Option<Word>,
    requests: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ruling {
    Nothing,
    ReadAgain { is_first: bool },
    Withdrawn(Contradiction),
    Correct(Contradiction, (Outcome, Money)),
    Undecidable(Contradiction, Undecidable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecidable {
    Unsteady,
    OtherRecord(Word),
    NoResult,
    NotRead,
    WrongProfit,
}

impl Contradiction {
    pub(crate) fn is_of_list_only(&self) -> bool {
        self.record != Some(self.word)
    }
}

impl Contradictions {
    pub(crate) fn is_any(&self) -> bool {
        self.is_pending() || !self.cancelled.is_empty()
    }

    /// Returns whether a booked result is contradicted. The wallet may then follow either result.
    pub(crate) fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn take_overdue(&mut self, now: Millis) -> Vec<Contradiction> {
        self.pending.extract_if(.., |_, pending| now - pending.since > MAX_WAIT).map(|(_, one)| one).collect()
    }

    pub(crate) fn expect_cancelled(&mut self, intent: IntentId, now: Millis) {
        self.cancelled.insert(intent, now);
    }

    pub(crate) fn end_list(&mut self, began: Millis) {
        self.cancelled.retain(|_, booked| *booked > began);
    }

    pub(crate) fn request(&mut self, intent: IntentId) -> Option<String> {
        let pending = self.pending.get_mut(&intent).filter(|pending| pending.record.is_none())?;
        pending.requests += 1;
        Some(pending.venue_id.clone())
    }

    pub(crate) fn find(&self, intent: IntentId) -> Option<&Contradiction> {
        self.pending.get(&intent)
    }

    pub(crate) fn on_list(
        &mut self,
        (venue_id, settling): (String, Settling),
        word: Word,
        (began, now): (Millis, Millis),
    ) -> Ruling {
        let intent = settling.intent;
        let Some(pending) = self.pending.get_mut(&intent) else {
            if !word.contradicts() {
                return Ruling::Nothing;
            }
            let (since, is_confirmed, record, requests) = (now, false, None, 0);
            let new = Contradiction { venue_id, settling, word, since, is_confirmed, record, requests };
            self.pending.insert(intent, new);
            return Ruling::ReadAgain { is_first: true };
        };
        if word == Word::Silent {
            return Ruling::ReadAgain { is_first: false };
        }
        if word == pending.word {
            pending.is_confirmed |= began >= pending.since + READ_AGAIN_AFTER;
            return self.decide(intent);
        }
        let changes = self.changes.entry(intent).or_default();
        *changes += 1;
        if *changes >= MAX_CHANGES {
            return self.end(intent, |pending| Ruling::Undecidable(pending, Undecidable::Unsteady));
        }
        if word == Word::Agrees {
            return self.end(intent, Ruling::Withdrawn);
        }
        (pending.word, pending.since, pending.is_confirmed) = (word, now, false);
        (pending.record, pending.requests) = (None, 0);
        Ruling::ReadAgain { is_first: false }
    }

    pub(crate) fn on_record(&mut self, intent: IntentId, word: Option<Word>) -> Ruling {
        let Some(pending) = self.pending.get_mut(&intent) else { return Ruling::Nothing };
        match word {
            Some(word) => pending.record = Some(word),
            None if pending.requests >= MAX_REQUESTS => {
                return self.end(intent, |pending| Ruling::Undecidable(pending, Undecidable::NotRead));
            }
            None => return Ruling::ReadAgain { is_first: false },
        }
        self.decide(intent)
    }

    pub(crate) fn note_change(&mut self, intent: IntentId) {
        *self.changes.entry(intent).or_default() += 1;
    }

    fn decide(&mut self, intent: IntentId) -> Ruling {
        let Some(pending) = self.pending.get(&intent) else { return Ruling::Nothing };
        let Some(record) = pending.record.filter(|_| pending.is_confirmed) else {
            return Ruling::ReadAgain { is_first: false };
        };
        let word = pending.word;
        match (word, record) {
            (Word::Ended(outcome, Some(profit)), Word::Silent) => {
                self.end(intent, |pending| Ruling::Correct(pending, (outcome, profit)))
            }
            (Word::Ended(outcome, Some(profit)), record) if record == word => {
                self.end(intent, |pending| Ruling::Correct(pending, (outcome, profit)))
            }
            // A word that nobody knows is no result against a record that has the booked one.
            (Word::Unknown, Word::Agrees) => self.end(intent, Ruling::Withdrawn),
            (_, Word::Silent) => {
                self.end(intent, |pending| Ruling::Undecidable(pending, Undecidable::NoResult))
            }
            (_, record) if record == word => {
                self.end(intent, |pending| Ruling::Undecidable(pending, Undecidable::NoResult))
            }
            (_, record) => {
                self.end(intent, |pending| Ruling::Undecidable(pending, Undecidable::OtherRecord(record)))
            }
        }
    }

    fn end(&mut self, intent: IntentId, ruling: impl FnOnce(Contradiction) -> Ruling) -> Ruling {
        self.pending.remove(&intent).map_or(Ruling::Nothing, ruling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Source;
    use candlewick_engine::BotId;

    fn booked() -> (String, Settling) {
        let settling = Settling {
            intent: IntentId::new(3),
            bot: BotId::FIRST,
            stake: Money::from_minor(1_000),
            payout: None,
            outcome: Outcome::Cancelled,
            profit: Money::ZERO,
            at: Millis::ZERO,
            source: Source::Venue,
        };
        ("01JT".to_owned(), settling)
    }

    const LOST: Word = Word::Ended(Outcome::Lost, Some(Money::from_minor(-1_000)));
    const WON: Word = Word::Ended(Outcome::Won, Some(Money::from_minor(800)));

    /// A reading of the list or of the record at this second.
    enum Reading {
        List(i64, Word),
        Record(Option<Word>),
    }
    use Reading::{List, Record};

    fn last_ruling(readings: &[Reading]) -> String {
        let mut all = Contradictions::default();
        let mut last = Ruling::Nothing;
        for reading in readings {
            last = match reading {
                List(second, word) => {
                    let at = Millis::from_seconds(*second);
                    all.on_list(booked(), *word, (at, at))
                }
                Record(word) => {
                    all.request(IntentId::new(3));
                    all.on_record(IntentId::new(3), *word)
                }
            };
        }
        match last {
            Ruling::Nothing => "nothing".to_owned(),
            Ruling::ReadAgain { .. } => "again".to_owned(),
            Ruling::Withdrawn(_) => "withdrawn".to_owned(),
            Ruling::Correct(_, (outcome, profit)) => format!("{outcome} {}", profit.minor()),
            Ruling::Undecidable(_, why) => format!("{why:?}"),
        }
    }

    #[test]
    fn a_second_reading_some_seconds_later_decides() {
        for (readings, expected) in [
            (&[List(0, Word::Agrees)][..], "nothing"),
            (&[List(0, LOST)], "again"),
            (&[List(0, LOST), Record(Some(LOST))], "again"),
            (&[List(0, LOST), List(4, LOST), Record(Some(LOST))], "again"),
            (&[List(0, LOST), List(5, LOST), Record(Some(LOST))], "LOST -1000"),
            (&[List(0, LOST), Record(Some(Word::Silent)), List(5, LOST)], "LOST -1000"),
            (&[List(0, Word::Unknown), List(5, Word::Unknown), Record(Some(Word::Agrees))], "withdrawn"),
            (&[List(0, Word::Unknown), List(5, Word::Unknown), Record(Some(Word::Unknown))], "NoResult"),
            (&[List(0, LOST), List(5, LOST), Record(None), Record(Some(LOST))], "LOST -1000"),
            (&[List(0, LOST), List(5, Word::Agrees)], "withdrawn"),
            (&[List(0, LOST), List(5, LOST), Record(Some(Word::Agrees))], "OtherRecord(Agrees)"),
            (&[List(0, LOST), List(5, WON), Record(Some(WON)), List(9, WON)], "again"),
            (&[List(0, LOST), List(5, WON), Record(Some(WON)), List(10, WON)], "WON 800"),
            (&[List(0, LOST), List(5, WON), List(10, LOST), List(15, WON)], "Unsteady"),
            (&[List(0, Word::Running), List(5, Word::Running), Record(Some(Word::Running))], "NoResult"),
            (&[List(0, Word::Twice), List(5, Word::Twice), Record(Some(Word::Silent))], "NoResult"),
        ] {
            assert_eq!(last_ruling(readings), expected);
        }
    }

    #[test]
    fn record_that_cannot_be_read_leaves_the_decision_to_the_operator() {
        let mut readings = vec![List(0, LOST), List(5, LOST)];
        readings.extend((1..MAX_REQUESTS).map(|_| Record(None)));
        assert_eq!(last_ruling(&readings), "again");
        readings.push(Record(None));
        assert_eq!(last_ruling(&readings), "NotRead");
    }
}
