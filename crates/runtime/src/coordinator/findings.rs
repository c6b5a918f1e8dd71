//! Passes data to the audits, then records and reports their findings.

use super::Coordinator;
use super::agenda::Job;
use super::command::{ReadRequest, RequestId, Step};
use crate::audit::{
    Audit, BookedResult, Finding, PriceCheck, ResultSource, Settlement, Severity, TermsCheck, check_terms,
};
use candlewick_broker::{BrokerError, PriceAnswer, Reply, TradeReport};
use candlewick_engine::{Control, IntentId, IntentRow, TradeSettlement, VenueTerms};
use candlewick_sdk::{Millis, Payout};
use serde_json::json;
use std::collections::BTreeMap;

const RECALL_WINDOW: Millis = Millis::from_seconds(600);

impl Coordinator {
    pub(super) fn report_findings(
        &mut self,
        audit: Audit,
        checked: usize,
        findings: Vec<Finding>,
        step: &mut Step<'_>,
    ) {
        let findings = self.audits.drop_duplicates(findings);
        self.audits.add_counts(audit, checked, findings.len());
        for finding in findings {
            let note = json!({ "audit": finding.audit, "finding": finding.text }).to_string();
            self.session.journal.note(note, step);
            match finding.severity {
                Severity::Alarm => step.warn(finding.text),
                Severity::Note => tracing::info!("{}", finding.text),
            }
        }
    }

    pub(super) fn audit_terms(&mut self, intent: IntentId, report: &TradeReport, step: &mut Step<'_>) {
        let Some(terms) = self.session.terms(intent) else { return };
        let (terms, findings) = check_terms(intent, &self.session.expected_terms(&terms), report);
        self.report_findings(Audit::Terms, 1, findings, step);
        if let TermsCheck::Other { reason } = terms {
            self.halt(reason, step);
        }
    }

    pub(super) fn halt(&mut self, reason: String, step: &mut Step<'_>) {
        if self.session.halt_reason().is_none() {
            self.begin_halt(reason, step);
        }
    }

    pub(super) fn begin_halt(&mut self, reason: String, step: &mut Step<'_>) {
        let is_halted = self.session.halt_reason().is_some();
        self.session.begin_halt(reason, step);
        if !is_halted {
            self.apply_control(Control::Halt, step);
        }
    }

    pub(super) fn audit_payout(&mut self, intent: IntentId, payout: Option<Payout>, step: &mut Step<'_>) {
        let symbol = self.session.terms(intent).map(|terms| self.session.ordered_symbol(&terms));
        if let (Some(symbol), Some(payout)) = (symbol, payout) {
            let finding = self.audits.payouts.check(symbol, payout);
            self.report_findings(Audit::Payout, 1, finding.into_iter().collect(), step);
        }
    }

    pub(super) fn audit_unrecognised_data(&mut self, names: BTreeMap<String, u64>, step: &mut Step<'_>) {
        for finding in self.audits.check_unrecognised_data(names) {
            self.report_findings(Audit::Schema, 0, vec![finding], step);
        }
    }

    pub(super) fn audit_settlement(
        &mut self,
        settled: &TradeSettlement,
        (venue_id, taken): (String, Option<VenueTerms>),
        step: &mut Step<'_>,
    ) {
        let TradeSettlement { intent, outcome, profit, .. } = *settled;
        let Some(row) = self.session.row(settled.intent) else { return };
        let terms = taken.map_or(row.approved, |taken| row.approved.with_venue_terms(&taken));
        let booked = BookedResult {
            intent,
            bot: terms.bot(),
            stake: terms.stake(),
            payout: settled.payout.or(row.payout),
            outcome,
            profit,
            at: step.now,
            source: ResultSource::Venue,
        };
        self.audits.results.book(&venue_id, booked);
        let settlement = Settlement {
            intent: settled.intent,
            symbol: self.session.traded_symbol(&terms),
            direction: terms.direction(),
            stake: terms.stake(),
            payout: settled.payout.or(row.payout),
            outcome: settled.outcome,
            profit: settled.profit,
            open: settled.open_time.or(row.open_time).zip(settled.open_price.or(row.open_price)),
            close: settled.close_time.or(row.close_time).zip(settled.close_price),
        };
        let rules = self.profit_rules();
        let findings = self.audits.settlements.check(settlement, rules);
        self.report_findings(Audit::Settlement, 1, findings, step);
        // The wallet reflects the venue's amount, so that amount is booked even if it is wrong.
        if let Some(wrong) = settlement.settled_profit().check(rules).filter(|wrong| wrong.must_halt) {
            self.halt_on_implausible_data(wrong.text, step);
        }
        if self.settings.audit_settlement_prices {
            self.agenda.add(step.now, Job::SettlementPrices);
        }
    }

    /// Restores the audit state of an intent from an earlier run, and checks a recent settlement again.
    pub(super) fn recall_audits(&mut self, row: &IntentRow, now: Millis) {
        let terms = row.approved;
        let symbol = self.session.ordered_symbol(&terms);
        if let Some(payout) = row.payout {
            self.audits.payouts.restore(symbol, payout);
        }
        if let Some(((outcome, at), id)) =
            row.outcome.zip(row.settled_at).zip(self.session.book().venue_id(row))
        {
            let intent = terms.intent();
            let is_by_operator = self.session.book().is_settled_by_operator(intent);
            let booked = BookedResult {
                intent,
                bot: terms.bot(),
                stake: terms.stake(),
                payout: row.payout,
                outcome,
                profit: row.profit,
                at,
                source: if is_by_operator { ResultSource::Operator } else { ResultSource::Venue },
            };
            self.audits.results.book(id.as_str(), booked);
        }
        let is_young = row.settled_at.is_some_and(|at| now - at < RECALL_WINDOW);
        if let Some(outcome) = row.outcome.filter(|_| is_young && self.settings.audit_settlement_prices) {
            self.audits.settlements.enqueue(Settlement {
                intent: terms.intent(),
                symbol: self.session.traded_symbol(&terms),
                direction: terms.direction(),
                stake: terms.stake(),
                payout: row.payout,
                outcome,
                profit: row.profit,
                open: row.open_time.zip(row.open_price),
                close: row.close_time.zip(row.close_price),
            });
            self.agenda.add(now, Job::SettlementPrices);
        }
    }

    /// Requests the price records of one settlement at a time, so that the audits never delay trading.
    pub(super) fn request_settlement_prices(&mut self, step: &mut Step<'_>) {
        if self.requests.contains(RequestId::SettlementPrice) {
            return;
        }
        loop {
            match self.audits.settlements.next_check() {
                PriceCheck::Ask(symbol, at) => {
                    return self.request(ReadRequest::SettlementPrice(symbol, at), step);
                }
                PriceCheck::Checked(checked, findings) => {
                    self.report_findings(Audit::Settlement, checked, findings, step);
                }
                PriceCheck::Nothing => return,
            }
        }
    }

    /// Handles a price record for the audit of a settlement. A failed request causes no finding.
    pub(super) fn on_settlement_price(
        &mut self,
        answer: Result<Reply<PriceAnswer>, BrokerError>,
        step: &mut Step<'_>,
    ) {
        if let Err(error) = &answer
            && !error.is_temporary()
        {
            step.warn(format!("cannot check the prices of settled trades: {error}"));
        }
        self.audits.settlements.on_price(answer.ok().map(|reply| reply.value));
        self.request_settlement_prices(step);
    }
}
