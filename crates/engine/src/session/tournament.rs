//! Tournament tree that selects the bot with the next turn.

use candlewick_sdk::Millis;

/// A tournament tree that finds the earliest of several times. Only the earliest time can be changed.
/// Each pair stores the later time (the loser). A changed time is compared once per level. The comparison is
/// unpredictable and therefore branch-free (docs/performance.md).
pub(super) struct TournamentTree {
    first: IndexedTime,
    /// Loser of each pair. Index 1 is the final pair. The children of pair `n` are the pairs `2 n` and `2 n + 1`.
    losers: Vec<IndexedTime>,
}

/// A time and its index packed into one number that sorts by time, then by index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct IndexedTime(i64);

/// Number of index bits, for up to 65,536 bots. The other 48 bits store the time, up to 4,400 years from 1970.
const INDEX_BITS: u32 = 16;

impl IndexedTime {
    #[inline]
    fn new(moment: Millis, place: usize) -> Self {
        let room = i64::MIN >> INDEX_BITS..=i64::MAX >> INDEX_BITS;
        let moment = moment.get().clamp(*room.start(), *room.end());
        Self(moment << INDEX_BITS | place as i64)
    }

    #[inline]
    fn moment(self) -> Millis {
        let moment = self.0 >> INDEX_BITS;
        if moment == i64::MAX >> INDEX_BITS { Millis::MAX } else { Millis::new(moment) }
    }

    #[inline]
    const fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

impl TournamentTree {
    pub(super) fn new(moments: impl Iterator<Item = Millis>) -> Self {
        let mut winners: Vec<IndexedTime> =
            moments.enumerate().map(|(at, moment)| IndexedTime::new(moment, at)).collect();
        let leaves = winners.len().max(1).next_power_of_two();
        winners.extend((winners.len()..leaves).map(|place| IndexedTime::new(Millis::MAX, place)));
        let mut losers = winners.clone();
        for pairs in (0..leaves.ilog2()).rev().map(|round| 1_usize << round) {
            for pair in 0..pairs {
                let (one, other) = (winners[2 * pair], winners[2 * pair + 1]);
                (winners[pair], losers[pairs + pair]) = (one.min(other), one.max(other));
            }
        }
        Self { first: winners[0], losers }
    }

    /// Returns the earliest time and its index. Equal times are ordered by index.
    #[inline]
    pub(super) fn first(&self) -> (usize, Millis) {
        (self.first.index(), self.first.moment())
    }

    #[inline]
    pub(super) fn change_first(&mut self, moment: Millis) {
        let place = self.first.index();
        let mut rising = IndexedTime::new(moment, place);
        let mut pair = usize::midpoint(self.losers.len(), place);
        while pair > 0 {
            let loser = &mut self.losers[pair];
            (rising, *loser) = (rising.min(*loser), rising.max(*loser));
            pair /= 2;
        }
        self.first = rising;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn first_is_the_earliest_with_the_lowest_index(
            start in prop::collection::vec(-2_i64..9, 1..20),
            changes in prop::collection::vec(prop_oneof![9 => -2_i64..30, 1 => Just(i64::MAX)], 0..60),
        ) {
            let mut moments = start;
            let mut tournament = TournamentTree::new(moments.iter().map(|moment| Millis::new(*moment)));
            for moment in changes {
                let earliest = *moments.iter().min().unwrap();
                let foremost = moments.iter().position(|moment| *moment == earliest).unwrap();
                prop_assert_eq!(tournament.first(), (foremost, Millis::new(earliest)));
                moments[foremost] = moment;
                tournament.change_first(Millis::new(moment));
            }
        }
    }
}
