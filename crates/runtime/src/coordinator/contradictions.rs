//! Handles contradictions between the venue and booked results: corrects the result, or halts the run.

use super::Coordinator;
use super::agenda::{EventRank, Job};
use super::command::Step;
use crate::audit::{Audit, BookedResult, Finding, ProfitRules, ResultSource, VenueClaim, describe_result};
use candlewick_broker::{BrokerError, Reply, TradeListing, TradeReport};
use candlewick_engine::{EventKind, IntentId};
use candlewick_sdk::{Millis, Money, Outcome};
use std::collections::BTreeMap;

pub(super) const REREAD_DELAY: Millis = Millis::from_seconds(5);
const MAX_CLAIM_CHANGES: u32 = 3;
const MAX_AGE: Millis = Millis::from_seconds(600);
/// Maximum number of requests for the record of a trade whose booked result the venue contradicts. Then the run halts.
const MAX_REQUESTS: u32 = 8;

#[derive(Debug, Default)]
pub(crate) struct Contradictions {
    pending: BTreeMap<IntentId, Contradiction>,
    changes: BTreeMap<IntentId, u32>,
    cancelled: BTreeMap<IntentId, Millis>,
    /// Whether the correction concerns data that this run has not loaded. Only a restarted run can apply it.
    pub(super) needs_restart: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contradiction {
    pub(crate) venue_id: String,
    pub(crate) booked: BookedResult,
    pub(crate) reported: VenueClaim,
    since: Millis,
    is_confirmed: bool,
    record: Option<VenueClaim>,
    requests: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ruling {
    Nothing,
    ReadAgain { is_first: bool },
    Withdrawn(Contradiction),
    Correct(Contradiction, (Outcome, Money)),
    Undecidable(Contradiction, HaltReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HaltReason {
    Unsteady,
    OtherRecord(VenueClaim),
    NoResult,
    NotRead,
    WrongProfit,
}

impl Contradictions {
    pub(crate) fn needs_list(&self) -> bool {
        self.is_pending() || !self.cancelled.is_empty()
    }

    /// Returns whether the venue contradicts a booked result. If so, the wallet may reflect either result.
    pub(crate) fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    fn take_overdue(&mut self, now: Millis) -> Vec<Contradiction> {
        self.pending.extract_if(.., |_, pending| now - pending.since > MAX_AGE).map(|(_, one)| one).collect()
    }

    pub(crate) fn expect_cancellation(&mut self, intent: IntentId, now: Millis) {
        self.cancelled.insert(intent, now);
    }

    /// Counts a request for the trade's record. Returns the trade's venue id, `None` if no record is needed.
    pub(crate) fn begin_record_reread(&mut self, intent: IntentId) -> Option<String> {
        let pending = self.pending.get_mut(&intent).filter(|pending| pending.record.is_none())?;
        pending.requests += 1;
        Some(pending.venue_id.clone())
    }

    pub(crate) fn find(&self, intent: IntentId) -> Option<&Contradiction> {
        self.pending.get(&intent)
    }

    fn on_list(
        &mut self,
        (venue_id, booked): (String, BookedResult),
        reported: VenueClaim,
        (began, now): (Millis, Millis),
    ) -> Ruling {
        let intent = booked.intent;
        let Some(pending) = self.pending.get_mut(&intent) else {
            if !reported.contradicts() {
                return Ruling::Nothing;
            }
            let (since, is_confirmed, record, requests) = (now, false, None, 0);
            let new = Contradiction { venue_id, booked, reported, since, is_confirmed, record, requests };
            self.pending.insert(intent, new);
            return Ruling::ReadAgain { is_first: true };
        };
        if reported == VenueClaim::Silent {
            return Ruling::ReadAgain { is_first: false };
        }
        if reported == pending.reported {
            pending.is_confirmed |= began >= pending.since + REREAD_DELAY;
            return self.decide(intent);
        }
        let changes = self.changes.entry(intent).or_default();
        *changes += 1;
        if *changes >= MAX_CLAIM_CHANGES {
            return self
                .end_with_ruling(intent, |pending| Ruling::Undecidable(pending, HaltReason::Unsteady));
        }
        if reported == VenueClaim::Agrees {
            return self.end_with_ruling(intent, Ruling::Withdrawn);
        }
        (pending.reported, pending.since, pending.is_confirmed) = (reported, now, false);
        (pending.record, pending.requests) = (None, 0);
        Ruling::ReadAgain { is_first: false }
    }

    fn on_record(&mut self, intent: IntentId, reported: Option<VenueClaim>) -> Ruling {
        let Some(pending) = self.pending.get_mut(&intent) else { return Ruling::Nothing };
        match reported {
            Some(reported) => pending.record = Some(reported),
            None if pending.requests >= MAX_REQUESTS => {
                return self
                    .end_with_ruling(intent, |pending| Ruling::Undecidable(pending, HaltReason::NotRead));
            }
            None => return Ruling::ReadAgain { is_first: false },
        }
        self.decide(intent)
    }

    fn decide(&mut self, intent: IntentId) -> Ruling {
        let Some(pending) = self.pending.get(&intent) else { return Ruling::Nothing };
        let Some(record) = pending.record.filter(|_| pending.is_confirmed) else {
            return Ruling::ReadAgain { is_first: false };
        };
        let reported = pending.reported;
        match (reported, record) {
            (VenueClaim::Ended(outcome, Some(profit)), VenueClaim::Silent) => {
                self.end_with_ruling(intent, |pending| Ruling::Correct(pending, (outcome, profit)))
            }
            (VenueClaim::Ended(outcome, Some(profit)), record) if record == reported => {
                self.end_with_ruling(intent, |pending| Ruling::Correct(pending, (outcome, profit)))
            }
            // An unknown result in the list does not override a record that has the booked result.
            (VenueClaim::Unknown, VenueClaim::Agrees) => self.end_with_ruling(intent, Ruling::Withdrawn),
            (_, VenueClaim::Silent) => {
                self.end_with_ruling(intent, |pending| Ruling::Undecidable(pending, HaltReason::NoResult))
            }
            (_, record) if record == reported => {
                self.end_with_ruling(intent, |pending| Ruling::Undecidable(pending, HaltReason::NoResult))
            }
            (_, record) => self.end_with_ruling(intent, |pending| {
                Ruling::Undecidable(pending, HaltReason::OtherRecord(record))
            }),
        }
    }

    fn end_with_ruling(&mut self, intent: IntentId, ruling: impl FnOnce(Contradiction) -> Ruling) -> Ruling {
        self.pending.remove(&intent).map_or(Ruling::Nothing, ruling)
    }
}

const LIST_RETRY_DELAY: Millis = Millis::from_seconds(30);

impl Coordinator {
    pub(super) fn audit_results(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        let at = (self.doubts.resolver.lag.allowance(), self.session.scale(), step.now);
        for (venue_id, booked, reported) in self.audits.results.compare(listing, at) {
            if let Some(report) = listing.trades.iter().find(|report| report.id == venue_id) {
                self.check_payout((booked.intent, booked.payout), report, step);
            }
            let began = (listing.began, step.now);
            let ruling = self.contradictions.on_list((venue_id, booked), reported, began);
            self.on_ruling(booked.intent, ruling, step);
        }
        let has_failed = listing.end_error.is_some();
        if !has_failed {
            self.contradictions.cancelled.retain(|_, at| *at > listing.began);
        }
        for pending in self.contradictions.take_overdue(step.now) {
            self.halt_at_contradiction(&pending, HaltReason::NotRead, step);
        }
        if self.contradictions.needs_list() {
            let pause = if has_failed { LIST_RETRY_DELAY } else { REREAD_DELAY };
            self.agenda.add(step.now + pause, Job::Trades);
        }
    }

    pub(super) fn on_reread_record(
        &mut self,
        intent: IntentId,
        answer: &Result<Box<Reply<TradeReport>>, BrokerError>,
        step: &mut Step<'_>,
    ) {
        let Some(pending) = self.contradictions.find(intent) else { return };
        let reported = match answer {
            // A record with a status but without a result does not contradict a list that has the result.
            Ok(reply) if reply.value.id == pending.venue_id && reply.value.is_outcome_from_status => {
                Some(VenueClaim::Silent)
            }
            Ok(reply) if reply.value.id == pending.venue_id => {
                Some(pending.booked.classify(&reply.value, self.session.scale()))
            }
            Err(BrokerError::NotFound { .. }) => Some(VenueClaim::Silent),
            Ok(_) | Err(_) => None,
        };
        let ruling = self.contradictions.on_record(intent, reported);
        self.on_ruling(intent, ruling, step);
    }

    fn on_ruling(&mut self, intent: IntentId, ruling: Ruling, step: &mut Step<'_>) {
        match ruling {
            Ruling::Nothing => {}
            Ruling::ReadAgain { is_first } => {
                if let Some(pending) = self.contradictions.find(intent).filter(|_| is_first) {
                    let text = format!("{}; the list and the record are read again", self.describe(pending));
                    let alarm = Finding::alarm(Audit::Settlement, text);
                    self.report_findings(Audit::Settlement, 0, vec![alarm], step);
                }
                self.agenda.add(step.now + REREAD_DELAY, Job::Trades);
                self.agenda.add(step.now + REREAD_DELAY, Job::Trade(intent));
            }
            Ruling::Withdrawn(pending) => {
                let BookedResult { outcome, profit, .. } = pending.booked;
                let result = describe_result(outcome, profit, self.session.scale());
                step.warn(format!("trade #{intent}: the venue's list again says {result}, as booked"));
            }
            Ruling::Correct(pending, result) => self.correct(&pending, result, step),
            Ruling::Undecidable(pending, why) => self.halt_at_contradiction(&pending, why, step),
        }
    }

    fn describe(&self, pending: &Contradiction) -> String {
        let Contradiction { booked, reported, .. } = pending;
        let scale = self.session.scale();
        let result = describe_result(booked.outcome, booked.profit, scale);
        let by = if booked.source == ResultSource::Operator { " by the operator" } else { "" };
        let says = reported.describe(booked, scale);
        format!("trade #{} was booked as {result}{by}, but the venue's list now says {says}", booked.intent)
    }

    fn correct(&mut self, pending: &Contradiction, result: (Outcome, Money), step: &mut Step<'_>) {
        let Contradiction { venue_id, booked, .. } = pending;
        let (intent, (outcome, profit)) = (booked.intent, result);
        let rules = self.profit_rules();
        let settled = booked.to_settled_profit(result);
        if !settled.is_possible(rules.max_payout_percent) {
            return self.halt_at_contradiction(pending, HaltReason::NoResult, step);
        }
        let wrong = settled.check(rules).filter(|wrong| wrong.must_halt);
        if wrong.is_some() && pending.record != Some(pending.reported) {
            return self.halt_at_contradiction(pending, HaltReason::WrongProfit, step);
        }
        let is_exact = self.session.session().can_correct(intent);
        let place = EventRank::Settlement(step.now, intent);
        self.events.add(step.now, place, EventKind::Correction { intent, outcome, profit });
        self.audits.wallet.forget_lag();
        self.dispatch_events(step);
        let corrected = BookedResult { outcome, profit, source: ResultSource::Venue, ..*booked };
        self.session.apply_correction(booked, &corrected, step);
        self.audits.results.book(venue_id, corrected);
        *self.contradictions.changes.entry(intent).or_default() += 1;
        let scale = self.session.scale();
        let [before, after] = [(booked.outcome, booked.profit), result]
            .map(|(outcome, profit)| describe_result(outcome, profit, scale));
        let text =
            format!("trade #{intent} is corrected from {before} to {after}, as two venue readings agree");
        self.session.alarm(text, step);
        if let Some(wrong) = wrong {
            self.halt_on_implausible_data(wrong.text, step);
        }
        if !is_exact {
            self.contradictions.needs_restart = true;
            let text = format!(
                "trade #{intent} was settled before the last journal snapshot. Restart the bot to correct its ledger, \
                 limits and ladders"
            );
            self.halt_on_implausible_data(text, step);
        }
    }

    /// Halts the run until the operator has reviewed the trade. The booked result stays as it is.
    fn halt_at_contradiction(&mut self, pending: &Contradiction, why: HaltReason, step: &mut Step<'_>) {
        let scale = self.session.scale();
        let text = self.describe(pending);
        let text = match why {
            HaltReason::Unsteady => format!("{text}, and the list keeps changing"),
            HaltReason::OtherRecord(record) => {
                format!("{text}, and the trade's record says {}", record.describe(&pending.booked, scale))
            }
            HaltReason::NotRead => format!("{text}, and a second reading failed"),
            HaltReason::NoResult => format!("{text} in two readings"),
            HaltReason::WrongProfit => {
                format!("{text} in two readings; this result contradicts stake and payout")
            }
        };
        self.audits.results.forget(&pending.venue_id);
        self.halt_on_implausible_data(text, step);
    }

    pub(super) fn profit_rules(&self) -> ProfitRules {
        ProfitRules { scale: self.session.scale(), max_payout_percent: self.settings.max_payout_percent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Reading::{List, Record};
    use VenueClaim::{Agrees, Mixed, Running, Silent, Unknown};
    use candlewick_engine::BotId;

    fn booked() -> (String, BookedResult) {
        let booked = BookedResult {
            intent: IntentId::new(3),
            bot: BotId::FIRST,
            stake: Money::from_minor(1_000),
            payout: None,
            outcome: Outcome::Cancelled,
            profit: Money::ZERO,
            at: Millis::ZERO,
            source: ResultSource::Venue,
        };
        ("01JT".to_owned(), booked)
    }

    const LOST: VenueClaim = VenueClaim::Ended(Outcome::Lost, Some(Money::from_minor(-1_000)));
    const WON: VenueClaim = VenueClaim::Ended(Outcome::Won, Some(Money::from_minor(800)));

    enum Reading {
        List(i64, VenueClaim),
        Record(Option<VenueClaim>),
    }

    fn last_ruling(readings: &[Reading]) -> String {
        let mut all = Contradictions::default();
        let mut last = Ruling::Nothing;
        for reading in readings {
            last = match reading {
                List(second, reported) => {
                    let at = Millis::from_seconds(*second);
                    all.on_list(booked(), *reported, (at, at))
                }
                Record(reported) => {
                    all.begin_record_reread(IntentId::new(3));
                    all.on_record(IntentId::new(3), *reported)
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
    fn later_second_reading_decides() {
        for (readings, expected) in [
            (&[List(0, Agrees)][..], "nothing"),
            (&[List(0, LOST)], "again"),
            (&[List(0, LOST), Record(Some(LOST))], "again"),
            (&[List(0, LOST), List(4, LOST), Record(Some(LOST))], "again"),
            (&[List(0, LOST), List(5, LOST), Record(Some(LOST))], "LOST -1000"),
            (&[List(0, LOST), Record(Some(Silent)), List(5, LOST)], "LOST -1000"),
            (&[List(0, Unknown), List(5, Unknown), Record(Some(Agrees))], "withdrawn"),
            (&[List(0, Unknown), List(5, Unknown), Record(Some(Unknown))], "NoResult"),
            (&[List(0, LOST), List(5, LOST), Record(None), Record(Some(LOST))], "LOST -1000"),
            (&[List(0, LOST), List(5, Agrees)], "withdrawn"),
            (&[List(0, LOST), List(5, LOST), Record(Some(Agrees))], "OtherRecord(Agrees)"),
            (&[List(0, LOST), List(5, WON), Record(Some(WON)), List(9, WON)], "again"),
            (&[List(0, LOST), List(5, WON), Record(Some(WON)), List(10, WON)], "WON 800"),
            (&[List(0, LOST), List(5, WON), List(10, LOST), List(15, WON)], "Unsteady"),
            (&[List(0, Running), List(5, Running), Record(Some(Running))], "NoResult"),
            (&[List(0, Mixed), List(5, Mixed), Record(Some(Silent))], "NoResult"),
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
