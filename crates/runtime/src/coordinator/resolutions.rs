//! Recovers intents, resolves orders in doubt, and handles listed trades that match declined or unsent orders.

use super::Coordinator;
use super::agenda::{EventRank, Job};
use super::command::{ReadRequest, Step};
use super::foreign_trades::MAX_NAMED_TRADES;
use super::plausibility::{remove_times_outside, with_rounded_amount};
use crate::control::describe_time;
use crate::resolver::{Match, Resolution, compare_terms, reported_request_time};
use candlewick_broker::{Balances, Reply, TradeListing, TradeReport};
use candlewick_engine::{EventKind, IntentId, IntentRow, IntentState, OrderTerms};
use candlewick_sdk::{Millis, Money};

const MAX_TIME_AHEAD: Millis = Millis::from_seconds(2 * 24 * 3_600);

impl Coordinator {
    pub(super) fn recover(&mut self, step: &mut Step<'_>) {
        for row in self.session.book().rows().to_vec() {
            if let Some(id) = self.session.book().venue_id(&row) {
                self.doubts.claim(id.as_str());
            }
            self.recall_audits(&row, step.now);
            self.recover_intent(&row, step);
        }
        self.schedule_poll();
        self.schedule_second_trade_check(step.now);
        if self.doubts.next_routine_poll(step.now).is_some() {
            self.agenda.add(step.now, Job::Trades);
        }
    }

    fn recover_intent(&mut self, row: &IntentRow, step: &mut Step<'_>) {
        let (terms, now) = (row.approved, step.now);
        let intent = terms.intent();
        match row.state {
            IntentState::Settled | IntentState::Rejected | IntentState::NotSent => {}
            IntentState::InFlight => {
                // The earlier run may have crashed before or after it sent the order.
                self.handle(now, EventKind::InDoubt { intent }, step);
                self.begin_doubt(&terms, now);
            }
            IntentState::InDoubt => self.doubts.restore(&self.session, &terms, now),
            IntentState::NotOpened => {
                if now - terms.decision_time() < Millis::DAY {
                    self.doubts.restore_late_search(&self.session, &terms, now);
                }
            }
            IntentState::Open => match self.session.book().venue_id(row) {
                Some(id) => {
                    let report = TradeReport { close_time: row.close_time, ..TradeReport::new(id.as_str()) };
                    // The journal may have been edited or written by a less strict version, so this is checked again.
                    let report = self.with_plausible_times(intent, report, step);
                    self.begin_tracking(intent, &report, now);
                }
                None => self.begin_doubt(&terms, now),
            },
        }
    }

    pub(super) fn begin_doubt(&mut self, terms: &OrderTerms, now: Millis) {
        self.doubts.begin(&self.session, terms, now);
        self.schedule_poll();
    }

    fn schedule_poll(&mut self) {
        if let Some(at) = self.doubts.resolver.next_poll() {
            self.agenda.add(at, Job::Trades);
        }
    }

    /// Handles the venue's trade list. If the list is complete, requests a wallet reading as further evidence.
    pub(super) fn on_trades(&mut self, mut listing: TradeListing, step: &mut Step<'_>) {
        let scale = self.session.scale();
        let rows = listing.trades.into_iter().map(|report| with_rounded_amount(report, scale));
        let mut odd = 0;
        listing.trades = rows.map(|row| self.with_possible_times(row, &mut odd, step)).collect();
        if odd > MAX_NAMED_TRADES {
            let text = format!("{} more listed trades have implausible times", odd - MAX_NAMED_TRADES);
            self.session.alarm(text, step);
        }
        let is_whole = listing.end_error.is_none();
        if let Some(error) = &listing.end_error {
            self.warn_request_failed("the venue's trade list could not be read", error, step);
        }
        self.doubts.listing = Some(listing);
        if is_whole {
            self.request(ReadRequest::BalancesAfterTrades, step);
        } else {
            self.on_balances_after_trades(None, step);
        }
    }

    /// Removes implausible times from a listed trade. The other fields may still identify the trade.
    fn with_possible_times(&mut self, row: TradeReport, odd: &mut usize, step: &mut Step<'_>) -> TradeReport {
        let (row, impossible) = remove_times_outside(row, Millis::ZERO, step.now + MAX_TIME_AHEAD);
        if let Some(at) = impossible.filter(|_| self.doubts.is_new_implausible_trade(&row.id)) {
            *odd += 1;
            if *odd <= MAX_NAMED_TRADES {
                let (id, at) = (&row.id, describe_time(at));
                let text = format!("listed trade {id} has an implausible time: {at}");
                self.session.alarm(text, step);
            }
        }
        row
    }

    pub(super) fn on_balances_after_trades(&mut self, reply: Option<&Reply<Balances>>, step: &mut Step<'_>) {
        let Some(listing) = self.doubts.listing.take() else { return };
        let (now, is_whole) = (step.now, listing.is_complete && listing.end_error.is_none());
        self.audit_results(&listing, step);
        self.check_unconfirmed_ends(&listing, step);
        self.audit_listed_terms(&listing, step);
        self.report_missing_trades(&listing, step);
        self.check_other_accounts(&listing, step);
        let wallet = reply.and_then(|reply| self.wallet_amount(reply, step));
        let opening: Vec<IntentId> = self.requests.pending_open_intents().collect();
        let has_stood = self.audits.wallet.is_ledger_stable(now, self.doubts.resolver.lag.allowance());
        let known = (opening.as_slice(), self.clock_uncertainty(), has_stood);
        let mut unexplained = Vec::new();
        for resolution in self.doubts.resolve(&listing, wallet, &self.session, known, now) {
            match resolution {
                Resolution::Unexplained { report } => unexplained.push(*report),
                Resolution::Reinstate { intents, report } => {
                    self.reinstate_refused_orders(&intents, &report, wallet, step);
                }
                resolution => self.apply_resolution(resolution, step),
            }
        }
        self.report_unexplained_trades(&unexplained, wallet, step);
        if is_whole {
            self.report_open_foreign_trades(&listing, step);
        }
        self.foreign_trades.end_search(is_whole);
        self.settle_second_trades(&listing, step);
        if let Some(reply) = reply {
            self.audit_wallet_after_trades(reply, step);
        }
        if is_whole {
            self.forget_old_intents(listing.began);
        }
        if let Some(at) = self.doubts.next_routine_poll(now) {
            self.agenda.add(at, Job::Trades);
        }
        self.schedule_refusal_check(now);
        // If the poll resolved nothing, the next poll follows after a delay.
        if let Some(at) = self.doubts.resolver.next_poll() {
            self.agenda.add(at.max(now + Millis::SECOND), Job::Trades);
        }
    }

    fn apply_resolution(&mut self, resolution: Resolution, step: &mut Step<'_>) {
        match resolution {
            Resolution::Adopt { intent, report } => {
                step.log_warning(format!(
                    "trade #{intent} was in doubt and has been identified as the venue's trade {}",
                    report.id
                ));
                self.adopt(intent, &report, step);
            }
            Resolution::AdoptLate { intent, report } => {
                let text = format!(
                    "trade #{intent} was treated as not opened, but is the venue's trade {}",
                    report.id
                );
                self.session.alarm(text, step);
                self.adopt(intent, &report, step);
            }
            Resolution::NotOpened { intent, reserved_until } => {
                step.log_warning(format!("trade #{intent} was in doubt, but was not opened"));
                self.mark_not_opened(intent, reserved_until, step.now);
            }
            Resolution::Escalate { intent, why } => {
                let reason = why.describe(self.session.scale());
                let text = format!(
                    "trade #{intent} stays in doubt: {reason}. Run `candlewick resolve {intent} --adopt VENUE_ID` \
                     or `--not-opened`"
                );
                self.session.alarm(text, step);
                self.halt_at_contested_trade(intent, &why, step);
            }
            Resolution::Reinstate { .. } | Resolution::Unexplained { .. } => {}
        }
    }

    fn adopt(&mut self, intent: IntentId, report: &TradeReport, step: &mut Step<'_>) {
        if let Some(row) = self.session.book().row(intent) {
            self.audits.wallet.postpone_change(-row.approved.stake(), step.now);
        }
        let report = &self.remove_implausible_fields(intent, report.clone(), step);
        self.audit_terms(intent, report, step);
        self.audit_payout(intent, report.payout, step);
        self.begin_tracking(intent, report, step.now);
        let kind = EventKind::Adopted(self.to_opened_trade(intent, report));
        self.events.add(step.now, EventRank::Answer(intent), kind);
    }

    pub(super) fn mark_not_opened(&mut self, intent: IntentId, reserved_until: Millis, now: Millis) {
        self.events.add(now, EventRank::Answer(intent), EventKind::NotOpened { intent, reserved_until });
    }

    /// Resolves an order in doubt manually: adopts `trade`, or marks the intent as not opened if `trade` is `None`.
    pub(super) fn resolve_manually(
        &mut self,
        intent: IntentId,
        trade: Option<&TradeReport>,
        step: &mut Step<'_>,
    ) -> Result<(), String> {
        if let Some(report) = trade {
            self.reinstate_if_refused(intent, report, step);
            self.doubts.assign(intent, &report.id)?;
            self.adopt(intent, report, step);
            return Ok(());
        }
        let reserved_until = self.doubts.resolver.give_up(intent).map_err(|why| why.describe(intent))?;
        self.mark_not_opened(intent, reserved_until, step.now);
        Ok(())
    }
}

const REFUSAL_CHECK_DELAYS: [Millis; 3] =
    [Millis::from_seconds(5), Millis::from_seconds(30), Millis::from_seconds(120)];
/// Maximum difference between two request times that count as simultaneous. Allows for clock differences.
const SAME_TIME_SLACK: Millis = Millis::from_seconds(2);

impl Coordinator {
    pub(super) fn note_refusal(&mut self, now: Millis) {
        self.refused_at = Some(now);
        self.schedule_refusal_check(now);
    }

    fn schedule_refusal_check(&mut self, now: Millis) {
        if self.doubts.next_routine_poll(now).is_none() {
            return;
        }
        let checks = self.refused_at.into_iter().flat_map(|at| REFUSAL_CHECK_DELAYS.map(|after| at + after));
        if let Some(at) = checks.filter(|at| *at > now).min() {
            self.agenda.add(at, Job::Trades);
        }
    }

    /// Puts declined or unsent orders back in doubt if a listed trade matches them, but not an accepted order.
    fn reinstate_refused_orders(
        &mut self,
        intents: &[IntentId],
        report: &TradeReport,
        wallet: Option<Money>,
        step: &mut Step<'_>,
    ) {
        let refused: Vec<IntentRow> = (intents.iter())
            .filter_map(|intent| self.session.row(*intent).copied())
            .filter(IntentRow::is_refused)
            .collect();
        let Some(first) = refused.first() else { return };
        let orders = describe_orders(&refused);
        if let Some(answered) =
            self.doubts.second_trade_owner(report, &self.session, self.clock_uncertainty())
        {
            let text = format!(
                "a listed trade may be a duplicate, or may belong to {orders}. Trade #{answered} was ordered once, \
                 but the venue has a second one, {}",
                report.id
            );
            return self.on_second_trade(report, (answered, true), text, wallet, step);
        }
        let order = self.session.to_trade_order(&first.approved);
        let matched = match compare_terms(&order, report) {
            Match::Different => "the symbol and the request time, but not all terms",
            Match::Same | Match::Unclear => "the terms and the request time",
        };
        let state = if refused.len() == 1 { "the order is" } else { "the orders are" };
        let trade = describe_trade(report);
        let text =
            format!("the venue lists trade {trade} with {matched} of {orders}: {state} in doubt again");
        for row in &refused {
            self.reinstate(row, step);
        }
        self.halt_on_implausible_data(text, step);
    }

    fn reinstate_if_refused(&mut self, intent: IntentId, report: &TradeReport, step: &mut Step<'_>) {
        let refused = self.session.row(intent).copied().filter(IntentRow::is_refused);
        if let Some(row) = refused.filter(|_| !self.doubts.is_claimed(&report.id)) {
            self.reinstate(&row, step);
        }
    }

    pub(super) fn describe_simultaneous_intents(&self, report: &TradeReport) -> Option<String> {
        let requested = reported_request_time(report)?;
        let is_near = |row: &&IntentRow| {
            let sent = self.doubts.sent_at(&row.approved);
            let symbol = self.session.ordered_symbol(&row.approved);
            sent.abs_diff(requested) <= SAME_TIME_SLACK && report.symbol.as_deref() == Some(symbol.as_str())
        };
        let describe = |row: &IntentRow| {
            let intent = row.approved.intent();
            match row.state {
                IntentState::InFlight | IntentState::InDoubt => {
                    Some(format!("trade #{intent}, which is in doubt"))
                }
                IntentState::NotOpened => Some(format!("trade #{intent}, which was treated as not opened")),
                IntentState::Rejected | IntentState::NotSent => Some(describe_orders(&[*row])),
                IntentState::Open | IntentState::Settled => None,
            }
        };
        let near: Vec<String> =
            self.session.book().rows().iter().filter(is_near).filter_map(describe).collect();
        (!near.is_empty()).then(|| near.join(" and "))
    }

    fn reinstate(&mut self, row: &IntentRow, step: &mut Step<'_>) {
        self.handle(step.now, EventKind::Reinstated(row.approved), step);
        self.doubts.reinstate(&self.session, row, step.now);
    }
}

fn describe_trade(report: &TradeReport) -> String {
    let stake = report.amount.map(|amount| format!("{amount:.2} on ")).unwrap_or_default();
    let symbol = report.symbol.as_deref().unwrap_or("an unknown symbol");
    format!("{} ({stake}{symbol})", report.id)
}

fn describe_orders(refused: &[IntentRow]) -> String {
    let describe = |row: &IntentRow| {
        let intent = row.approved.intent();
        match row.state {
            IntentState::NotSent => format!("trade #{intent}, which was not sent"),
            _ => format!("trade #{intent}, which the venue declined"),
        }
    };
    refused.iter().map(describe).collect::<Vec<_>>().join(" and of ")
}
