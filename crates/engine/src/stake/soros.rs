//! Soros ladder, which adds the profit of each win to the next stake.

use super::excluded_trades::ExcludedTrades;
use super::given_up::GivenUpPosition;
use crate::IntentId;
use candlewick_sdk::{Money, Outcome};
use serde::{Deserialize, Serialize};

/// Soros ladder. Each win adds its profit to the next stake, up to a number of consecutive wins.
/// One more win, or a loss, restarts the ladder. Draws and cancellations change nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Soros {
    base: Money,
    most_wins: u32,
    wins: u32,
    stake: Money,
    #[serde(rename = "apart", default, skip_serializing_if = "ExcludedTrades::is_empty")]
    pub(super) excluded: ExcludedTrades,
    /// Number of wins and the stake before the ladder was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) given_up: Option<GivenUpPosition<(u32, Money)>>,
}

impl Soros {
    pub(super) const fn new(base: Money, most_wins: u32) -> Self {
        Self { base, most_wins, wins: 0, stake: base, excluded: ExcludedTrades::new(), given_up: None }
    }

    pub(super) fn resume_from(&mut self, kept: Self) -> bool {
        let is_same =
            kept.base == self.base && kept.most_wins == self.most_wins && kept.wins <= self.most_wins;
        if is_same {
            *self = kept;
        }
        is_same
    }

    pub(super) fn migrate_from(&mut self, kept: &Self) -> bool {
        let follows =
            kept.most_wins == self.most_wins && kept.wins <= self.most_wins && kept.excluded.is_empty();
        if follows {
            let base = self.base;
            let rebase = |(wins, stake)| (wins, if wins == 0 { base } else { base + stake - kept.base });
            (self.wins, self.stake) = rebase((kept.wins, kept.stake));
            self.given_up =
                kept.given_up.map(|known| GivenUpPosition { position: rebase(known.position), ..known });
        }
        follows
    }

    pub(super) const fn next(&self) -> Money {
        self.stake
    }

    pub(super) const fn first(&self) -> Money {
        self.base
    }

    pub(super) const fn restart(&mut self) {
        self.wins = 0;
        self.stake = self.base;
    }

    pub(super) const fn set_stake(&mut self, stake: Money) {
        self.stake = stake;
    }

    pub(super) fn on_settled(&mut self, intent: IntentId, outcome: Outcome, profit: Money) {
        if self.excluded.remove(intent) {
            return;
        }
        (self.wins, self.stake) = self.position_after((self.wins, self.stake), outcome, profit);
        if let Some(given_up) = self.given_up {
            let position = self.position_after(given_up.position, outcome, profit);
            self.given_up = Some(GivenUpPosition { position, ..given_up });
        }
    }

    fn position_after(&self, (wins, stake): (u32, Money), outcome: Outcome, profit: Money) -> (u32, Money) {
        match outcome {
            Outcome::Won if wins < self.most_wins => (wins + 1, stake + profit),
            Outcome::Won | Outcome::Lost => (0, self.base),
            Outcome::Draw | Outcome::Cancelled => (wins, stake),
        }
    }

    pub(super) fn give_up(&mut self, intent: IntentId) {
        self.given_up = Some(GivenUpPosition::extend(self.given_up, intent, (self.wins, self.stake)));
        self.restart();
    }

    pub(super) fn restore(&mut self, intent: IntentId) {
        if let Some(position) = GivenUpPosition::take_position(&mut self.given_up, intent) {
            (self.wins, self.stake) = position;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_that_is_a_trade_after_all_restores_its_stake() {
        let [first, second] = [1, 2].map(IntentId::new);
        let mut soros = Soros::new(Money::from_minor(1_000), 2);
        soros.on_settled(first, Outcome::Won, Money::from_minor(800));
        soros.give_up(second);
        assert_eq!(soros.next(), Money::from_minor(1_000));
        soros.restore(second);
        assert_eq!(soros.next(), Money::from_minor(1_800));
        soros.on_settled(second, Outcome::Won, Money::from_minor(1_440));
        assert_eq!(soros.next(), Money::from_minor(3_240));
    }

    #[test]
    fn won_payout_probe_does_not_count_as_a_win() {
        let mut soros = Soros::new(Money::from_minor(1_000), 2);
        let [found_out, won] = [1, 2].map(IntentId::new);
        soros.excluded.add(found_out);
        soros.on_settled(found_out, Outcome::Won, Money::from_minor(80));
        assert_eq!(soros.next(), Money::from_minor(1_000));
        soros.on_settled(won, Outcome::Won, Money::from_minor(800));
        assert_eq!(soros.next(), Money::from_minor(1_800));
    }
}
