//! Which of several bots has the next turn.

use candlewick_sdk::Millis;
use std::mem;

/// The earliest of several moments, of which only the earliest changes.
///
/// A tree of pairs in which each pair keeps its loser, the later of the two: the moment that changes is compared with the losers
/// on its way up, one for each doubling of the number of moments.
pub(super) struct Tournament {
    first: Entry,
    /// The loser of each pair: at 1 that of the last pair; the pairs below `n` are `2 n` and `2 n + 1`.
    losers: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    moment: Millis,
    place: u32,
}

impl Entry {
    /// Earlier, or at the same moment in an earlier place.
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        self.moment < other.moment || (self.moment == other.moment && self.place < other.place)
    }
}

impl Tournament {
    /// Of these moments, each in its place.
    pub(super) fn of(moments: impl Iterator<Item = Millis>) -> Self {
        let mut entries: Vec<Entry> =
            (0..).zip(moments).map(|(place, moment)| Entry { moment, place }).collect();
        let leaves = entries.len().max(1).next_power_of_two();
        entries
            .extend((entries.len()..leaves).map(|place| Entry { moment: Millis::MAX, place: place as u32 }));
        let mut losers = entries.clone();
        let mut winners = entries;
        for pairs in (0..leaves.ilog2()).rev().map(|round| 1_usize << round) {
            for pair in 0..pairs {
                let (one, other) = (winners[2 * pair], winners[2 * pair + 1]);
                let (winner, loser) = if other.is_before(&one) { (other, one) } else { (one, other) };
                (winners[pair], losers[pairs + pair]) = (winner, loser);
            }
        }
        Self { first: winners[0], losers }
    }

    /// The earliest moment and its place: the first, if several are alike.
    #[inline]
    pub(super) fn first(&self) -> (usize, Millis) {
        (self.first.place as usize, self.first.moment)
    }

    /// Changes the moment of the first.
    #[inline]
    pub(super) fn change_first(&mut self, moment: Millis) {
        let mut rising = Entry { moment, ..self.first };
        let mut pair = usize::midpoint(self.losers.len(), rising.place as usize);
        while let Some(loser) = self.losers.get_mut(pair).filter(|_| pair > 0) {
            if loser.is_before(&rising) {
                mem::swap(loser, &mut rising);
            }
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
        fn the_first_is_the_earliest_of_all_and_of_equals_the_foremost(
            start in prop::collection::vec(0_i64..9, 1..20),
            changes in prop::collection::vec(0_i64..30, 0..60),
        ) {
            let mut moments = start;
            let mut tournament = Tournament::of(moments.iter().map(|moment| Millis::new(*moment)));
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
