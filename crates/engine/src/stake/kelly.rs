//! Stake rule that bets a fraction of the Kelly stake, with conservative estimates.

use super::{KellyBound, StakeContext};
use crate::{IntentId, to_trade_outcome};
use candlewick_sdk::{Money, Outcome, Payout};
use candlewick_statistics::{OpenBets, WinRate, WinRateLowerBound, kelly_fraction, wilson_interval};
use serde::{Deserialize, Serialize};

const RECENT_PAYOUTS: usize = 20;
/// One-sided confidence of the lower bound of the win rate.
const CONFIDENCE: f64 = 0.95;

/// Kelly rule. It stakes the minimum for the first trades, then `fraction x f x free balance / max open trades`.
/// `f = (p (1 + b) - 1) / b`, with `p` the lower bound of the win rate and `b` the lowest recent payout. With a
/// confidence sequence, the stake is at least the minimum, because a bot that stops trading gets no more data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kelly {
    fraction: f64,
    floor_trades: u32,
    won: u64,
    lost: u64,
    payouts: [Option<Payout>; RECENT_PAYOUTS],
    newest: usize,
    /// Confidence sequence of the win rate, `None` for the Wilson bound of earlier versions.
    sequence: Option<WinRateTracker>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct WinRateTracker {
    rate: WinRateLowerBound,
    open: Vec<(IntentId, OpenBets)>,
}

impl Kelly {
    pub(super) fn new(fraction: f64, floor_trades: u32, bound: KellyBound) -> Self {
        let sequence = match bound {
            KellyBound::ConfidenceSequence => WinRateTracker::new(),
            KellyBound::Wilson => None,
        };
        Self { fraction, floor_trades, won: 0, lost: 0, payouts: [None; RECENT_PAYOUTS], newest: 0, sequence }
    }

    pub(super) fn resume_from(&mut self, kept: Self) -> bool {
        let is_same = kept.fraction == self.fraction
            && kept.floor_trades == self.floor_trades
            && kept.sequence.is_some() == self.sequence.is_some();
        if is_same {
            *self = kept;
        }
        is_same
    }

    pub(super) fn migrate_from(&mut self, kept: Self) -> bool {
        let follows = kept.sequence.is_some() == self.sequence.is_some();
        if follows {
            *self = Self { fraction: self.fraction, floor_trades: self.floor_trades, ..kept };
        }
        follows
    }

    pub(super) fn next(&self, context: StakeContext) -> Money {
        if self.won + self.lost < u64::from(self.floor_trades) {
            return context.minimum;
        }
        let kelly = self.conservative_kelly().unwrap_or(0.0);
        let share = self.fraction * kelly / f64::from(context.max_open_trades.max(1));
        let stake = context.free.mul_rounded_down(share);
        if self.sequence.is_some() { stake.max(context.minimum) } else { stake }
    }

    fn conservative_kelly(&self) -> Option<f64> {
        let payout = self.payouts.iter().flatten().min()?;
        let lower = if let Some(sequence) = &self.sequence {
            sequence.rate.lower_bound()
        } else {
            let rate = WinRate::new(self.won, self.lost).ok()?;
            wilson_interval(rate, 2.0 * CONFIDENCE - 1.0).ok()?.lower
        };
        kelly_fraction(lower, payout.to_fraction()).ok()
    }

    pub(super) fn on_decided(&mut self, intent: IntentId) {
        if let Some(WinRateTracker { rate, open }) = &mut self.sequence {
            open.push((intent, rate.on_open()));
        }
    }

    pub(super) fn on_unopened(&mut self, intent: IntentId) {
        if let Some(sequence) = &mut self.sequence {
            sequence.on_settled(intent, Outcome::Cancelled);
        }
    }

    /// Records a settlement. A confidence sequence ignores trades that it does not track, such as excluded trades.
    pub(super) fn on_settled(&mut self, intent: IntentId, outcome: Outcome, payout: Option<Payout>) {
        if self.sequence.as_mut().is_some_and(|sequence| !sequence.on_settled(intent, outcome)) {
            return;
        }
        match outcome {
            Outcome::Won => self.won += 1,
            Outcome::Lost => self.lost += 1,
            Outcome::Draw | Outcome::Cancelled => return,
        }
        if payout.is_some() {
            self.payouts[self.newest % RECENT_PAYOUTS] = payout;
            self.newest += 1;
        }
    }

    pub(super) fn reset_evidence(&mut self) {
        if self.sequence.is_some() {
            *self = Self::new(self.fraction, self.floor_trades, KellyBound::ConfidenceSequence);
        }
    }
}

impl WinRateTracker {
    fn new() -> Option<Self> {
        Some(Self { rate: WinRateLowerBound::new(CONFIDENCE).ok()?, open: Vec::new() })
    }

    fn on_settled(&mut self, intent: IntentId, outcome: Outcome) -> bool {
        let Some(index) = self.open.iter().position(|(open, _)| *open == intent) else { return false };
        let (_, bets) = self.open.swap_remove(index);
        self.rate.on_settled(bets, to_trade_outcome(outcome));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stake_context(max_open_trades: u32) -> StakeContext {
        StakeContext { free: Money::from_minor(1_000_000), minimum: Money::from_minor(100), max_open_trades }
    }

    fn check(
        (bound, order): (KellyBound, impl Iterator<Item = Outcome>),
        (floor, max_open_trades): (u32, u32),
        expected: std::ops::RangeInclusive<i64>,
    ) {
        let mut kelly = Kelly::new(0.5, floor, bound);
        let payout = Payout::from_parts(800_000);
        for (number, outcome) in (1..).zip(order) {
            kelly.on_decided(IntentId::new(number));
            kelly.on_settled(IntentId::new(number), outcome, payout);
        }
        let stake = kelly.next(stake_context(max_open_trades)).minor();
        assert!(expected.contains(&stake), "{bound:?}: {stake}");
    }

    fn trades(won_of_ten: u64, count: u64) -> impl Iterator<Item = Outcome> {
        let outcome = move |n: u64| if n * 7 % 10 < won_of_ten { Outcome::Won } else { Outcome::Lost };
        (0..count).map(outcome).chain([Outcome::Draw])
    }

    #[test]
    fn stakes_minimum_at_first_and_while_lower_bound_is_not_above_break_even() {
        check((KellyBound::ConfidenceSequence, trades(7, 99)), (100, 1), 100..=100);
        // 60 % of 200 is above the break-even of 55.56 %, but its lower bound is not. 50 % never is.
        check((KellyBound::ConfidenceSequence, trades(6, 200)), (100, 1), 100..=100);
        check((KellyBound::ConfidenceSequence, trades(5, 2_000)), (100, 1), 100..=100);
        check((KellyBound::Wilson, trades(6, 200)), (100, 1), 0..=0);
    }

    #[test]
    fn stakes_a_clear_edge_by_its_lower_bound_divided_among_open_trades() {
        // 700 of 1,000 at b = 0.8: Wilson lower bound at z = 1.644854 is 0.675650, so
        // f = (0.675650 x 1.8 - 1) / 0.8 = 0.270213; half of it on 10,000.00 is 1,351.06.
        check((KellyBound::Wilson, trades(7, 1_000)), (100, 1), 135_106..=135_106);
        check((KellyBound::Wilson, trades(7, 1_000)), (100, 3), 45_035..=45_035);
        // The anytime-valid bound is on the grid of 0.4 points, below that and above 64 %: f from 0.19 to 0.27.
        check((KellyBound::ConfidenceSequence, trades(7, 1_000)), (100, 1), 95_000..=134_000);
        check((KellyBound::ConfidenceSequence, trades(7, 1_000)), (100, 3), 31_600..=44_700);
    }

    #[test]
    fn trades_open_before_a_reset_do_not_count_after_it() {
        let (mut kelly, payout) =
            (Kelly::new(0.5, 100, KellyBound::ConfidenceSequence), Payout::from_parts(800_000));
        (1..=60).map(IntentId::new).for_each(|number| kelly.on_decided(number));
        kelly.reset_evidence();
        (1..=60).map(IntentId::new).for_each(|number| kelly.on_settled(number, Outcome::Lost, payout));
        let context = stake_context(1);
        let mut win = |numbers: std::ops::RangeInclusive<u64>| {
            for number in numbers.map(IntentId::new) {
                kelly.on_decided(number);
                kelly.on_settled(number, Outcome::Won, payout);
            }
            kelly.next(context).minor()
        };
        assert_eq!(win(61..=159), 100);
        assert!(win(160..=160) > 100_000);
    }

    #[test]
    fn unopened_trades_and_resets_leave_no_open_bets() {
        let (mut kelly, payout) =
            (Kelly::new(0.5, 0, KellyBound::ConfidenceSequence), Payout::from_parts(800_000));
        for number in (1..=400).map(IntentId::new) {
            kelly.on_decided(number);
            kelly.on_unopened(number);
            kelly.on_settled(number, Outcome::Won, payout);
        }
        let context = stake_context(1);
        assert_eq!(kelly.next(context).minor(), 100);
        (401..800).map(IntentId::new).for_each(|number| {
            kelly.on_decided(number);
            kelly.on_settled(number, Outcome::Won, payout);
        });
        assert!(kelly.next(context).minor() > 200_000);
        kelly.reset_evidence();
        assert_eq!(kelly.next(context).minor(), 100);
    }
}
