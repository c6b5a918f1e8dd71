//! Running totals of a trial, without a trade book.

use super::super::Figures;
use super::super::figures::OpenEnds;
use super::super::timeline::TimelineSoFar;
use candlewick_backtest::{RunTotals, SettledFigures};
use candlewick_engine::Rule;
use candlewick_sdk::{Millis, Money, MoneyScale, Outcome, Payout};
use std::ops::Range;

pub(crate) struct Tally {
    scale: MoneyScale,
    /// Payout of a win, the same for all trades of a simulation.
    payout: Payout,
    opened: u64,
    pub(crate) refused: u64,
    rejected: u64,
    totals: RunTotals,
    timeline: TimelineSoFar,
}

impl Tally {
    pub(crate) fn new(scale: MoneyScale, payout: Payout, balance: Money, span: &Range<Millis>) -> Self {
        Self {
            scale,
            payout,
            opened: 0,
            refused: 0,
            rejected: 0,
            totals: RunTotals::new(balance).by_day(span),
            timeline: TimelineSoFar::of(span),
        }
    }

    #[inline]
    pub(crate) const fn open(&mut self) {
        self.opened += 1;
    }

    pub(crate) const fn reject(&mut self) {
        self.rejected += 1;
    }

    /// Counts a trade with its decision time and the time when its settlement became known.
    #[allow(clippy::inline_always, reason = "it is short, and a third of it would be the call")]
    #[inline(always)]
    pub(crate) fn settle(
        &mut self,
        (decided, at): (Millis, Millis),
        outcome: Outcome,
        (stake, profit): (Money, Money),
    ) {
        let payout = Some(self.payout);
        self.totals.settle(&SettledFigures { settled_at: Some(at), outcome, stake, profit, payout });
        self.timeline.settle(decided, at, outcome);
    }

    pub(crate) fn into_figures(self, stopped_by: Option<Rule>) -> Figures {
        let evidence = self.totals.evidence_at(self.payout);
        let open = OpenEnds {
            unsettled: self.opened - self.totals.trades() - self.rejected,
            refused: self.refused + self.rejected,
            stopped_by,
        };
        Figures::of_totals(&self.totals, evidence, open, self.timeline.into_timeline(), self.scale)
    }
}
