//! Pauses after refusals by the venue, counted from the events only (`domain 4`, `RefusedByVenue`).

use crate::prelude::*;
use candlewick_engine::{RefusalReason, Rejection};

const FIRST_PAUSE: Millis = Millis::MINUTE;
const MAX_PAUSE: Millis = Millis::HOUR;
const OF_ACCOUNT: [RefusalReason; 5] = [
    RefusalReason::TradesPerMinute,
    RefusalReason::TradesPerDay,
    RefusalReason::PendingLimit,
    RefusalReason::InsufficientBalance,
    RefusalReason::AccountRestricted,
];

#[derive(Default)]
pub(crate) struct Refusals {
    entries: BTreeMap<(Option<SymbolId>, RefusalReason), (u32, Millis)>,
}

impl Refusals {
    pub(crate) fn take(&mut self, event: &Event, book: &TradeBook) {
        match &event.kind {
            EventKind::Rejected { intent, rejection: Rejection::Refused { reason, .. } } => {
                let Some(row) = book.row(*intent) else { return };
                let symbol = (!OF_ACCOUNT.contains(reason)).then_some(row.approved.symbol());
                let (count, last) = self.entries.entry((symbol, *reason)).or_insert((0, Millis::ZERO));
                *count += u32::from(row.approved.decision_time() >= *last);
                *last = event.at.max(*last);
            }
            EventKind::Opened(opened) | EventKind::Adopted(opened) => {
                let Some(row) = book.row(opened.intent) else { return };
                let (symbol, decided) = (row.approved.symbol(), row.approved.decision_time());
                self.entries.retain(|(refused, _), (_, last)| {
                    *last > decided || refused.is_some_and(|refused| refused != symbol)
                });
            }
            EventKind::Control { control: Control::Resume } => self.entries.clear(),
            _ => {}
        }
    }

    pub(crate) fn check(&self, world: &World, approved: &Approved) {
        for ((symbol, reason), (count, last)) in &self.entries {
            let is_meant = symbol.is_none_or(|symbol| symbol == approved.symbol());
            let doubled = FIRST_PAUSE * (1 << (count.max(&1) - 1).min(6));
            let is_over = approved.decision_time() >= *last + doubled.min(MAX_PAUSE);
            let decided = approved.decision_time();
            world.require(!is_meant || is_over, || format!("{decided} follows {reason} {count} of {last}"));
        }
    }
}
