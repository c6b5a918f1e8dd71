//! Profits staked again after wins.

use super::apart::Apart;
use crate::IntentId;
use candlewick_sdk::{Money, Outcome};
use serde::{Deserialize, Serialize};

/// A win adds its profit to the next stake, for so many wins in a row; the win after them, or a loss, starts
/// anew; a draw or a cancellation changes nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Soros {
    base: Money,
    most_wins: u32,
    wins: u32,
    stake: Money,
    #[serde(default, skip_serializing_if = "Apart::is_empty")]
    pub(super) apart: Apart,
}

impl Soros {
    pub(super) const fn new(base: Money, most_wins: u32) -> Self {
        Self { base, most_wins, wins: 0, stake: base, apart: Apart::new() }
    }

    /// Goes on where another of the same settings stood; whether that is one.
    pub(super) fn go_on_from(&mut self, kept: Self) -> bool {
        let is_same =
            kept.base == self.base && kept.most_wins == self.most_wins && kept.wins <= self.most_wins;
        if is_same {
            *self = kept;
        }
        is_same
    }

    /// Goes on where one of another base stood, after the same trades; whether that says where it stands. None of them found out a payout.
    pub(super) fn follow(&mut self, kept: &Self) -> bool {
        let follows =
            kept.most_wins == self.most_wins && kept.wins <= self.most_wins && kept.apart.is_empty();
        if follows {
            let won = if kept.wins == 0 { Money::ZERO } else { kept.stake - kept.base };
            (self.wins, self.stake) = (kept.wins, self.base + won);
        }
        follows
    }

    pub(super) const fn next(&self) -> Money {
        self.stake
    }

    pub(super) const fn first(&self) -> Money {
        self.base
    }

    pub(super) const fn begin_anew(&mut self) {
        self.wins = 0;
        self.stake = self.base;
    }

    /// Records the amount that a trade stakes: a win adds its profit to that amount.
    pub(super) const fn place(&mut self, stake: Money) {
        self.stake = stake;
    }

    pub(super) fn settled(&mut self, intent: IntentId, outcome: Outcome, profit: Money) {
        if self.apart.end(intent) {
            return;
        }
        match outcome {
            Outcome::Won if self.wins < self.most_wins => {
                self.wins += 1;
                self.stake += profit;
            }
            Outcome::Won | Outcome::Lost => self.begin_anew(),
            Outcome::Draw | Outcome::Cancelled => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profits_are_staked_again_for_so_many_wins() {
        let mut soros = Soros::new(Money::from_minor(1_000), 2);
        let rows = [
            (Outcome::Won, 800, 1_800),
            (Outcome::Draw, 0, 1_800),
            (Outcome::Won, 1_440, 3_240),
            (Outcome::Won, 2_592, 1_000),
            (Outcome::Won, 800, 1_800),
            (Outcome::Lost, -1_800, 1_000),
        ];
        for (outcome, profit, next) in rows {
            soros.settled(IntentId::new(1), outcome, Money::from_minor(profit));
            assert_eq!(soros.next(), Money::from_minor(next), "after {outcome}");
        }
    }

    #[test]
    fn a_win_adds_its_profit_to_the_amount_that_was_staked() {
        // 1.07 in steps of 0.10 stakes 1.00; at 88 % a win earns 0.88, and 1.88 stakes 1.80.
        let mut soros = Soros::new(Money::from_minor(107), 2);
        let mut staked = Vec::new();
        for (outcome, profit) in
            [(Outcome::Won, 88), (Outcome::Won, 158), (Outcome::Lost, -330), (Outcome::Draw, 0)]
        {
            soros.place(soros.next().floor_to(Money::from_minor(10)));
            staked.push(soros.next().minor());
            soros.settled(IntentId::new(1), outcome, Money::from_minor(profit));
        }
        assert_eq!(staked, [100, 180, 330, 100]);
    }

    #[test]
    fn a_trade_that_finds_out_a_payout_is_no_win_of_it() {
        let mut soros = Soros::new(Money::from_minor(1_000), 2);
        let [found_out, won] = [1, 2].map(IntentId::new);
        soros.apart.add(found_out);
        soros.settled(found_out, Outcome::Won, Money::from_minor(80));
        assert_eq!(soros.next(), Money::from_minor(1_000));
        soros.settled(won, Outcome::Won, Money::from_minor(800));
        assert_eq!(soros.next(), Money::from_minor(1_800));
    }
}
