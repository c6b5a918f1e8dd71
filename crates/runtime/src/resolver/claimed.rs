//! Set of the ids of all trades that belong to an intent. Old ids are stored only as hashes.

use candlewick_sdk::Millis;
use std::collections::{BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of old trade ids. This suffices for a full list with the default `broker.list_rows_limit`.
const MAX_OLD_TRADES: usize = 100_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct ClaimedTrades {
    young: BTreeSet<String>,
    old: BTreeSet<u64>,
    order: VecDeque<(u64, Millis)>,
    /// Latest end time of the trades whose ids were dropped for lack of space. `None` if no id was dropped.
    pub(crate) latest_dropped_end: Option<Millis>,
}

impl ClaimedTrades {
    pub(crate) fn insert(&mut self, venue_id: String) {
        self.young.insert(venue_id);
    }

    pub(crate) fn contains(&self, venue_id: &str) -> bool {
        self.young.contains(venue_id) || (!self.old.is_empty() && self.old.contains(&hash_id(venue_id)))
    }

    pub(crate) fn mark_as_old(&mut self, venue_id: &str, ended: Millis) {
        self.young.remove(venue_id);
        self.add_old_trade(venue_id, ended, MAX_OLD_TRADES);
    }

    #[cfg(test)]
    pub(crate) fn young_trade_count(&self) -> usize {
        self.young.len()
    }

    fn add_old_trade(&mut self, venue_id: &str, ended: Millis, most: usize) {
        let hash = hash_id(venue_id);
        if !self.old.insert(hash) {
            return;
        }
        self.order.push_back((hash, ended));
        while self.order.len() > most {
            let Some((hash, ended)) = self.order.pop_front() else { return };
            self.old.remove(&hash);
            self.latest_dropped_end = self.latest_dropped_end.max(Some(ended));
        }
    }

    pub(crate) fn prepend_old_trade(&mut self, venue_id: &str, ended: Millis) {
        if self.order.len() >= MAX_OLD_TRADES {
            self.latest_dropped_end = self.latest_dropped_end.max(Some(ended));
        } else if self.old.insert(hash_id(venue_id)) {
            self.order.push_front((hash_id(venue_id), ended));
        }
    }
}

/// Returns a deterministic hash of a trade id. Every process of the same build computes the same hash.
pub(crate) fn hash_id(venue_id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    venue_id.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_trade_stays_claimed_up_to_the_limit() {
        let mut claimed = ClaimedTrades::default();
        for id in ["a", "b", "c"] {
            claimed.insert(id.to_owned());
        }
        let at = Millis::from_seconds;
        claimed.mark_as_old("a", at(7));
        claimed.mark_as_old("a", at(9));
        let known = |claimed: &ClaimedTrades| ["a", "b", "c", "d"].map(|id| claimed.contains(id));
        assert_eq!((known(&claimed), claimed.latest_dropped_end), ([true, true, true, false], None));
        assert_eq!(
            (claimed.young_trade_count(), claimed.order.len()),
            (2, 1),
            "an old id is stored only as a hash"
        );
        claimed.young.clear();
        claimed.add_old_trade("b", at(5), 2);
        claimed.add_old_trade("c", at(6), 2);
        assert_eq!(known(&claimed), [false, true, true, false]);
        assert_eq!(claimed.latest_dropped_end, Some(at(7)));
        claimed.add_old_trade("d", at(8), 2);
        assert_eq!((known(&claimed), claimed.latest_dropped_end), ([false, false, true, true], Some(at(7))));
        let mut claimed = ClaimedTrades::default();
        for (id, ended) in [("c", 9), ("b", 8), ("a", 7)] {
            claimed.prepend_old_trade(id, at(ended));
        }
        claimed.add_old_trade("d", at(10), 2);
        assert_eq!((known(&claimed), claimed.latest_dropped_end), ([false, false, true, true], Some(at(8))));
    }
}
