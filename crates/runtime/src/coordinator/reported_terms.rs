//! Later words on our trades, in their own records and in the list, against what was ordered: above all whose money it is.

use super::Coordinator;
use super::command::Step;
use crate::audit::{Terms, check_owner, check_terms};
use candlewick_broker::{TradeListing, TradeReport};
use candlewick_engine::{IntentId, VenueId};
use std::collections::BTreeMap;

impl Coordinator {
    /// Halts if a record says that a trade of ours is on another account, or another user's.
    pub(super) fn audit_owner(&mut self, intent: IntentId, report: &TradeReport, step: &mut Step<'_>) {
        let Some(terms) = self.session.terms(intent) else { return };
        if let Some(reason) = check_owner(intent, &self.session.order_of(&terms), report) {
            self.halt_at_other_money(reason, step);
        }
    }

    /// What halted the run, the open may have said already.
    fn halt_at_other_money(&mut self, reason: String, step: &mut Step<'_>) {
        if self.session.halted() != Some(&reason) {
            self.halt_at_oddity(reason, step);
        }
    }

    /// Halts if the list shows a trade of ours with other terms than its own record has.
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
            let Some(terms) = self.session.terms(intent) else { continue };
            let (terms, _) = check_terms(intent, &self.session.order_of(&terms), report);
            if let Terms::OtherMoney { reason } = terms {
                self.halt_at_other_money(reason, step);
            }
        }
    }
}
