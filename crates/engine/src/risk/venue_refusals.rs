//! Pauses after the venue declined orders: the paused symbols, and the length of each pause.

use super::{Proposal, RiskSettings, RiskView, Ruling, refuse_if};
use crate::{RefusalReason, Renumbering, SymbolId};
use candlewick_sdk::{Millis, Symbol};
use serde::{Deserialize, Serialize};

/// Maximum pause after repeated declines. If the configured first pause is longer, its length applies instead.
const MAX_PAUSE: Millis = Millis::HOUR;

/// A pause of new trades after the venue declined orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalPause {
    /// Reason given by the venue.
    pub reason: RefusalReason,
    /// Number of declined orders since the last accepted order.
    pub refusals: u32,
    /// End of the pause.
    pub until: Millis,
    /// Paused symbol, `None` if the reason concerns the whole account.
    pub(crate) symbol: Option<SymbolId>,
}

/// Declined orders since the last accepted order, with one entry per symbol and reason.
/// Pause lengths are not stored, because the setting may change.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct VenueRefusals {
    entries: Vec<RefusalEntry>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct RefusalEntry {
    reason: RefusalReason,
    symbol: Option<SymbolId>,
    count: u32,
    last: Millis,
}

impl RefusalPause {
    /// Describes the cause of the pause, such as `2 orders declined by the venue in a row: symbol not active`.
    pub fn cause(&self) -> String {
        let (plural, row) = if self.refusals == 1 { ("", "") } else { ("s", " in a row") };
        format!("{} order{plural} declined by the venue{row}: {}", self.refusals, self.reason)
    }
}

/// The venue's reply to an order, reduced to the data that determines a pause.
#[derive(Clone, Copy, Debug)]
pub struct OrderReply {
    /// Traded symbol.
    pub symbol: Symbol,
    /// Venue time of the decision to trade.
    pub decided: Millis,
    /// Venue time of the reply.
    pub at: Millis,
    /// Reason for declining the order, `None` if the venue accepted it.
    pub refusal: Option<RefusalReason>,
}

/// Returns a symbol's pause at `now`, given the venue's replies in time order. `None` if the symbol is not paused.
pub fn refusal_pause_after(
    risk: &RiskSettings,
    symbol: Symbol,
    answers: &[OrderReply],
    now: Millis,
) -> Option<RefusalPause> {
    let mut refusals = VenueRefusals::default();
    for answer in answers {
        let place = if answer.symbol == symbol { SymbolId::FIRST } else { SymbolId::RETIRED };
        match answer.refusal {
            Some(reason) => refusals.record(reason, place, answer.decided, answer.at),
            None => refusals.forget_before(place, answer.decided),
        }
    }
    let first = Millis::from_seconds(i64::from(risk.refused_by_venue_pause_s));
    refusals.running_pauses(first, now).into_iter().find(|pause| pause.symbol != Some(SymbolId::RETIRED))
}

impl VenueRefusals {
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Records a declined order. The pause does not grow if the order was decided before the previous decline.
    pub(crate) fn record(&mut self, reason: RefusalReason, symbol: SymbolId, decided: Millis, at: Millis) {
        let symbol = (!reason.applies_to_account()).then_some(symbol);
        match self.entries.iter_mut().find(|entry| entry.reason == reason && entry.symbol == symbol) {
            Some(entry) => {
                entry.count = entry.count.saturating_add(u32::from(decided >= entry.last));
                entry.last = entry.last.max(at);
            }
            None => self.entries.push(RefusalEntry { reason, symbol, count: 1, last: at }),
        }
    }

    pub(super) fn forget_before(&mut self, symbol: SymbolId, decided: Millis) {
        self.entries.retain(|entry| {
            let applies = entry.symbol.is_none_or(|own| own == symbol);
            !applies || entry.last > decided
        });
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(super) fn paused_until(&self, symbol: SymbolId, first: Millis) -> Millis {
        let applies = |entry: &&RefusalEntry| entry.symbol.is_none_or(|own| own == symbol);
        let ends = self.entries.iter().filter(applies).map(|entry| entry.pause_end(first));
        ends.max().unwrap_or(Millis::new(i64::MIN))
    }

    pub(crate) fn running_pauses(&self, first: Millis, now: Millis) -> Vec<RefusalPause> {
        let pauses = self.entries.iter().map(|entry| RefusalPause {
            reason: entry.reason,
            refusals: entry.count,
            until: entry.pause_end(first),
            symbol: entry.symbol,
        });
        let mut running: Vec<RefusalPause> = pauses.filter(|pause| pause.until > now).collect();
        running.sort_by_key(|pause| std::cmp::Reverse(pause.until));
        running
    }

    pub(super) fn renumbered(mut self, numbers: &Renumbering) -> Self {
        for entry in &mut self.entries {
            entry.symbol = entry.symbol.map(|symbol| numbers.map_symbol(symbol));
        }
        self
    }
}

impl RefusalEntry {
    fn pause_end(&self, first: Millis) -> Millis {
        self.last + pause_length(self.count, first)
    }
}

/// Returns the length of the pause: `first`, doubled for each decline after the first, up to [`MAX_PAUSE`].
fn pause_length(refusals: u32, first: Millis) -> Millis {
    let doublings = refusals.saturating_sub(1).min(32);
    let pause = first.get().saturating_mul(1_i64 << doublings);
    Millis::new(pause.min(MAX_PAUSE.max(first).get()))
}

#[inline]
pub(super) fn check_refused_by_venue(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    refuse_if(proposal.at < view.state.refusal_pause_end(view.limits, proposal.symbol))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    const SYMBOL: SymbolId = SymbolId::FIRST;
    const MINUTE: Millis = Millis::MINUTE;

    fn other() -> SymbolId {
        SymbolId::new(1).unwrap()
    }

    const fn at(second: i64) -> Millis {
        Millis::from_seconds(second)
    }

    #[test]
    fn pauses_double_up_to_an_hour() {
        let seconds =
            |first: i64| [1, 2, 3, 6, 7, 8, u32::MAX].map(|n| pause_length(n, at(first)).get() / 1_000);
        assert_eq!(seconds(60), [60, 120, 240, 1_920, 3_600, 3_600, 3_600]);
        // A first pause of more than an hour does not grow. 0 disables the rule.
        assert_eq!(seconds(7_200), [7_200; 7]);
        assert_eq!(seconds(0), [0; 7]);
    }

    #[test]
    fn a_reason_pauses_its_symbol_or_the_account() {
        for reason in RefusalReason::ALL {
            let mut refusals = VenueRefusals::default();
            refusals.record(reason, SYMBOL, at(0), at(2));
            assert_eq!(refusals.paused_until(SYMBOL, MINUTE), at(62), "{reason}");
            let expected = if reason.applies_to_account() { at(62) } else { Millis::new(i64::MIN) };
            assert_eq!(refusals.paused_until(other(), MINUTE), expected, "{reason}");
        }
    }

    #[test]
    fn concurrent_orders_count_once_and_reasons_count_separately() {
        let mut refusals = VenueRefusals::default();
        let reason = RefusalReason::TradesPerMinute;
        refusals.record(reason, SYMBOL, at(0), at(2));
        refusals.record(reason, other(), at(0), at(3));
        assert_eq!(refusals.paused_until(SYMBOL, MINUTE), at(63));
        refusals.record(reason, SYMBOL, at(120), at(122));
        assert_eq!(refusals.paused_until(SYMBOL, MINUTE), at(122 + 120));
        refusals.record(RefusalReason::OutdatedPrice, SYMBOL, at(240), at(242));
        assert_eq!(refusals.paused_until(SYMBOL, MINUTE), at(242 + 60));
        let running: Vec<_> =
            refusals.running_pauses(MINUTE, at(241)).into_iter().map(|pause| pause.refusals).collect();
        assert_eq!(running, [1, 2]);
        assert_eq!(refusals.running_pauses(MINUTE, at(302)), []);
    }

    #[test]
    fn accepted_order_clears_refusals_before_its_decision() {
        let mut refusals = VenueRefusals::default();
        refusals.record(RefusalReason::SymbolInactive, SYMBOL, at(0), at(2));
        refusals.record(RefusalReason::SymbolInactive, other(), at(0), at(2));
        refusals.record(RefusalReason::TradesPerDay, SYMBOL, at(10), at(12));
        refusals.forget_before(SYMBOL, at(11));
        assert_eq!(refusals.running_pauses(MINUTE, at(12)).len(), 2);
        assert_eq!(refusals.paused_until(SYMBOL, MINUTE), at(72));
        refusals.forget_before(SYMBOL, at(80));
        assert_eq!(refusals.paused_until(SYMBOL, MINUTE), Millis::new(i64::MIN));
        assert_eq!(refusals.paused_until(other(), MINUTE), at(62));
    }

    /// Checks the rule `wait_ms` after a number of consecutive declines. The first pause is `first_s`.
    fn ask(reason: RefusalReason, refusals: i64, (first_s, wait_ms): (u32, i64)) -> [Ruling; 2] {
        let mut situation = Situation::with(|risk| risk.refused_by_venue_pause_s = first_s);
        let last = situation.proposal.at - Millis::new(wait_ms);
        for earlier in (0..refusals).rev() {
            let at = last - Millis::HOUR * earlier;
            situation.state.venue_refusals.record(reason, Situation::SYMBOL, at, at);
        }
        let own = situation.ask(check_refused_by_venue);
        situation.proposal.symbol = Situation::other_symbol();
        [own, situation.ask(check_refused_by_venue)]
    }

    #[test]
    fn refuses_until_the_pause_ends() {
        use Ruling::{Pass, Refuse};
        let inactive = RefusalReason::SymbolInactive;
        for (reason, refusals, setting, expected) in [
            (inactive, 1, (60, 59_999), [Refuse, Pass]),
            (inactive, 1, (60, 60_000), [Pass, Pass]),
            (inactive, 2, (60, 119_999), [Refuse, Pass]),
            (inactive, 2, (60, 120_000), [Pass, Pass]),
            (inactive, 9, (60, 3_599_999), [Refuse, Pass]),
            (inactive, 9, (60, 3_600_000), [Pass, Pass]),
            (RefusalReason::TradesPerMinute, 1, (60, 59_999), [Refuse, Refuse]),
            (inactive, 9, (0, 0), [Pass, Pass]),
        ] {
            assert_eq!(ask(reason, refusals, setting), expected, "{reason} {refusals} {setting:?}");
        }
    }
}
