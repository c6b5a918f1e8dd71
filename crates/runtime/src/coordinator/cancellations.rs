//! Confirms the end of trades without a reported result, through the trade list or a second reading.

use super::Coordinator;
use super::agenda::{EventRank, Job};
use super::command::{ReadRequest, Step};
use super::contradictions::REREAD_DELAY;
use super::trade_watch::to_settlement;
use candlewick_broker::{TradeListing, TradeReport};
use candlewick_engine::{EventKind, IntentId};
use candlewick_sdk::{Millis, Outcome, Payout};

/// Maximum wait for a confirmation. After this time, an unproven end is booked without a confirmation.
const MAX_CONFIRMATION_WAIT: Millis = Millis::from_seconds(60);

/// End of a trade for which the venue reports only a status or a "reverted" mark, but no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnconfirmedEnd {
    outcome: Outcome,
    since: Millis,
    is_looked_up: bool,
    is_listed: bool,
    other: Option<(Outcome, Millis)>,
}

impl Coordinator {
    pub(super) fn request_trade(&mut self, intent: IntentId, due: Millis, step: &mut Step<'_>) {
        let id = if let Some(trade) = self.trades.find(intent) {
            self.events.gate.expect_job(due, due, Job::Trade(intent));
            trade.venue_id.clone()
        } else if let Some(id) = self.contradictions.begin_record_reread(intent) {
            id
        } else {
            return;
        };
        self.request(ReadRequest::Trade(intent, id), step);
    }

    /// Returns whether the end may be booked: once the trade list or a second reading confirms it, or the wait is over.
    pub(super) fn is_end_confirmed(
        &mut self,
        id: IntentId,
        report: &TradeReport,
        step: &mut Step<'_>,
    ) -> bool {
        let now = step.now;
        let Some(trade) = self.trades.find_mut(id) else { return true };
        let is_unproven = |_: &Outcome| report.is_outcome_from_status || report.is_reverted;
        let Some(outcome) = report.progress.outcome().filter(is_unproven) else {
            trade.watch.unconfirmed_end = None;
            return true;
        };
        let new = UnconfirmedEnd { outcome, since: now, is_looked_up: false, is_listed: false, other: None };
        let known = trade.watch.unconfirmed_end.filter(|known| known.outcome == outcome);
        let unproven = *trade.watch.unconfirmed_end.insert(known.unwrap_or(new));
        let is_read_twice = now >= unproven.since + REREAD_DELAY;
        let is_confirmed = unproven.is_listed || unproven.is_looked_up && is_read_twice;
        if is_confirmed && unproven.other.is_none() || now >= unproven.since + MAX_CONFIRMATION_WAIT {
            return true;
        }
        self.agenda.add(now, Job::Trades);
        self.agenda.add(now + REREAD_DELAY, Job::Trade(id));
        false
    }

    pub(super) fn check_unconfirmed_ends(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        for report in &listing.trades {
            let open = self.trades.iter().find(|(_, trade)| trade.venue_id == report.id);
            let Some((intent, payout)) = open.map(|(intent, trade)| (intent, trade.payout)) else { continue };
            self.check_payout((intent, payout), report, step);
        }
        let unproven: Vec<IntentId> = self
            .trades
            .iter()
            .filter(|(_, trade)| trade.watch.unconfirmed_end.is_some())
            .map(|(intent, _)| intent)
            .collect();
        for intent in unproven {
            self.check_unconfirmed_end(intent, listing, step);
        }
    }

    fn check_unconfirmed_end(&mut self, intent: IntentId, listing: &TradeListing, step: &mut Step<'_>) {
        let now = step.now;
        let Some(trade) = self.trades.find_mut(intent) else { return };
        let Some(unproven) = trade.watch.unconfirmed_end.as_mut().filter(|one| listing.began >= one.since)
        else {
            return;
        };
        // If the list ends early, it may lack the trade, so it proves nothing.
        unproven.is_looked_up |= listing.is_complete && listing.end_error.is_none();
        let Some(report) = listing.trades.iter().find(|report| report.id == trade.venue_id) else { return };
        match report.progress.outcome() {
            None => {}
            Some(listed) if listed == unproven.outcome => {
                (unproven.is_listed, unproven.other) = (true, None);
                self.agenda.add(now, Job::Trade(intent));
            }
            // A result in the list overrides the status in the record once a second list confirms the result.
            Some(outcome) => match unproven.other.filter(|(other, _)| *other == outcome) {
                Some((_, first)) if listing.began >= first + REREAD_DELAY => {
                    let stated = unproven.outcome;
                    let text = format!(
                        "trade #{intent}: the record says {stated}, but two readings of the venue's list say {outcome}. \
                         The result in the list is used"
                    );
                    self.session.alarm(text, step);
                    let report = self.remove_implausible_fields(intent, report.clone(), step);
                    let report = self.with_agreed_payout(intent, report, step);
                    self.apply_report(intent, &report, step);
                }
                known => {
                    unproven.other = known.or(Some((outcome, now)));
                    self.agenda.add(now + REREAD_DELAY, Job::Trades);
                }
            },
        }
    }

    pub(super) fn apply_report(&mut self, intent: IntentId, report: &TradeReport, step: &mut Step<'_>) {
        let now = step.now;
        let taken = self.venue_terms(intent, report);
        if let Some(taken) = taken {
            self.trades.set_stake(intent, taken.stake);
        }
        let Some(trade) = self.trades.find(intent) else { return };
        let (venue_id, close) = (trade.venue_id.clone(), trade.close_time);
        let settled = to_settlement(report, intent, trade, self.session.scale());
        if settled.is_some() || taken.is_some() {
            self.audit_terms(intent, report, step);
        }
        let Some(settled) = settled else { return self.record_details(intent, report, now) };
        if taken.is_some() {
            self.record_details(intent, report, now);
        }
        if report.is_reverted && settled.outcome != Outcome::Cancelled {
            let text =
                format!("trade #{intent} ended as {}, but the venue marks it as reverted", settled.outcome);
            self.halt_on_implausible_data(text, step);
        }
        let close = settled.close_time.or(close).unwrap_or(now);
        self.audit_settlement(&settled, (venue_id, taken), step);
        // The adopted trade may already have finished. Its settlement must come after the queued adoption.
        let at = self.events.time_after_queued_answer(intent).map_or(now, |after| after.max(now));
        self.events.add(at, EventRank::Settlement(close, intent), EventKind::Settled(settled));
        self.trades.stop_watching(intent);
        if settled.outcome == Outcome::Cancelled && !self.is_simulated {
            self.contradictions.expect_cancellation(intent, now);
            self.agenda.add(now, Job::Trades);
        }
    }

    fn record_details(&mut self, intent: IntentId, report: &TradeReport, now: Millis) {
        let is_news = self.session.row(intent).is_some_and(|row| {
            let has_price = row.open_price.is_none() && report.open_price.is_some();
            has_price || row.close_time.is_none() && report.close_time.is_some()
        });
        let opened = self.to_opened_trade(intent, report);
        if is_news || opened.taken.is_some() {
            self.events.add(now, EventRank::Answer(intent), EventKind::Opened(opened));
        }
        if let Some(again) = self.trades.update_close_time(intent, report.close_time, now) {
            self.agenda.add(again, Job::Trade(intent));
        }
    }

    pub(super) fn with_agreed_payout(
        &mut self,
        intent: IntentId,
        report: TradeReport,
        step: &mut Step<'_>,
    ) -> TradeReport {
        let Some(trade) = self.trades.find_mut(intent) else { return report };
        trade.payout = trade.payout.or(report.payout);
        let agreed = trade.payout;
        self.check_payout((intent, agreed), &report, step);
        TradeReport { payout: report.payout.and(agreed), ..report }
    }

    pub(super) fn check_payout(
        &mut self,
        (intent, agreed): (IntentId, Option<Payout>),
        report: &TradeReport,
        step: &mut Step<'_>,
    ) {
        if let (Some(agreed), Some(paid)) = (agreed, report.payout)
            && agreed != paid
            && paid.to_percent() <= f64::from(self.settings.max_payout_percent)
        {
            let text = format!(
                "trade #{intent}: the venue now pays {paid} %, but {agreed} % was agreed at the open"
            );
            self.halt_on_implausible_data(text, step);
        }
    }
}
