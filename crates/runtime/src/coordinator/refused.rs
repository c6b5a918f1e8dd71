//! Orders that were rejected or not sent, although the venue's list shows their trade.

use super::Coordinator;
use super::agenda::Job;
use super::command::Step;
use crate::resolver::{Match, compare_terms, request_time_of};
use candlewick_broker::TradeReport;
use candlewick_engine::{EventKind, IntentId, IntentRow, IntentState};
use candlewick_sdk::{Millis, Money};

const CHECKS_AFTER: [Millis; 3] =
    [Millis::from_seconds(5), Millis::from_seconds(30), Millis::from_seconds(120)];

/// Tolerance for a request and a listed trade of the same second, because clocks differ.
const SAME_SECOND: Millis = Millis::from_seconds(2);

impl Coordinator {
    pub(super) fn note_refusal(&mut self, now: Millis) {
        self.refused_at = Some(now);
        self.plan_refusal_check(now);
    }

    pub(super) fn plan_refusal_check(&mut self, now: Millis) {
        if self.doubts.next_routine_look(now).is_none() {
            return;
        }
        let checks = self.refused_at.into_iter().flat_map(|at| CHECKS_AFTER.map(|after| at + after));
        if let Some(at) = checks.filter(|at| *at > now).min() {
            self.agenda.add(at, Job::Trades);
        }
    }

    /// Handles a listed trade that matches rejected orders in terms and time.
    ///
    /// If it may be the second trade of an accepted order, it counts as that. Otherwise the orders
    /// are in doubt again, and the resolver decides.
    pub(super) fn on_refused_listed(
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
        if let Some(answered) = self.doubts.second_of(report, &self.session, self.skew.uncertainty()) {
            let text = format!(
                "it may be {orders}: trade #{answered} was ordered once, and the venue has a second one, {}",
                report.id
            );
            return self.on_second_trade(report, (answered, true), text, wallet, step);
        }
        let order = self.session.order_of(&first.approved);
        let matched = match compare_terms(&order, report) {
            Match::Different => "the symbol and the second, but not all terms",
            Match::Same | Match::Unclear => "the terms and the second",
        };
        let counts = if refused.len() == 1 { "it counts again" } else { "they count again" };
        let text =
            format!("the venue lists trade {} with {matched} of {orders}: {counts}", describe_trade(report));
        for row in &refused {
            self.reinstate(row, step);
        }
        self.halt_at_oddity(text, step);
    }

    pub(super) fn reinstate_for_operator(
        &mut self,
        intent: IntentId,
        report: &TradeReport,
        step: &mut Step<'_>,
    ) {
        let refused = self.session.row(intent).copied().filter(IntentRow::is_refused);
        if let Some(row) = refused.filter(|_| !self.doubts.is_claimed(&report.id)) {
            self.reinstate(&row, step);
        }
    }

    pub(super) fn intents_of_second(&self, report: &TradeReport) -> Option<String> {
        let requested = request_time_of(report)?;
        let is_near = |row: &&IntentRow| {
            let sent = self.doubts.sent_at(&row.approved);
            let symbol = self.session.symbol_of(&row.approved);
            sent.abs_diff(requested) <= SAME_SECOND && report.symbol.as_deref() == Some(symbol.as_str())
        };
        let describe = |row: &IntentRow| {
            let intent = row.approved.intent();
            match row.state {
                IntentState::InFlight | IntentState::InDoubt => {
                    Some(format!("trade #{intent}, which is in doubt"))
                }
                IntentState::NotOpened => Some(format!("trade #{intent}, which counts as not opened")),
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
            IntentState::NotSent => format!("trade #{intent}, which counted as not sent"),
            _ => format!("trade #{intent}, which the venue had rejected"),
        }
    };
    refused.iter().map(describe).collect::<Vec<_>>().join(" and of ")
}
