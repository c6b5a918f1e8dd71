//! A fraction of the Kelly stake, on the careful side of every number in it.

use super::Purse;
use candlewick_sdk::{Money, Outcome, Payout};
use candlewick_statistics::{WinRate, kelly_fraction, wilson_interval};

/// How many payouts back "recent" reaches.
const RECENT: usize = 20;
/// One-sided confidence of the lower bound: 95 %, as a two-sided interval of 90 %.
const CONFIDENCE: f64 = 0.90;

/// Bets the minimum for its first trades; then `fraction x f x free balance / trades that can be open
/// together`, with `f = (p (1 + b) - 1) / b`, `p` the Wilson lower bound of the win rate and `b` the lowest
/// recent payout. Nothing while `p` is not above break-even.
#[derive(Debug)]
pub(crate) struct Kelly {
    fraction: f64,
    floor_trades: u32,
    won: u64,
    lost: u64,
    payouts: [Option<Payout>; RECENT],
    newest: usize,
}

impl Kelly {
    pub(super) const fn new(fraction: f64, floor_trades: u32) -> Self {
        Self { fraction, floor_trades, won: 0, lost: 0, payouts: [None; RECENT], newest: 0 }
    }

    pub(super) fn next(&self, purse: Purse) -> Money {
        if self.won + self.lost < u64::from(self.floor_trades) {
            return purse.minimum;
        }
        let kelly = self.careful_kelly().unwrap_or(0.0);
        purse.free.scaled_down(self.fraction * kelly / f64::from(purse.together.max(1)))
    }

    /// `None` while there is nothing to judge by.
    fn careful_kelly(&self) -> Option<f64> {
        let payout = self.payouts.iter().flatten().min()?;
        let rate = WinRate::new(self.won, self.lost).ok()?;
        let interval = wilson_interval(rate, CONFIDENCE).ok()?;
        kelly_fraction(interval.lower, payout.to_fraction()).ok()
    }

    pub(super) fn settled(&mut self, outcome: Outcome, payout: Option<Payout>) {
        match outcome {
            Outcome::Won => self.won += 1,
            Outcome::Lost => self.lost += 1,
            Outcome::Draw | Outcome::Cancelled => return,
        }
        if payout.is_some() {
            self.payouts[self.newest % RECENT] = payout;
            self.newest += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(won: u32, lost: u32, floor: u32, together: u32, expected: std::ops::RangeInclusive<i64>) {
        let mut kelly = Kelly::new(0.5, floor);
        let payout = Payout::from_parts(800_000);
        (0..won).for_each(|_| kelly.settled(Outcome::Won, payout));
        (0..lost).for_each(|_| kelly.settled(Outcome::Lost, payout));
        kelly.settled(Outcome::Draw, payout);
        let purse = Purse { free: Money::from_minor(1_000_000), minimum: Money::from_minor(100), together };
        let stake = kelly.next(purse).minor();
        assert!(expected.contains(&stake), "{won} won, {lost} lost: {stake}");
    }

    #[test]
    fn the_first_trades_bet_the_minimum() {
        check(50, 49, 100, 1, 100..=100);
    }

    #[test]
    fn nothing_is_staked_while_the_lower_bound_is_not_above_break_even() {
        // 56 % of 200 is above the break-even of 55.56 %, its lower bound is not.
        check(112, 88, 100, 1, 0..=0);
    }

    #[test]
    fn a_clear_edge_is_staked_by_its_lower_bound_and_shared_among_trades_together() {
        // 700 of 1,000 at b = 0.8: Wilson lower bound at z = 1.644854 is 0.675650, so
        // f = (0.675650 x 1.8 - 1) / 0.8 = 0.270213; half of it on 10,000.00 is 1,351.06.
        check(700, 300, 100, 1, 135_106..=135_106);
        check(700, 300, 100, 3, 45_035..=45_035);
    }
}
