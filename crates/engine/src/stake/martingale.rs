//! Martingale ladder, whose stakes grow after losses.

use super::LadderCost;
use super::excluded_trades::ExcludedTrades;
use super::given_up::GivenUpPosition;
use crate::IntentId;
use candlewick_sdk::{Money, Outcome};
use serde::{Deserialize, Serialize};

/// Martingale ladder. Level 0 stakes the base amount, and each loss moves the ladder up one level.
/// A win, or a loss on the top level, restarts the ladder. Draws and cancellations change nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Martingale {
    stakes: Vec<Money>,
    level: usize,
    #[serde(rename = "apart", default, skip_serializing_if = "ExcludedTrades::is_empty")]
    pub(super) excluded: ExcludedTrades,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) given_up: Option<GivenUpPosition<usize>>,
}

impl Martingale {
    pub(super) fn new(base: Money, factor: f64, levels: u32) -> Self {
        let stake = |level: u32| base.mul_rounded_down(factor.powi(level.cast_signed()));
        Self {
            stakes: (0..levels.max(1)).map(stake).collect(),
            level: 0,
            excluded: ExcludedTrades::default(),
            given_up: None,
        }
    }

    pub(super) fn resume_from(&mut self, kept: Self) -> bool {
        let is_same = kept.stakes == self.stakes && kept.level < self.stakes.len();
        if is_same {
            *self = kept;
        }
        is_same
    }

    pub(super) fn migrate_from(&mut self, kept: &Self) -> bool {
        let follows = kept.stakes.len() == self.stakes.len()
            && kept.level < self.stakes.len()
            && kept.excluded.is_empty();
        if follows {
            self.level = kept.level;
            self.given_up = kept.given_up;
        }
        follows
    }

    pub(super) fn next(&self) -> Money {
        self.stakes.get(self.level).copied().unwrap_or_default()
    }

    pub(super) fn first(&self) -> Money {
        self.stakes.first().copied().unwrap_or_default()
    }

    pub(super) const fn restart(&mut self) {
        self.level = 0;
    }

    pub(super) fn on_settled(&mut self, intent: IntentId, outcome: Outcome) {
        if self.excluded.remove(intent) {
            return;
        }
        self.level = self.level_after(self.level, outcome);
        if let Some(given_up) = self.given_up {
            let position = self.level_after(given_up.position, outcome);
            self.given_up = Some(GivenUpPosition { position, ..given_up });
        }
    }

    const fn level_after(&self, level: usize, outcome: Outcome) -> usize {
        match outcome {
            Outcome::Won => 0,
            Outcome::Lost => (level + 1) % self.stakes.len(),
            Outcome::Draw | Outcome::Cancelled => level,
        }
    }

    pub(super) fn give_up(&mut self, intent: IntentId) {
        self.given_up = Some(GivenUpPosition::extend(self.given_up, intent, self.level));
        self.restart();
    }

    pub(super) fn restore(&mut self, intent: IntentId) {
        if let Some(position) = GivenUpPosition::take_position(&mut self.given_up, intent) {
            self.level = position;
        }
    }

    pub(super) const fn level(&self) -> u32 {
        self.level as u32 + 1
    }

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
    use Outcome::Lost;

    #[test]
    fn order_that_is_a_trade_after_all_restores_the_level_it_was_given_up_at() {
        let [first, second, third] = [1, 2, 3].map(IntentId::new);
        let given_up = || {
            let mut ladder = Martingale::new(Money::from_minor(1_000), 2.0, 3);
            ladder.on_settled(first, Lost);
            ladder.give_up(second);
            assert_eq!(ladder.next(), Money::from_minor(1_000));
            ladder
        };
        // 20.00 was staked and lost: the next level is 40.00.
        let mut ladder = given_up();
        ladder.restore(second);
        ladder.on_settled(second, Lost);
        assert_eq!(ladder.next(), Money::from_minor(4_000));
        let mut ladder = given_up();
        ladder.restore(first);
        assert_eq!(ladder.next(), Money::from_minor(1_000));
        ladder.on_settled(first, Lost);
        assert_eq!(ladder.next(), Money::from_minor(2_000));
        ladder.give_up(third);
        ladder.restore(second);
        assert_eq!(ladder.next(), Money::from_minor(4_000));
    }

    #[test]
    fn stakes_of_a_factor_that_no_float_is_equal_to_are_those_of_decimals() {
        // With decimals: 1 x 2.3 = 2.30, x 2.3 = 5.29, x 2.3 = 12.167; 1 x 1.15 = 1.15, 1.3225, 1.520875.
        for (factor, expected) in [(2.3, [100, 230, 529, 1_216]), (1.15, [100, 115, 132, 152])] {
            let ladder = Martingale::new(Money::from_minor(100), factor, 4);
            assert_eq!(ladder.stakes, expected.map(Money::from_minor), "{factor}");
        }
    }
}
