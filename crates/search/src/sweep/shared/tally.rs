//! The figures of a trial, added up while it runs: no book of its trades is kept.

use super::super::Figures;
use super::super::figures::edge_lower;
use super::super::timeline::TimelineSoFar;
use super::folds::{DailyProfits, Falls, LosingStreaks};
use candlewick_sdk::{Millis, Money, MoneyScale, Outcome, Payout};
use candlewick_statistics::{WinRate, binomial_p_value, break_even};
use std::ops::Range;

/// Counts and sums of settled trades, in the order in which their settlements become known.
pub(crate) struct Tally {
    scale: MoneyScale,
    /// What a win pays, which is one and the same for all trades of a simulation.
    payout: Payout,
    opened: u64,
    /// Signals that a rule refused, and orders that the venue did.
    pub(crate) refused: u64,
    rejected: u64,
    draw: u64,
    cancelled: u64,
    staked: Money,
    falls: Falls,
    streaks: LosingStreaks,
    days: DailyProfits,
    timeline: TimelineSoFar,
}

impl Tally {
    /// Nothing yet: a run that begins with `balance`, over candles from the start to the end of `span`.
    pub(crate) fn new(scale: MoneyScale, payout: Payout, balance: Money, span: &Range<Millis>) -> Self {
        Self {
            scale,
            payout,
            opened: 0,
            refused: 0,
            rejected: 0,
            draw: 0,
            cancelled: 0,
            staked: Money::ZERO,
            falls: Falls::new(balance),
            streaks: LosingStreaks::default(),
            days: DailyProfits::of(span),
            timeline: TimelineSoFar::of(span),
        }
    }

    /// A trade was approved.
    #[inline]
    pub(crate) const fn open(&mut self) {
        self.opened += 1;
    }

    /// The venue refused an order.
    pub(crate) const fn reject(&mut self) {
        self.rejected += 1;
    }

    /// A trade settled: when it was decided, and when that became known.
    #[allow(clippy::inline_always, reason = "it is short, and a third of it would be the call")]
    #[inline(always)]
    pub(crate) fn settle(
        &mut self,
        (decided, at): (Millis, Millis),
        outcome: Outcome,
        (stake, profit): (Money, Money),
    ) {
        if !matches!(outcome, Outcome::Won | Outcome::Lost) {
            self.settle_undecided(outcome);
        }
        self.staked += stake;
        self.falls.settle(profit);
        self.streaks.settle(outcome);
        self.days.settle(at, profit);
        self.timeline.settle(decided, at, outcome);
    }

    #[cold]
    fn settle_undecided(&mut self, outcome: Outcome) {
        self.draw += u64::from(outcome == Outcome::Draw);
        self.cancelled += u64::from(outcome == Outcome::Cancelled);
    }

    /// What it comes to.
    pub(crate) fn into_figures(self) -> Figures {
        let (won, lost) = self.timeline.decided();
        let trades = won + lost + self.draw + self.cancelled;
        let rate = WinRate::new(won, lost).ok();
        let pnl = self.falls.profit();
        let payout = self.payout.to_fraction();
        let needed = rate.and_then(|_| break_even(payout).ok());
        Figures {
            trades,
            won,
            lost,
            draw: self.draw,
            cancelled: self.cancelled,
            unsettled: self.opened - trades - self.rejected,
            refused: self.refused + self.rejected,
            win_rate: rate.map(WinRate::to_fraction),
            break_even: needed,
            edge_lower: edge_lower(rate, needed),
            p_value: rate.and_then(|rate| binomial_p_value(rate, 1.0 / (1.0 + payout)).ok()),
            pnl: self.scale.to_f64(pnl),
            expectancy: self.staked.is_positive().then(|| pnl.minor() as f64 / self.staked.minor() as f64),
            sharpe: self.days.sharpe(),
            max_drawdown: self.scale.to_f64(self.falls.amount()),
            max_drawdown_percent: self.falls.percent(),
            longest_losing_streak: self.streaks.longest(),
            timeline: self.timeline.into_timeline(),
        }
    }
}
