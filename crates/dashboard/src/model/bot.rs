//! What the trades of one bot have come to.

use super::curve::Curve;
use candlewick_engine::{BotVerdict, IntentId, RunningEdge};
use candlewick_records::{EdgeIntervals, VerdictLine};
use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_statistics::MeanBreakEven;

/// Up to so many trades the interval is kept after each; after that it is after every twentieth part more.
const EACH: u64 = 40;

/// Where the edge lay after so many trades.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EdgePoint {
    pub(crate) trades: u64,
    pub(crate) intervals: EdgeIntervals,
}

/// A bot's trades in figures.
#[derive(Clone, Debug, Default)]
pub(crate) struct BotFigures {
    pub(crate) won: u64,
    pub(crate) lost: u64,
    pub(crate) drawn: u64,
    pub(crate) cancelled: u64,
    pub(crate) profit: Money,
    /// The win rate that those won and lost needed, each with the same stake.
    needed: MeanBreakEven,
    /// The highest that it was; never below nothing.
    peak: Money,
    /// Profit after each settlement.
    pub(crate) curve: Curve,
    /// Of its trades that have settled, by their wins.
    pub(crate) edge: Vec<EdgePoint>,
    /// The same as it stands.
    pub(crate) running: RunningEdge,
    /// Trades of which a person said how they ended.
    pub(crate) said: u64,
    /// Since when its trades are those of the present bot.
    pub(crate) first_intent: u64,
    /// The verdict, and how much had become known of its trades then.
    pub(crate) verdict: Option<(u64, VerdictLine)>,
    settled: u64,
    /// Where the edge lies, and after how many trades of the sequence.
    intervals: Option<(u64, EdgeIntervals)>,
}

impl BotFigures {
    /// Of no trade yet, from this intent on.
    pub(crate) fn since(first_intent: u64) -> Self {
        Self { first_intent, ..Self::default() }
    }

    /// How many have settled.
    pub(crate) const fn settled(&self) -> u64 {
        self.settled
    }

    /// How far the profit is below the highest that it was.
    pub(crate) fn drawdown(&self) -> Money {
        self.peak - self.profit
    }

    /// The win rate at which its trades that were won or lost would have earned nothing; none without one.
    pub(crate) fn break_even(&self) -> Option<f64> {
        self.needed.mean()
    }

    /// Takes a settlement: how it ended, what it brought, and what a win of it pays.
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

    /// Puts the right result of a settled trade in the place of the one that was taken.
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

    /// Keeps the interval as it stands now, where it is time to.
    pub(crate) fn mark(&mut self) {
        let last = self.edge.last().map_or(0, |point| point.trades);
        let own = self.won + self.lost + self.drawn;
        if own < last + 1 + if last < EACH { 0 } else { last / 20 } {
            return;
        }
        let intervals = self.intervals();
        self.edge.push(EdgePoint { trades: own, intervals });
    }

    /// Where the edge lies: found anew, which takes a look at all trades, when one has been added.
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

    /// Takes over what was found of the same trades before, where there are as many.
    pub(crate) fn take_found(&mut self, before: Self) {
        (self.edge, self.verdict, self.intervals) = (before.edge, before.verdict, before.intervals);
    }

    /// Another bot has taken its name: other parameters, other code.
    pub(crate) fn begin_anew(&mut self, verdict: &BotVerdict) {
        let first = verdict.first_intent().number();
        if first != self.first_intent {
            *self = Self::since(first);
        }
    }

    /// The verdict as it was formed last.
    pub(crate) fn last_verdict(&self) -> Option<VerdictLine> {
        self.verdict.as_ref().map(|(_, line)| line.clone())
    }

    /// The verdict as it stands; it is formed anew when something has become known since.
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
