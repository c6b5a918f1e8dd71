//! Trade statistics of one bot, and curves of profit or equity over time.

use candlewick_engine::{BotVerdict, IntentId, RunningEdge};
use candlewick_records::{EdgeIntervals, VerdictLine};
use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_statistics::MeanBreakEven;

/// Number of trades up to which the edge curve has a point per trade. Later, each point needs 5 % more trades.
const POINT_PER_TRADE_LIMIT: u64 = 40;

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
    pub(crate) mean_break_even: MeanBreakEven,
    peak: Money,
    pub(crate) curve: MoneyCurve,
    pub(crate) edge_points: Vec<EdgePoint>,
    pub(crate) running_edge: RunningEdge,
    pub(crate) settled_by_operator: u64,
    /// Number of the first intent of this bot. Earlier intents belong to other bots that had the same name.
    pub(crate) first_intent: u64,
    pub(crate) cached_verdict: Option<(u64, VerdictLine)>,
    pub(crate) settled: u64,
    intervals: Option<(u64, EdgeIntervals)>,
}

impl BotFigures {
    pub(crate) fn from_first_intent(first_intent: u64) -> Self {
        Self { first_intent, ..Self::default() }
    }

    pub(crate) fn drawdown(&self) -> Money {
        self.peak - self.profit
    }

    pub(crate) fn add_settlement(
        &mut self,
        at: Millis,
        outcome: Outcome,
        (profit, payout): (Money, Option<Payout>),
    ) {
        if let (Outcome::Won | Outcome::Lost, Some(payout)) = (outcome, payout) {
            // A payout of 0 has no break-even win rate, so the error is ignored.
            let _ = self.mean_break_even.add(payout.to_fraction());
        }
        *self.count_mut(outcome) += 1;
        self.profit += profit;
        self.peak = self.peak.max(self.profit);
        self.settled += 1;
        self.curve.push(at, self.profit);
    }

    const fn count_mut(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Won => &mut self.won,
            Outcome::Lost => &mut self.lost,
            Outcome::Draw => &mut self.drawn,
            Outcome::Cancelled => &mut self.cancelled,
        }
    }

    pub(crate) fn correct_settlement(
        &mut self,
        (intent, at): (IntentId, Millis),
        before: (Outcome, Money),
        after: (Outcome, Money),
    ) {
        self.running_edge.correct_outcome(intent, after.0);
        (self.intervals, self.cached_verdict) = (None, None);
        let count = self.count_mut(before.0);
        *count = count.saturating_sub(1);
        *self.count_mut(after.0) += 1;
        self.profit += after.1 - before.1;
        self.curve.push(at, self.profit);
        let (trades, intervals) = (self.won + self.lost + self.drawn, self.intervals());
        self.edge_points.retain(|point| point.trades < trades);
        self.edge_points.push(EdgePoint { trades, intervals });
    }

    pub(crate) fn record_edge_point(&mut self) {
        let last = self.edge_points.last().map_or(0, |point| point.trades);
        let own = self.won + self.lost + self.drawn;
        if own < last + 1 + if last < POINT_PER_TRADE_LIMIT { 0 } else { last / 20 } {
            return;
        }
        let intervals = self.intervals();
        self.edge_points.push(EdgePoint { trades: own, intervals });
    }

    fn intervals(&mut self) -> EdgeIntervals {
        let settled = self.running_edge.sequence().settled();
        match self.intervals {
            Some((known, intervals)) if known == settled => intervals,
            _ => {
                let intervals = EdgeIntervals::from_sequence(self.running_edge.sequence());
                self.intervals = Some((settled, intervals));
                intervals
            }
        }
    }

    pub(crate) fn restore_edge_history(&mut self, old: Self) {
        (self.edge_points, self.cached_verdict, self.intervals) =
            (old.edge_points, old.cached_verdict, old.intervals);
    }

    /// Resets the figures if the name now belongs to a bot with different parameters or code.
    pub(crate) fn reset_if_replaced(&mut self, verdict: &BotVerdict) {
        let first = verdict.first_intent().number();
        if first != self.first_intent {
            *self = Self::from_first_intent(first);
        }
    }

    pub(crate) fn verdict_line(&mut self, name: &str, verdict: &BotVerdict) -> VerdictLine {
        match &self.cached_verdict {
            Some((settled, line)) if *settled == self.settled => line.clone(),
            _ => {
                let intervals = self.intervals();
                let line = VerdictLine::from_verdict(name, verdict, (self.settled_by_operator, intervals));
                self.cached_verdict = Some((self.settled, line.clone()));
                line
            }
        }
    }
}

const MAX_CURVE_POINTS: usize = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CurvePoint {
    pub(crate) time: Millis,
    pub(crate) last: Money,
    pub(crate) low: Money,
    pub(crate) high: Money,
    pub(crate) drawdown: Money,
}

#[derive(Clone, Debug)]
pub(crate) struct MoneyCurve {
    pub(crate) points: Vec<CurvePoint>,
    stride: u64,
    filled: u64,
    peak: Money,
}

impl MoneyCurve {
    pub(crate) fn push(&mut self, time: Millis, equity: Money) {
        if self.points.is_empty() || equity > self.peak {
            self.peak = equity;
        }
        let new = CurvePoint { time, last: equity, low: equity, high: equity, drawdown: self.peak - equity };
        if let Some(last) = self.points.last_mut().filter(|_| self.filled < self.stride) {
            *last = merge_points(*last, new);
        } else {
            self.filled = 0;
            self.points.push(new);
        }
        self.filled += 1;
        if self.points.len() > MAX_CURVE_POINTS {
            self.merge_point_pairs();
        }
    }

    pub(crate) fn shift_by(mut self, by: Money) -> Self {
        self.peak += by;
        for point in &mut self.points {
            (point.last, point.low, point.high) = (point.last + by, point.low + by, point.high + by);
        }
        self
    }

    fn merge_point_pairs(&mut self) {
        let count = self.points.len();
        let points = &mut self.points;
        for place in 0..count.div_ceil(2) {
            let one = points[2 * place];
            points[place] = points.get(2 * place + 1).map_or(one, |other| merge_points(one, *other));
        }
        points.truncate(count.div_ceil(2));
        let whole = count.is_multiple_of(2);
        // If the last point has no partner, it covers only half of the new stride.
        self.filled += if whole { self.stride } else { 0 };
        self.stride *= 2;
    }
}

impl Default for MoneyCurve {
    fn default() -> Self {
        Self { points: Vec::new(), stride: 1, filled: 0, peak: Money::ZERO }
    }
}

fn merge_points(one: CurvePoint, other: CurvePoint) -> CurvePoint {
    CurvePoint {
        time: other.time,
        last: other.last,
        low: one.low.min(other.low),
        high: one.high.max(other.high),
        drawdown: one.drawdown.max(other.drawdown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_curve_keeps_end_extremes_and_max_drawdown() {
        let mut curve = MoneyCurve::default();
        let mut equity = 0;
        let (mut low, mut high, mut peak, mut fall) = (i64::MAX, i64::MIN, i64::MIN, 0);
        for step in 0..100_000_i64 {
            equity += (step * 7_919 % 101) - 50;
            curve.push(Millis::new(step), Money::from_minor(equity));
            (low, high, peak) = (low.min(equity), high.max(equity), peak.max(equity));
            fall = fall.max(peak - equity);
        }
        let points = &curve.points;
        assert!(points.len() <= MAX_CURVE_POINTS && points.len() > MAX_CURVE_POINTS / 4, "{}", points.len());
        assert_eq!(points.last().map(|point| (point.time.get(), point.last.minor())), Some((99_999, equity)));
        assert_eq!(points.iter().map(|point| point.low.minor()).min(), Some(low));
        assert_eq!(points.iter().map(|point| point.high.minor()).max(), Some(high));
        assert_eq!(points.iter().map(|point| point.drawdown.minor()).max(), Some(fall));
        assert!(points.is_sorted_by_key(|point| point.time));
    }
}
