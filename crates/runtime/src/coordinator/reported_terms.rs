//! Checks later reports on our trades against the order, above all the owner.

use super::Coordinator;
use super::command::Step;
use super::recorded_session::RecordedSession;
use crate::audit::{OrderedTerms, Terms, check_terms};
use candlewick_broker::{OpenOrder, TradeListing, TradeReport};
use candlewick_engine::{IntentId, OrderTerms, VenueId};
use std::collections::BTreeMap;

impl Coordinator {
    pub(super) fn audit_reported_terms(
        &mut self,
        intent: IntentId,
        report: &TradeReport,
        step: &mut Step<'_>,
    ) {
        let Some(terms) = self.session.terms(intent) else { return };
        let (terms, _) = check_terms(intent, &self.session.ordered_terms(&terms), report);
        // What halted the run, the open may have said already.
        if let Terms::Other { reason } = terms
            && self.session.halted() != Some(&reason)
        {
            self.halt_at_oddity(reason, step);
        }
    }

    pub(super) fn audit_listed_terms(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        let book = self.session.book();
        let own: BTreeMap<VenueId, IntentId> = (book.rows().iter())
            .filter_map(|row| Some((book.venue_id(row)?, row.approved.intent())))
            .collect();
        if own.is_empty() {
            return;
        }
        for report in &listing.trades {
            let Some(intent) = own.get(&VenueId::truncated(&report.id)).copied() else { continue };
            self.audit_reported_terms(intent, report, step);
            // Its own record may be too short to say how its stake was paid.
            self.check_funding(intent, report, step);
        }
    }
}

impl RecordedSession {
    pub(super) fn ordered_terms(&self, terms: &OrderTerms) -> OrderedTerms {
        let counted = self.order_of(terms);
        let asked = self.book().departure(terms.intent()).map(|departure| OpenOrder {
            symbol: self.symbol_of(&departure.ordered),
            direction: departure.ordered.direction(),
            amount: self.scale().to_decimal(departure.ordered.stake()).normalize(),
            ..counted.clone()
        });
        OrderedTerms { asked: asked.unwrap_or_else(|| counted.clone()), counted }
    }
}
