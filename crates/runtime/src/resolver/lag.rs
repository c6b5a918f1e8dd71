//! Measures the delay until a trade appears in the venue's list.

use super::candidate::reported_request_time;
use candlewick_broker::TradeListing;
use candlewick_sdk::Millis;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum lag of the trade list. A trade that is absent for longer counts as missing instead of late.
pub(crate) const MAX_LIST_LAG: Millis = Millis::from_seconds(600);

#[derive(Clone, Copy, Debug)]
pub(crate) struct AcceptedTrade<'a> {
    pub(crate) id: &'a str,
    pub(crate) accepted_at: Millis,
    /// Whether the venue has reported the trade's result. A result proves that the trade exists.
    pub(crate) is_settled: bool,
}

/// Meter for the lag of the trade list: the longest time for which an accepted trade was missing from the list.
#[derive(Clone, Debug)]
pub(crate) struct LagMeter {
    setting: Millis,
    longest: Millis,
    /// Accepted trades that were missing from the last complete listing, with the start time of that listing.
    missing: BTreeMap<String, Millis>,
}

impl LagMeter {
    pub(crate) const fn new(setting: Millis) -> Self {
        Self { setting, longest: Millis::ZERO, missing: BTreeMap::new() }
    }

    pub(crate) fn allowance(&self) -> Millis {
        self.setting.max(self.longest * 2)
    }

    pub(crate) fn record_listing<'a>(
        &mut self,
        listing: &TradeListing,
        accepted: impl IntoIterator<Item = AcceptedTrade<'a>>,
    ) {
        if !listing.is_complete {
            return;
        }
        let listed: BTreeSet<&str> = listing.trades.iter().map(|trade| trade.id.as_str()).collect();
        let mut missing = BTreeMap::new();
        for AcceptedTrade { id, accepted_at: at, is_settled } in accepted {
            if !listed.contains(id) {
                // An answer may name a trade that does not exist, so an unsettled trade may never appear.
                let lag = listing.began - at;
                self.record_lag(if is_settled || lag > MAX_LIST_LAG { lag } else { lag.min(self.setting) });
                missing.insert(id.to_owned(), listing.began);
            } else if let Some(missing) = self.missing.get(id) {
                self.record_lag(*missing - at);
            }
        }
        self.missing = missing;
    }

    pub(crate) fn record_found_trade(&mut self, trade: &candlewick_broker::TradeReport, missing: Millis) {
        if let Some(accepted) = reported_request_time(trade) {
            self.record_lag(missing - accepted);
        }
    }

    pub(crate) fn record_lag(&mut self, lag: Millis) {
        if lag <= MAX_LIST_LAG {
            self.longest = self.longest.max(lag);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::testing;

    const fn open(id: &str, at: i64) -> AcceptedTrade<'_> {
        AcceptedTrade { id, accepted_at: Millis::new(at), is_settled: false }
    }

    fn allowances<const N: usize>(looks: [(i64, &[&str]); N], accepted: &[AcceptedTrade<'_>]) -> [i64; N] {
        let mut meter = LagMeter::new(Millis::from_seconds(120));
        looks.map(|(at, ids)| {
            let trades = ids.iter().map(|id| testing::report(id, Millis::ZERO)).collect();
            meter.record_listing(&testing::listing(at, trades), accepted.iter().copied());
            meter.allowance().get()
        })
    }

    #[test]
    fn missing_settled_trade_counts_as_lag() {
        let settled = AcceptedTrade { is_settled: true, ..open("a", 0) };
        assert_eq!(allowances([(400_000, &[])], &[settled]), [800_000]);
        // An incomplete list does not prove a lag.
        let mut meter = LagMeter::new(Millis::ZERO);
        let listing = TradeListing { is_complete: false, ..testing::listing(9_000, Vec::new()) };
        meter.record_listing(&listing, [settled]);
        assert_eq!(meter.allowance(), Millis::ZERO);
    }

    fn check<const N: usize>(missing_for: [i64; N], expected: i64) {
        let looks = missing_for.map(|lag| (1_000 + lag, &["listed"][..]));
        let found = allowances(looks, &[open("listed", 0), open("missing", 1_000)]);
        assert_eq!(found.last(), Some(&expected), "{missing_for:?}");
    }

    #[test]
    fn the_allowance_is_the_setting_or_twice_the_longest_lag() {
        check([60_000], 120_000);
        check([60_001, 5], 120_002);
        // A trade that never appears does not count as lag.
        check([600_000], 240_000);
        check([-5, 600_001], 120_000);
    }

    #[test]
    fn late_trade_shows_how_long_it_was_missing() {
        let late = &["late"][..];
        let looks = [(200_000, &[][..]), (300_000, &[][..]), (310_000, late), (590_000, late)];
        let found = allowances(looks, &[open("late", 0), open("none", 0)]);
        assert_eq!(found, [240_000, 240_000, 600_000, 600_000]);
        let found = allowances([(200_000, &[]), (200_000, late)], &[open("late", 10_000)]);
        assert_eq!(found[1], 380_000);
    }
}
