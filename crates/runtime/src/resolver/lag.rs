//! How long the venue's trade list keeps a trade back.

use super::candidate::request_time_of;
use candlewick_broker::TradeListing;
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

/// A trade that is missing for longer is not late but lost: that is for the audit, and waiting does not help.
pub(crate) const LONGEST: Millis = Millis::from_seconds(600);

/// Measures the lag of the list. A lag is the longest time for which a trade is known to have been accepted and
/// yet was missing from a complete listing; a list that was not looked at proves no lag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LagMeter {
    setting: Millis,
    longest: Millis,
}

impl LagMeter {
    /// With the allowance of the settings (`list_lag_ms`).
    pub(crate) const fn new(setting: Millis) -> Self {
        Self { setting, longest: Millis::ZERO }
    }

    /// How long a trade may be missing from the list: the setting, or twice the longest lag if that is more.
    pub(crate) fn allowance(&self) -> Millis {
        self.setting.max(self.longest * 2)
    }

    /// Takes a listing that lacks some of the trades that were accepted at these moments.
    pub(crate) fn take<'a>(
        &mut self,
        listing: &TradeListing,
        accepted: impl IntoIterator<Item = (&'a str, Millis)>,
    ) {
        if !listing.is_complete {
            return;
        }
        let listed: BTreeSet<&str> = listing.trades.iter().map(|trade| trade.id.as_str()).collect();
        for (id, at) in accepted {
            if !listed.contains(id) {
                self.note(listing.began - at);
            }
        }
    }

    /// A trade that was found now was missing from a complete listing that began at `missing`.
    pub(crate) fn note_found(&mut self, trade: &candlewick_broker::TradeReport, missing: Millis) {
        if let Some(accepted) = request_time_of(trade) {
            self.note(missing - accepted);
        }
    }

    /// A trade was missing for so long.
    pub(crate) fn note(&mut self, lag: Millis) {
        if lag <= LONGEST {
            self.longest = self.longest.max(lag);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::testing;

    fn check(missing_for: &[i64], expected: i64) {
        let mut meter = LagMeter::new(Millis::from_seconds(120));
        for lag in missing_for {
            let listing = testing::listing(1_000 + lag, vec![testing::report("listed", Millis::ZERO)]);
            meter.take(&listing, [("listed", Millis::ZERO), ("missing", Millis::new(1_000))]);
        }
        assert_eq!(meter.allowance(), Millis::new(expected), "{missing_for:?}");
    }

    #[test]
    fn the_allowance_is_the_setting_or_twice_the_longest_lag() {
        check(&[], 120_000);
        check(&[60_000], 120_000);
        check(&[60_001, 5], 120_002);
        check(&[600_000], 1_200_000);
        // Listed before it was accepted, or lost: no lag.
        check(&[-5, 600_001], 120_000);
    }

    #[test]
    fn an_incomplete_listing_shows_no_lag() {
        let mut meter = LagMeter::new(Millis::ZERO);
        let listing = TradeListing { is_complete: false, ..testing::listing(9_000, Vec::new()) };
        meter.take(&listing, [("missing", Millis::ZERO)]);
        assert_eq!(meter.allowance(), Millis::ZERO);
    }
}
