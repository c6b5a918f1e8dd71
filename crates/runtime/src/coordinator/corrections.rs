//! Later reports about settled trades: confirmed ones correct the ledger, others halt.

use super::Coordinator;
use super::agenda::Job;
use super::command::Step;
use super::contradictions::{Contradiction, READ_AGAIN_AFTER, Ruling, Undecidable};
use super::event_queue::Place;
use crate::audit::{Audit, Finding, ProfitRules, Settling, Source, Word, describe_result};
use candlewick_broker::{BrokerError, Reply, TradeListing, TradeReport};
use candlewick_engine::{EventKind, IntentId};
use candlewick_sdk::{Millis, Money, Outcome};

const RETRY_AFTER: Millis = Millis::from_seconds(30);

impl Coordinator {
    pub(super) fn audit_results(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        let at = (self.doubts.list_lag(), self.session.scale(), step.now);
        for (venue_id, settling, word) in self.audits.results.words(listing, at) {
            if let Some(report) = listing.trades.iter().find(|report| report.id == venue_id) {
                self.check_payout((settling.intent, settling.payout), report, step);
            }
            let began = (listing.began, step.now);
            let ruling = self.contradictions.on_list((venue_id, settling), word, began);
            self.on_ruling(settling.intent, ruling, step);
        }
        let has_failed = listing.ended_early.is_some();
        if !has_failed {
            self.contradictions.end_list(listing.began);
        }
        for pending in self.contradictions.take_overdue(step.now) {
            self.halt_at_contradiction(&pending, Undecidable::NotRead, step);
        }
        if self.contradictions.is_any() {
            let pause = if has_failed { RETRY_AFTER } else { READ_AGAIN_AFTER };
            self.agenda.add(step.now + pause, Job::Trades);
        }
    }

    pub(super) fn on_record_again(
        &mut self,
        intent: IntentId,
        answer: &Result<Box<Reply<TradeReport>>, BrokerError>,
        step: &mut Step<'_>,
    ) {
        let Some(pending) = self.contradictions.find(intent) else { return };
        let word = match answer {
            // A status without a result is no word against a list that has one.
            Ok(reply) if reply.value.id == pending.venue_id && reply.value.is_by_status => Some(Word::Silent),
            Ok(reply) if reply.value.id == pending.venue_id => {
                Some(pending.settling.word(&reply.value, self.session.scale()))
            }
            Err(BrokerError::NotFound { .. }) => Some(Word::Silent),
            Ok(_) | Err(_) => None,
        };
        let ruling = self.contradictions.on_record(intent, word);
        self.on_ruling(intent, ruling, step);
    }

    fn on_ruling(&mut self, intent: IntentId, ruling: Ruling, step: &mut Step<'_>) {
        match ruling {
            Ruling::Nothing => {}
            Ruling::ReadAgain { is_first } => {
                if let Some(pending) = self.contradictions.find(intent).filter(|_| is_first) {
                    let text = format!("{}; both are read again", self.describe(pending));
                    self.found(Audit::Settlement, 0, vec![Finding::alarm(Audit::Settlement, text)], step);
                }
                self.agenda.add(step.now + READ_AGAIN_AFTER, Job::Trades);
                self.agenda.add(step.now + READ_AGAIN_AFTER, Job::Trade(intent));
            }
            Ruling::Withdrawn(pending) => {
                let Settling { outcome, profit, .. } = pending.settling;
                let result = describe_result(outcome, profit, self.session.scale());
                step.warn(format!("trade #{intent}: the venue's list says {result} again, as booked"));
            }
            Ruling::Correct(pending, result) => self.correct(&pending, result, step),
            Ruling::Undecidable(pending, why) => self.halt_at_contradiction(&pending, why, step),
        }
    }

    fn describe(&self, pending: &Contradiction) -> String {
        let Contradiction { settling, word, .. } = pending;
        let scale = self.session.scale();
        let booked = describe_result(settling.outcome, settling.profit, scale);
        let by = if settling.source == Source::Person { " on the operator's word" } else { "" };
        let says = word.describe(settling, scale);
        format!("trade #{} was booked as {booked}{by}, and the venue's list now says {says}", settling.intent)
    }

    fn correct(&mut self, pending: &Contradiction, result: (Outcome, Money), step: &mut Step<'_>) {
        let Contradiction { venue_id, settling, .. } = pending;
        let (intent, (outcome, profit)) = (settling.intent, result);
        let rules = self.profit_rules();
        let settled = settling.with_result(result);
        if !settled.is_possible(rules.max_payout_percent) {
            return self.halt_at_contradiction(pending, Undecidable::NoResult, step);
        }
        let wrong = settled.check(rules).filter(|wrong| wrong.is_halting);
        if wrong.is_some() && pending.is_of_list_only() {
            return self.halt_at_contradiction(pending, Undecidable::WrongProfit, step);
        }
        let is_exact = self.session.session().can_correct(intent);
        let place = Place::Settlement(step.now, intent);
        self.events.add(step.now, place, EventKind::Correction { intent, outcome, profit });
        self.audits.wallet.forget_lag();
        self.dispatch_due(step);
        let corrected = Settling { outcome, profit, source: Source::Venue, ..*settling };
        self.session.after_correction(settling, &corrected, step);
        self.audits.results.book(venue_id, corrected);
        self.contradictions.note_change(intent);
        let scale = self.session.scale();
        let [before, after] = [(settling.outcome, settling.profit), result]
            .map(|(outcome, profit)| describe_result(outcome, profit, scale));
        let text =
            format!("trade #{intent} is corrected from {before} to {after}: two readings of the venue agree");
        self.session.alarm(text, step);
        if let Some(wrong) = wrong {
            self.halt_at_oddity(wrong.text, step);
        }
        if !is_exact {
            self.contradictions.needs_restart = true;
            let text = format!(
                "trade #{intent} was settled before the last snapshot of the journal: ledger, limits and ladders are \
                 corrected by a restart"
            );
            self.halt_at_oddity(text, step);
        }
    }

    /// Halts until the operator has reviewed the trade. The booked result stays.
    fn halt_at_contradiction(&mut self, pending: &Contradiction, why: Undecidable, step: &mut Step<'_>) {
        let scale = self.session.scale();
        let text = self.describe(pending);
        let text = match why {
            Undecidable::Unsteady => format!("{text}; it keeps changing its word"),
            Undecidable::OtherRecord(record) => {
                format!(
                    "{text}, but the trade's own record says {}",
                    record.describe(&pending.settling, scale)
                )
            }
            Undecidable::NotRead => format!("{text}, which could not be read again"),
            Undecidable::NoResult => format!("{text} in two readings"),
            Undecidable::WrongProfit => {
                format!("{text} in two readings, which its stake and payout do not give")
            }
        };
        self.audits.results.forget(&pending.venue_id);
        self.halt_at_oddity(text, step);
    }

    pub(super) fn profit_rules(&self) -> ProfitRules {
        ProfitRules { scale: self.session.scale(), max_payout_percent: self.settings.max_payout_percent }
    }
}
