//! Running totals of settled trades. All performance figures of a run are computed from them.

use crate::metric::{DailyProfits, DrawdownTracker};
use candlewick_engine::{IntentRow, IntentState, to_trade_outcome};
use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_statistics::{StreakTracker, Streaks, WinRate, binomial_p_value, break_even};
use std::ops::Range;

/// Running totals of settled trades. Add trades in the order in which their settlements became known.
/// Reports, search trials and walk-forward tests use these totals instead of storing lists of trades.
#[derive(Clone, Debug)]
pub struct RunTotals {
    won: u64,
    lost: u64,
    draw: u64,
    cancelled: u64,
    staked: Money,
    start: Money,
    drawdowns: DrawdownTracker,
    streaks: StreakTracker,
    payouts: PayoutMix,
    days: Option<DailyProfits>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettledTradeFigures {
    pub settled_at: Option<Millis>,
    pub outcome: Outcome,
    pub stake: Money,
    pub profit: Money,
    pub payout: Option<Payout>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PayoutMix {
    NoneYet,
    Uniform(Payout),
    Mixed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WinRateEvidence {
    /// Win rate at which the trades would break even with equal stakes; `None` if no trade is won or lost.
    pub break_even: Option<f64>,
    /// Probability of at least this many wins if trades win at the break-even rate. Assumes independent trades.
    pub p_value: Option<f64>,
}

impl SettledTradeFigures {
    #[inline]
    pub fn from_row(row: &IntentRow) -> Option<Self> {
        let outcome = row.outcome.filter(|_| row.state == IntentState::Settled)?;
        let IntentRow { settled_at, profit, payout, .. } = *row;
        Some(Self { settled_at, outcome, stake: row.approved.stake(), profit, payout })
    }
}

impl RunTotals {
    pub const fn new(balance: Money) -> Self {
        Self {
            won: 0,
            lost: 0,
            draw: 0,
            cancelled: 0,
            staked: Money::ZERO,
            start: balance,
            drawdowns: DrawdownTracker::new(balance),
            streaks: StreakTracker::EMPTY,
            payouts: PayoutMix::NoneYet,
            days: None,
        }
    }

    #[must_use]
    pub fn with_daily_profits(self, span: &Range<Millis>) -> Self {
        Self { days: Some(DailyProfits::new(span)), ..self }
    }

    // The code does not branch on the outcome; see docs/performance.md.
    #[allow(clippy::inline_always, reason = "it is short, and a call would be a third of its cost")]
    #[inline(always)]
    pub fn add_trade(&mut self, trade: &SettledTradeFigures) {
        let SettledTradeFigures { settled_at, outcome, stake, profit, payout } = *trade;
        self.won += u64::from(outcome == Outcome::Won);
        self.lost += u64::from(outcome == Outcome::Lost);
        self.staked += stake;
        self.drawdowns.add_profit(settled_at, profit);
        self.streaks.add_outcome(to_trade_outcome(outcome));
        if let (Some(days), Some(at)) = (&mut self.days, settled_at) {
            days.add_profit(at, profit);
        }
        match outcome {
            Outcome::Won | Outcome::Lost => self.record_payout(payout),
            Outcome::Draw | Outcome::Cancelled => self.count_draw_or_cancelled(outcome),
        }
    }

    #[cold]
    fn count_draw_or_cancelled(&mut self, outcome: Outcome) {
        self.draw += u64::from(outcome == Outcome::Draw);
        self.cancelled += u64::from(outcome == Outcome::Cancelled);
    }

    #[inline]
    fn record_payout(&mut self, payout: Option<Payout>) {
        // Fast path: the payout is usually that of the previous trades.
        if payout.is_none_or(|payout| self.payouts != PayoutMix::Uniform(payout)) {
            self.record_payout_change(payout);
        }
    }

    #[cold]
    fn record_payout_change(&mut self, payout: Option<Payout>) {
        self.payouts = match (self.payouts, payout) {
            (PayoutMix::NoneYet, Some(payout)) => PayoutMix::Uniform(payout),
            _ => PayoutMix::Mixed,
        };
    }

    pub const fn won(&self) -> u64 {
        self.won
    }

    pub const fn lost(&self) -> u64 {
        self.lost
    }

    pub const fn draws(&self) -> u64 {
        self.draw
    }

    pub const fn cancelled(&self) -> u64 {
        self.cancelled
    }

    pub const fn trades(&self) -> u64 {
        self.won + self.lost + self.draw + self.cancelled
    }

    pub fn pnl(&self) -> Money {
        self.drawdowns.balance() - self.start
    }

    pub fn profit_per_unit_staked(&self) -> Option<f64> {
        self.staked.is_positive().then(|| self.pnl().minor() as f64 / self.staked.minor() as f64)
    }

    pub const fn drawdowns(&self) -> &DrawdownTracker {
        &self.drawdowns
    }

    pub const fn longest_streaks(&self) -> Streaks {
        self.streaks.longest()
    }

    /// Returns the daily profits, `None` if daily profits are not tracked.
    pub const fn daily_profits(&self) -> Option<&DailyProfits> {
        self.days.as_ref()
    }

    pub fn win_rate(&self) -> Option<WinRate> {
        WinRate::new(self.won, self.lost).ok()
    }

    pub(crate) const fn payout_mix(&self) -> PayoutMix {
        self.payouts
    }

    pub fn evidence_at(&self, payout: Payout) -> WinRateEvidence {
        let Some(rate) = self.win_rate() else { return WinRateEvidence::default() };
        let fraction = payout.to_fraction();
        let p_value = binomial_p_value(rate, 1.0 / (1.0 + fraction)).ok();
        WinRateEvidence { break_even: break_even(fraction).ok(), p_value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: Money = Money::from_minor(10_000);

    fn trades() -> impl Strategy<Value = Vec<SettledTradeFigures>> {
        let outcome = prop::sample::select(Outcome::ALL.to_vec());
        let trade = (0_i64..40, outcome, 1_i64..900, 70_u32..72);
        prop::collection::vec(trade, 0..60).prop_map(|drawn| {
            let mut now = Millis::ZERO;
            let settled = drawn.into_iter().map(|(hours, outcome, stake, percent)| {
                now += Millis::HOUR * hours;
                let profit = match outcome {
                    Outcome::Won => stake * i64::from(percent) / 100,
                    Outcome::Lost => -stake,
                    Outcome::Draw | Outcome::Cancelled => 0,
                };
                SettledTradeFigures {
                    settled_at: Some(now),
                    outcome,
                    stake: Money::from_minor(stake),
                    profit: Money::from_minor(profit),
                    payout: Payout::from_percent(percent.into()).ok(),
                }
            });
            settled.collect()
        })
    }

    fn longest_row(trades: &[SettledTradeFigures], of: Outcome, other: Outcome) -> u32 {
        let stretches = trades.split(|trade| trade.outcome == other);
        stretches.map(|run| run.iter().filter(|trade| trade.outcome == of).count() as u32).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn running_totals_match_totals_of_the_list(trades in trades()) {
            let span = Millis::ZERO..Millis::DAY * 3;
            let mut totals = RunTotals::new(START).with_daily_profits(&span);
            for trade in &trades {
                totals.add_trade(trade);
            }
            let count = |outcome| trades.iter().filter(|trade| trade.outcome == outcome).count() as u64;
            prop_assert_eq!(
                [totals.won(), totals.lost(), totals.draws(), totals.cancelled(), totals.trades()],
                [count(Outcome::Won), count(Outcome::Lost), count(Outcome::Draw), count(Outcome::Cancelled), trades.len() as u64]
            );
            let pnl: Money = trades.iter().map(|trade| trade.profit).sum();
            let staked: Money = trades.iter().map(|trade| trade.stake).sum();
            prop_assert_eq!(totals.pnl(), pnl);
            let per_unit = (!trades.is_empty()).then(|| pnl.minor() as f64 / staked.minor() as f64);
            prop_assert_eq!(totals.profit_per_unit_staked(), per_unit);
            prop_assert_eq!(totals.longest_streaks(), Streaks {
                won: longest_row(&trades, Outcome::Won, Outcome::Lost),
                lost: longest_row(&trades, Outcome::Lost, Outcome::Won),
            });
            let payouts: Vec<_> = trades.iter().filter(|trade| matches!(trade.outcome, Outcome::Won | Outcome::Lost))
                .map(|trade| trade.payout).collect();
            let expected = match payouts.first() {
                None => PayoutMix::NoneYet,
                Some(Some(first)) if payouts.iter().all(|payout| *payout == Some(*first)) => PayoutMix::Uniform(*first),
                Some(_) => PayoutMix::Mixed,
            };
            prop_assert_eq!(totals.payout_mix(), expected);
            let days = totals.daily_profits().unwrap().profits();
            prop_assert!(days.len() >= 3);
            for (day, profit) in days.iter().enumerate() {
                let hours = Millis::DAY * day as i64..Millis::DAY * (day as i64 + 1);
                let own = trades.iter().filter(|trade| hours.contains(&trade.settled_at.unwrap()));
                prop_assert_eq!(*profit, own.map(|trade| trade.profit).sum::<Money>().minor() as f64);
            }
        }
    }
}
