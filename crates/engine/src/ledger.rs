//! Ledger of a Session: free balance, open stakes, daily result, peak and loss streak.

use crate::settings::is_default;
use crate::to_trade_outcome;
use candlewick_sdk::{Millis, Money, Outcome};
use candlewick_statistics::Streaks;
use serde::{Deserialize, Serialize};

/// The Session's own exact account of the wallet, computed from events and never read from the venue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    free: Money,
    open_stakes: Money,
    peak: Money,
    losses: u32,
    pub(crate) day_end: Millis,
    day_equity: Money,
    day_profit: Money,
    wallet: Option<Money>,
    #[serde(default, skip_serializing_if = "is_default")]
    difference: Money,
    #[serde(default, skip_serializing_if = "is_default")]
    shortage_before: Money,
}

impl Ledger {
    pub(crate) fn new(balance: Money) -> Self {
        Self {
            free: balance,
            open_stakes: Money::ZERO,
            peak: balance,
            losses: 0,
            day_end: Millis::new(i64::MIN),
            day_equity: balance,
            day_profit: Money::ZERO,
            wallet: None,
            difference: Money::ZERO,
            shortage_before: Money::ZERO,
        }
    }

    /// Returns the free balance, which excludes open stakes.
    pub const fn free_balance(&self) -> Money {
        self.free
    }

    /// Returns the wallet balance minus the expected balance: negative for a shortage, usually zero.
    pub const fn wallet_difference(&self) -> Money {
        self.difference
    }

    /// Returns the amount missing from the wallet, zero for a surplus.
    #[inline]
    pub fn shortage(&self) -> Money {
        (-self.difference).max(Money::ZERO)
    }

    /// Returns the part of the free balance that the wallet covers.
    #[inline]
    pub fn available_balance(&self) -> Money {
        self.free - self.shortage()
    }

    /// Returns the total stake of unfinished intents, which counts as lost until settlement.
    pub const fn open_stakes(&self) -> Money {
        self.open_stakes
    }

    /// Returns the equity, which is the free balance plus open stakes.
    pub fn equity(&self) -> Money {
        self.free + self.open_stakes
    }

    /// Returns the highest equity since the start or the last resume.
    pub const fn peak_equity(&self) -> Money {
        self.peak
    }

    /// Returns the current number of consecutive losses over all bots.
    /// Draws and cancellations neither extend nor end a streak.
    pub const fn loss_streak(&self) -> u32 {
        self.losses
    }

    /// Returns the profit settled since the start of the day.
    pub const fn day_profit(&self) -> Money {
        self.day_profit
    }

    /// Returns the settled profit of the day minus the wallet shortage that arose since the day began.
    #[inline]
    pub fn day_result(&self) -> Money {
        self.day_profit - self.day_shortage()
    }

    fn day_shortage(&self) -> Money {
        (self.shortage() - self.shortage_before).max(Money::ZERO)
    }

    fn equity_less_shortage(&self) -> Money {
        self.equity() - self.shortage()
    }

    /// Returns the equity at the first event of the day.
    pub const fn day_equity(&self) -> Money {
        self.day_equity
    }

    /// Returns the latest reading of the wallet balance, `None` before the first reading.
    pub const fn wallet_balance(&self) -> Option<Money> {
        self.wallet
    }

    #[inline]
    pub(crate) fn is_day_over(&self, now: Millis) -> bool {
        now >= self.day_end
    }

    pub(crate) fn open_day(&mut self, end: Millis) {
        self.day_end = end;
        self.day_equity = self.equity_less_shortage();
        self.day_profit = Money::ZERO;
        self.shortage_before = self.shortage();
    }

    pub(crate) fn session_baseline(&self) -> (Money, Money) {
        (self.equity_less_shortage(), self.shortage())
    }

    pub(crate) fn reserve(&mut self, stake: Money) {
        self.free -= stake;
        self.open_stakes += stake;
    }

    pub(crate) fn release(&mut self, stake: Money) {
        self.free += stake;
        self.open_stakes -= stake;
    }

    pub(crate) fn settle(&mut self, stake: Money, profit: Money) {
        self.release(stake);
        self.add_profit(profit);
    }

    #[inline]
    pub(crate) fn add_profit(&mut self, profit: Money) {
        self.free += profit;
        self.day_profit += profit;
        self.peak = self.peak.max(self.equity_less_shortage());
    }

    /// Books a deposit or withdrawal. It is neither profit nor loss, so day equity and peak change by the same amount.
    pub(crate) fn deposit(&mut self, amount: Money) {
        self.free += amount;
        self.day_equity += amount;
        self.peak += amount;
    }

    pub(crate) const fn count_outcome(&mut self, outcome: Outcome) {
        self.losses = loss_streak_after(self.losses, outcome);
    }

    pub(crate) fn record_wallet_balance(&mut self, amount: Money) {
        self.wallet = Some(amount);
    }

    pub(crate) fn record_wallet_difference(&mut self, amount: Money) {
        self.difference = amount;
        // A shortage that arises again counts as a new loss.
        self.shortage_before = self.shortage_before.min(self.shortage());
        self.peak = self.peak.max(self.equity_less_shortage());
    }

    /// Books the wallet difference into the free balance. A shortage that arose today remains part of the day's result.
    fn accept_difference(&mut self) {
        self.day_profit -= self.day_shortage();
        self.day_equity += self.difference.max(Money::ZERO);
        self.free += self.difference;
        (self.difference, self.shortage_before) = (Money::ZERO, Money::ZERO);
    }

    pub(crate) fn reset_peak_and_streak(&mut self) {
        self.accept_difference();
        self.peak = self.equity();
        self.losses = 0;
    }
}

#[inline]
pub(crate) const fn loss_streak_after(losses: u32, outcome: Outcome) -> u32 {
    Streaks { won: 0, lost: losses }.after_outcome(to_trade_outcome(outcome)).lost
}
