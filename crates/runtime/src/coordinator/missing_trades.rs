//! Accepted trades that the venue no longer has.
//!
//! After its close, a trade is found neither by id nor in the list, or the list cannot be read
//! completely. Its result is never guessed: the operator has to enter it.

use super::Coordinator;
use super::agenda::Job;
use super::command::Step;
use super::event_queue::Place;
use super::settlement::profit_by_rule;
use super::trade_watch::{OpenTrade, TradeWatch};
use crate::audit::{Settling, Source};
use candlewick_broker::TradeListing;
use candlewick_engine::{EventKind, IntentId};
use candlewick_sdk::{Millis, Outcome};

const LOOK_AGAIN: Millis = Millis::from_seconds(30);

/// Absence of a trade at the venue, counted after its close and without a record in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Absence {
    since: Millis,
    last: Millis,
    /// Request times of the first and last complete list without the trade.
    unlisted: Option<(Millis, Millis)>,
    /// Like `unlisted`, for incomplete lists.
    unread: Option<(Millis, Millis)>,
    is_reported: bool,
}

impl Absence {
    fn take_listing(&mut self, began: Millis, is_whole: bool) {
        let looks = if is_whole { &mut self.unlisted } else { &mut self.unread };
        *looks = Some((looks.map_or(began, |(first, _)| first), began));
    }

    fn has_lasted(&self, patience: Millis) -> bool {
        (self.last - self.since).min(span(self.unlisted).max(span(self.unread))) >= patience
    }
}

impl TradeWatch {
    /// Records an unknown id and returns whether it counts. Before the close it is considered a
    /// delay.
    fn is_unknown(&mut self, intent: IntentId, now: Millis) -> bool {
        let Some(trade) = self.find_mut(intent).filter(|trade| now > trade.close()) else { return false };
        let begun = Absence { since: now, last: now, unlisted: None, unread: None, is_reported: false };
        trade.absence.get_or_insert(begun).last = now;
        true
    }

    pub(crate) fn is_known(&mut self, intent: IntentId) {
        if let Some(trade) = self.find_mut(intent) {
            trade.absence = None;
        }
    }

    /// Records a list and returns the trades newly considered missing.
    ///
    /// A list says nothing about trades that may be absent due to its `lag`.
    fn take_listing(&mut self, listing: &TradeListing, lag: Millis, patience: Millis) -> Vec<IntentId> {
        let is_whole = listing.is_complete && listing.ended_early.is_none();
        let mut gone = Vec::new();
        for (intent, trade) in self.all_mut() {
            if listing.trades.iter().any(|report| report.id == trade.venue_id) {
                trade.absence = None;
                continue;
            }
            let is_due = listing.began > trade.close() + lag;
            let Some(absence) = trade.absence.as_mut().filter(|_| is_due) else { continue };
            absence.take_listing(listing.began, is_whole);
            if absence.has_lasted(patience) && !std::mem::replace(&mut absence.is_reported, true) {
                gone.push(intent);
            }
        }
        gone
    }
}

impl Coordinator {
    pub(super) fn on_unknown_trade(&mut self, intent: IntentId, now: Millis) {
        if self.trades.is_unknown(intent, now) {
            self.agenda.add(now + LOOK_AGAIN, Job::Trades);
        }
    }

    pub(super) fn look_for_missing(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        let patience = Millis::from_seconds(self.settings.missing_trade_s.into());
        for intent in self.trades.take_listing(listing, self.doubts.list_lag(), patience) {
            let Some(text) = self.trades.find(intent).and_then(|trade| describe(intent, trade)) else {
                continue;
            };
            if self.session.halted().is_none() {
                self.halt(text, step);
            } else {
                self.session.alarm(text, step);
            }
        }
        if self.trades.all().any(|(_, trade)| trade.absence.is_some()) {
            self.agenda.add(step.now + LOOK_AGAIN, Job::Trades);
        }
    }

    pub(super) fn missing_trades(&self) -> Vec<String> {
        let is_reported = |trade: &OpenTrade| trade.absence.is_some_and(|absence| absence.is_reported);
        let missing = self.trades.all().filter(|(_, trade)| is_reported(trade));
        missing.filter_map(|(intent, trade)| describe(intent, trade)).collect()
    }

    pub(super) fn settle_by_person(
        &mut self,
        intent: IntentId,
        outcome: Outcome,
        reason: &str,
        step: &mut Step<'_>,
    ) -> Result<(), String> {
        if intent >= self.session.session().next_intent() {
            return Err(format!("unknown trade #{intent}"));
        }
        let known = self.session.row(intent).zip(self.trades.find(intent));
        let (row, trade) = known.ok_or_else(|| format!("trade #{intent} is not open: nothing is settled"))?;
        let (id, stake, close) = (trade.venue_id.clone(), trade.stake, trade.close());
        if trade.absence.is_none_or(|absence| !absence.is_reported) {
            return Err(format!(
                "the venue may still say how trade {id} ended: it was not found missing by its id and in whole lists for \
                 {} s since its close (runtime.missing_trade_s)",
                self.settings.missing_trade_s
            ));
        }
        let profit = profit_by_rule(outcome, stake, row.payout);
        let profit =
            profit.ok_or_else(|| format!("what trade {id} pays is not known, nor a win's profit then"))?;
        let settling = Settling {
            intent,
            bot: row.approved.bot(),
            stake,
            payout: row.payout,
            outcome,
            profit,
            at: step.now,
            source: Source::Person,
        };
        self.audits.results.book(&id, settling);
        self.trades.end(intent);
        let kind = EventKind::SettledByPerson { intent, outcome, profit };
        self.events.add(step.now, Place::Settlement(close, intent), kind);
        self.session.alarm(format!("the operator settled trade #{intent} as {outcome}: {reason}"), step);
        self.dispatch_due(step);
        Ok(())
    }
}

fn span(looks: Option<(Millis, Millis)>) -> Millis {
    looks.map_or(Millis::new(-1), |(first, last)| last - first)
}

fn describe(intent: IntentId, trade: &OpenTrade) -> Option<String> {
    let Absence { since, last, unlisted, unread, .. } = trade.absence?;
    let (id, seconds) = (&trade.venue_id, (last - since).get() / 1_000);
    let ways = if span(unlisted) >= span(unread) {
        "neither by its id nor in its list"
    } else {
        "not by its id, and its list could not be read as a whole"
    };
    Some(format!(
        "the venue has had no trade #{intent} ({id}) for {seconds} s, {ways}: how it ended is not known; look at \
         the venue's own records, then `candlewick resolve {intent} --settled OUTCOME`"
    ))
}
