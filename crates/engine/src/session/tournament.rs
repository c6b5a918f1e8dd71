//! Which of several bots has the next turn.

use candlewick_sdk::Millis;

/// The earliest of several moments, each of which may change: pairs are compared, then their winners, and so on. A change
/// compares as many pairs as there are rounds.
pub(super) struct Tournament {
    moments: Vec<Millis>,
    /// The place of the winner of each pair; the last winner at 1, and the pair below a winner at `n` at `2 n` and `2 n + 1`.
    winners: Vec<u32>,
}

impl Tournament {
    /// Of these moments, each in its place.
    pub(super) fn of(moments: impl Iterator<Item = Millis>) -> Self {
        let mut moments: Vec<Millis> = moments.collect();
        let leaves = moments.len().max(1).next_power_of_two();
        moments.resize(leaves, Millis::MAX);
        let mut winners = vec![0; leaves];
        winners.extend(0..leaves as u32);
        let mut tournament = Self { moments, winners };
        for place in (0..leaves).step_by(2) {
            tournament.play(place);
        }
        for node in (1..leaves).rev() {
            tournament.winners[node] = tournament.winner_below(node);
        }
        tournament
    }

    /// The earliest moment and its place: the first, if several are alike.
    #[inline]
    pub(super) fn first(&self) -> (usize, Millis) {
        let place = self.winners[1] as usize;
        (place, self.moments[place])
    }

    /// Changes the moment of a place.
    #[inline]
    pub(super) fn set(&mut self, place: usize, moment: Millis) {
        self.moments[place] = moment;
        self.play(place);
    }

    #[inline]
    fn play(&mut self, place: usize) {
        let mut node = (self.moments.len() + place) / 2;
        while node > 0 {
            self.winners[node] = self.winner_below(node);
            node /= 2;
        }
    }

    #[inline]
    fn winner_below(&self, node: usize) -> u32 {
        let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
        if self.moments[right as usize] < self.moments[left as usize] { right } else { left }
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
            changes in prop::collection::vec((0_usize..20, 0_i64..9), 0..40),
        ) {
            let mut moments = start;
            let mut tournament = Tournament::of(moments.iter().map(|moment| Millis::new(*moment)));
            for (place, moment) in changes {
                let place = place % moments.len();
                moments[place] = moment;
                tournament.set(place, Millis::new(moment));
                let earliest = *moments.iter().min().unwrap();
                let foremost = moments.iter().position(|moment| *moment == earliest).unwrap();
                prop_assert_eq!(tournament.first(), (foremost, Millis::new(earliest)));
            }
        }
    }
}
