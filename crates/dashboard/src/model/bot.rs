//! Figures of the trades of one bot.

use super::curve::Curve;
use candlewick_engine::{BotVerdict, IntentId, RunningEdge};
use candlewick_records::{EdgeIntervals, VerdictLine};
use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_statistics::MeanBreakEven;

/// Number of trades up to which every interval is recorded. Later ones are spaced by 5 % more
/// trades.
const EACH: u64 = 40;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EdgePoint {
    pub(crate) trades: u64,
    pub(crate) intervals: EdgeIntervals,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BotFigures {
    pub(crate) won: u64,
    pub(crate) lost: u64,
    pub(crate) drawn: u64,
    pub(crate) cancelled: u64,
    pub(crate) profit: Money,
    needed: MeanBreakEven,
    peak: Money,
    pub(crate) curve: Curve,
    pub(crate) edge: Vec<EdgePoint>,
    pub(crate) running: RunningEdge,
    /// Trades settled manually by an operator.
    pub(crate) said: u64,
    /// First intent of the present bot. Earlier trades belong to other bots of the same name.
    pub(crate) first_intent: u64,
    pub(crate) verdict: Option<(u64, VerdictLine)>,
    settled: u64,
    intervals: Option<(u64, EdgeIntervals)>,
}

impl BotFigures {
    pub(crate) fn since(first_intent: u64) -> Self {
        Self { first_intent, ..Self::default() }
    }

    pub(crate) const fn settled(&self) -> u64 {
        self.settled
    }

    pub(crate) fn drawdown(&self) -> Money {
        self.peak - self.profit
    }

    pub(crate) fn break_even(&self) -> Option<f64> {
        self.needed.mean()
    }

    pub(crate) fn take(&mut self, at: Millis, outcome: Outcome, (profit, payout): (Money, Option<Payout>)) {
        if let (Outcome::Won | Outcome::Lost, Some(payout)) = (outcome, payout) {
            // A payout of nothing has no break-even.
            let _ = self.needed.add(payout.to_fraction());
        }
        *self.count_of(outcome) += 1;
        self.profit += profit;
        self.peak = self.peak.max(self.profit);
        self.settled += 1;
        self.curve.push(at, self.profit);
    }

    const fn count_of(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Won => &mut self.won,
            Outcome::Lost => &mut self.lost,
            Outcome::Draw => &mut self.drawn,
            Outcome::Cancelled => &mut self.cancelled,
        }
    }

    pub(crate) fn correct(
        &mut self,
        (intent, at): (IntentId, Millis),
        before: (Outcome, Money),
        after: (Outcome, Money),
    ) {
        self.running.correct(intent, after.0);
        (self.intervals, self.verdict) = (None, None);
        let count = self.count_of(before.0);
        *count = count.saturating_sub(1);
        *self.count_of(after.0) += 1;
        self.profit += after.1 - before.1;
        self.curve.push(at, self.profit);
        let (trades, intervals) = (self.won + self.lost + self.drawn, self.intervals());
        self.edge.retain(|point| point.trades < trades);
        self.edge.push(EdgePoint { trades, intervals });
    }

    pub(crate) fn mark(&mut self) {
        let last = self.edge.last().map_or(0, |point| point.trades);
        let own = self.won + self.lost + self.drawn;
        if own < last + 1 + if last < EACH { 0 } else { last / 20 } {
            return;
        }
        let intervals = self.intervals();
        self.edge.push(EdgePoint { trades: own, intervals });
    }

    /// Returns the interval of the edge. It reads all trades, so it is cached until another
    /// settles.
    fn intervals(&mut self) -> EdgeIntervals {
        let settled = self.running.sequence().settled();
        match self.intervals {
            Some((known, intervals)) if known == settled => intervals,
            _ => {
                let intervals = EdgeIntervals::of(self.running.sequence());
                self.intervals = Some((settled, intervals));
                intervals
            }
        }
    }

    pub(crate) fn take_found(&mut self, before: Self) {
        (self.edge, self.verdict, self.intervals) = (before.edge, before.verdict, before.intervals);
    }

    /// Resets the figures if another bot (other parameters or code) has taken over the name.
    pub(crate) fn begin_anew(&mut self, verdict: &BotVerdict) {
        let first = verdict.first_intent().number();
        if first != self.first_intent {
            *self = Self::since(first);
        }
    }

    pub(crate) fn last_verdict(&self) -> Option<VerdictLine> {
        self.verdict.as_ref().map(|(_, line)| line.clone())
    }

    pub(crate) fn verdict(&mut self, name: &str, verdict: &BotVerdict) -> VerdictLine {
        match &self.verdict {
            Some((settled, line)) if *settled == self.settled => line.clone(),
            _ => {
                let intervals = self.intervals();
                let line = VerdictLine::with(name, verdict, (self.said, intervals));
                self.verdict = Some((self.settled, line.clone()));
                line
            }
        }
    }
}
