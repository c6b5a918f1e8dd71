//! A ladder that grows after losses.

use super::LadderCost;
use super::apart::Apart;
use crate::IntentId;
use candlewick_sdk::{Money, Outcome};
use serde::{Deserialize, Serialize};

/// Level 0 stakes the base; a loss climbs one level, a win or a loss at the top starts anew; a draw or a
/// cancellation leaves the level alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Martingale {
    stakes: Vec<Money>,
    level: usize,
    #[serde(default, skip_serializing_if = "Apart::is_empty")]
    pub(super) apart: Apart,
}

impl Martingale {
    pub(super) fn new(base: Money, factor: f64, levels: u32) -> Self {
        let stake = |level: u32| base.scaled_down(factor.powi(level.cast_signed()));
        Self { stakes: (0..levels.max(1)).map(stake).collect(), level: 0, apart: Apart::default() }
    }

    /// Goes on where another of the same settings stood; whether that is one.
    pub(super) fn go_on_from(&mut self, kept: Self) -> bool {
        let is_same = kept.stakes == self.stakes && kept.level < self.stakes.len();
        if is_same {
            *self = kept;
        }
        is_same
    }

    /// Goes on where one of other stakes stood, after the same trades; whether that says where it stands. None of them found out a payout.
    pub(super) fn follow(&mut self, kept: &Self) -> bool {
        let follows =
            kept.stakes.len() == self.stakes.len() && kept.level < self.stakes.len() && kept.apart.is_empty();
        if follows {
            self.level = kept.level;
        }
        follows
    }

    pub(super) fn next(&self) -> Money {
        self.stakes.get(self.level).copied().unwrap_or_default()
    }

    pub(super) fn first(&self) -> Money {
        self.stakes.first().copied().unwrap_or_default()
    }

    pub(super) const fn begin_anew(&mut self) {
        self.level = 0;
    }

    pub(super) fn settled(&mut self, intent: IntentId, outcome: Outcome) {
        if self.apart.end(intent) {
            return;
        }
        match outcome {
            Outcome::Won => self.level = 0,
            Outcome::Lost => self.level = (self.level + 1) % self.stakes.len(),
            Outcome::Draw | Outcome::Cancelled => {}
        }
    }

    /// Where it stands; the first level is 1.
    pub(super) const fn level(&self) -> u32 {
        self.level as u32 + 1
    }

    /// How many levels it has.
    pub(super) const fn levels(&self) -> u32 {
        self.stakes.len() as u32
    }

    pub(super) fn stakes(&self) -> &[Money] {
        &self.stakes
    }

    pub(super) fn cost(&self) -> LadderCost {
        LadderCost {
            total: self.stakes.iter().copied().sum(),
            largest: self.stakes.iter().copied().max().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Cancelled, Draw, Lost, Won};

    fn check(outcomes: &[Outcome], expected: i64) {
        let mut ladder = Martingale::new(Money::from_minor(1_000), 2.0, 3);
        for outcome in outcomes {
            ladder.settled(IntentId::new(1), *outcome);
        }
        assert_eq!(ladder.next(), Money::from_minor(expected), "after {outcomes:?}");
    }

    #[test]
    fn losses_climb_and_a_win_or_the_top_starts_anew() {
        check(&[], 1_000);
        check(&[Lost], 2_000);
        check(&[Lost, Lost], 4_000);
        check(&[Lost, Lost, Lost], 1_000);
        check(&[Lost, Lost, Won], 1_000);
    }

    #[test]
    fn a_trade_that_finds_out_a_payout_moves_nothing_and_the_next_one_does() {
        let mut ladder = Martingale::new(Money::from_minor(1_000), 2.0, 3);
        let [first, second, third] = [1, 2, 3].map(IntentId::new);
        ladder.settled(first, Lost);
        ladder.apart.add(second);
        ladder.settled(second, Won);
        assert_eq!(ladder.next(), Money::from_minor(2_000));
        ladder.settled(third, Won);
        assert_eq!(ladder.next(), Money::from_minor(1_000));
    }

    #[test]
    fn draws_and_cancellations_leave_the_level_alone() {
        check(&[Lost, Draw, Cancelled], 2_000);
    }

    #[test]
    fn stakes_of_a_factor_that_no_float_is_equal_to_are_those_of_decimals() {
        // By decimals: 1 x 2.3 = 2.30, x 2.3 = 5.29, x 2.3 = 12.167; 1 x 1.15 = 1.15, 1.3225, 1.520875.
        for (factor, expected) in [(2.3, [100, 230, 529, 1_216]), (1.15, [100, 115, 132, 152])] {
            let ladder = Martingale::new(Money::from_minor(100), factor, 4);
            assert_eq!(ladder.stakes, expected.map(Money::from_minor), "{factor}");
        }
    }

    #[test]
    fn a_six_step_ladder_that_recovers_all_at_payout_85_costs_89_and_a_half_bases() {
        // The known value: 1 + 2.176 + ... + 2.176^5 = (2.176^6 - 1) / 1.176 = 89.5 to one decimal.
        let ladder = Martingale::new(Money::from_minor(1_000_000), 2.176, 6);
        let bases = ladder.cost().total.minor() as f64 / 1_000_000.0;
        assert!((bases - 89.5).abs() < 0.1, "{bases}");
    }
}
