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
    pub(crate) dropped_until: Option<Millis>,
}

impl ClaimedTrades {
    pub(crate) fn insert(&mut self, venue_id: String) {
        self.young.insert(venue_id);
    }

    pub(crate) fn contains(&self, venue_id: &str) -> bool {
        self.young.contains(venue_id) || (!self.old.is_empty() && self.old.contains(&hash_id(venue_id)))
    }

    pub(crate) fn move_to_old(&mut self, venue_id: &str, ended: Millis) {
        self.young.remove(venue_id);
        self.add_old(venue_id, ended, MAX_OLD_TRADES);
    }

    #[cfg(test)]
    pub(crate) fn young_len(&self) -> usize {
        self.young.len()
    }

    fn add_old(&mut self, venue_id: &str, ended: Millis, most: usize) {
        let hash = hash_id(venue_id);
        if !self.old.insert(hash) {
            return;
        }
        self.order.push_back((hash, ended));
        while self.order.len() > most {
            let Some((hash, ended)) = self.order.pop_front() else { return };
            self.old.remove(&hash);
            self.dropped_until = self.dropped_until.max(Some(ended));
        }
    }

    pub(crate) fn prepend_old(&mut self, venue_id: &str, ended: Millis) {
        if self.order.len() >= MAX_OLD_TRADES {
            self.dropped_until = self.dropped_until.max(Some(ended));
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
        claimed.move_to_old("a", at(7));
        claimed.move_to_old("a", at(9));
        let known = |claimed: &ClaimedTrades| ["a", "b", "c", "d"].map(|id| claimed.contains(id));
        assert_eq!((known(&claimed), claimed.dropped_until), ([true, true, true, false], None));
        assert_eq!((claimed.young_len(), claimed.order.len()), (2, 1), "an old id is stored only as a hash");
        claimed.young.clear();
        claimed.add_old("b", at(5), 2);
        claimed.add_old("c", at(6), 2);
        assert_eq!(known(&claimed), [false, true, true, false]);
        assert_eq!(claimed.dropped_until, Some(at(7)));
        claimed.add_old("d", at(8), 2);
        assert_eq!((known(&claimed), claimed.dropped_until), ([false, false, true, true], Some(at(7))));
        let mut claimed = ClaimedTrades::default();
        for (id, ended) in [("c", 9), ("b", 8), ("a", 7)] {
            claimed.prepend_old(id, at(ended));
        }
        claimed.add_old("d", at(10), 2);
        assert_eq!((known(&claimed), claimed.dropped_until), ([false, false, true, true], Some(at(8))));
    }
}
