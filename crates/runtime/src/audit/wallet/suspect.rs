//! A difference before its confirmation.

use super::{LONGEST_LAG, Reading, WalletAudit, size};
use crate::resolver::sums_of;
use candlewick_sdk::{Millis, Money};

/// A difference that has been seen and is not confirmed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    /// Wallet minus ledger.
    pub(super) raw: Money,
    /// What of it nothing explains.
    pub(super) difference: Money,
    pub(super) first: Millis,
    pub(super) last: Millis,
    /// Newest change that may have caused it.
    pub(super) caused_at: Option<Millis>,
    /// Whether it was larger, at one of its readings, than all that our trades had moved until then.
    pub(super) is_from_outside: bool,
}

impl WalletAudit {
    /// The suspect that a reading makes: the one of before where it may have grown by what our trades moved since.
    pub(super) fn suspected(&self, (raw, difference): (Money, Money), reading: &Reading<'_>) -> Suspect {
        let sent = reading.sent;
        let settled_lag = sent - self.lag(reading.lag);
        let agreed = self.agreed.map_or(sent - LONGEST_LAG, |agreement| agreement.sent);
        let oldest = agreed - self.lag(reading.lag);
        let causes = || self.changes.iter().filter(|(_, at)| (oldest..=settled_lag).contains(at));
        // Changes that are not shown have to explain it to the cent: money that moved from outside is no lag.
        let unshown: Vec<Money> = causes().map(|(change, _)| -*change).collect();
        let may_be_lag =
            sums_of(&unshown).is_some_and(|sums| sums.binary_search(&(difference - self.confirmed)).is_ok());
        let caused_at = causes().map(|(_, at)| *at).max().filter(|_| may_be_lag);
        let is_from_outside = size(difference - self.confirmed) > self.moved_unseen(reading);
        let new = Suspect { raw, difference, first: sent, last: sent, caused_at, is_from_outside };
        let Some(known) = self.suspect else { return new };
        let is_same_way = (difference < self.confirmed) == (known.difference < self.confirmed);
        let may_have_grown =
            self.moved_since(known.last - self.lag(reading.lag)) + reading.under_way.largest();
        let is_grown = is_same_way && size(difference - known.difference) <= may_have_grown;
        if known.raw != raw && !is_grown {
            return new;
        }
        let is_from_outside = known.is_from_outside || is_from_outside;
        Suspect { raw, difference, last: sent, is_from_outside, ..known }
    }
}
