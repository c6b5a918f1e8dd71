//! Simulation of verdicts: their error rates, and the number of trades until a verdict.

use super::trade_stream::{StreamEvent, TradeStream};
use crate::{EdgeTest, EdgeTestPlan, NotionalStake, Verdict};
use std::ops::ControlFlow;

#[derive(Clone, Debug, PartialEq)]
pub struct VerdictRates {
    paths: u64,
    /// Sorted numbers of trades after which paths reached *edge shown*. Omits paths that did not reach it.
    shown_after: Vec<u64>,
    /// Sorted numbers of trades after which paths reached *no edge*. Omits paths that did not reach it.
    rejected_after: Vec<u64>,
}

impl VerdictRates {
    /// Simulates a range of paths. Results of disjoint ranges can be joined with [`VerdictRates::join`].
    pub fn simulate(plan: EdgeTestPlan, stream: &TradeStream, range: PathBatch) -> Self {
        let mut rates = Self { paths: range.paths, shown_after: Vec::new(), rejected_after: Vec::new() };
        for path in range.first_path..range.first_path + range.paths {
            match simulate_path(plan, stream, range, path) {
                (Verdict::EdgeShown, trades) => rates.shown_after.push(trades),
                (Verdict::EdgeRejected, trades) => rates.rejected_after.push(trades),
                (Verdict::NotEnoughTrades { .. }, _) => {}
            }
        }
        rates.shown_after.sort_unstable();
        rates.rejected_after.sort_unstable();
        rates
    }

    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.paths += other.paths;
        self.shown_after.extend(other.shown_after);
        self.rejected_after.extend(other.rejected_after);
        self.shown_after.sort_unstable();
        self.rejected_after.sort_unstable();
        self
    }

    pub fn edge_shown_share(&self) -> f64 {
        self.shown_after.len() as f64 / self.paths as f64
    }

    pub fn edge_rejected_share(&self) -> f64 {
        self.rejected_after.len() as f64 / self.paths as f64
    }

    pub fn trades_until_edge_shown(&self, share: f64) -> Option<u64> {
        self.trades_at_share(&self.shown_after, share)
    }

    /// Returns [`Self::trades_until_edge_shown`] at both ends of `share` ± one standard error.
    pub fn trades_until_edge_shown_with_error(&self, share: f64) -> (Option<u64>, Option<u64>) {
        let error = self.standard_error(share);
        (self.trades_until_edge_shown(share - error), self.trades_until_edge_shown(share + error))
    }

    pub fn standard_error(&self, share: f64) -> f64 {
        (share * (1.0 - share) / self.paths as f64).sqrt()
    }

    pub fn trades_until_edge_rejected(&self, share: f64) -> Option<u64> {
        self.trades_at_share(&self.rejected_after, share)
    }

    fn trades_at_share(&self, after: &[u64], share: f64) -> Option<u64> {
        let rank = (share * self.paths as f64).ceil().max(1.0) as usize;
        after.get(rank - 1).copied()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathBatch {
    pub seed: u64,
    pub first_path: u64,
    pub paths: u64,
    pub trades: u64,
}

fn simulate_path(plan: EdgeTestPlan, stream: &TradeStream, range: PathBatch, path: u64) -> (Verdict, u64) {
    let mut test = EdgeTest::new(plan);
    let mut stakes: Vec<Option<NotionalStake>> = (0..stream.max_open_trades()).map(|_| None).collect();
    let mut verdict = test.verdict();
    stream.play(range.seed, path, range.trades, |event| {
        match event {
            StreamEvent::Opened { slot, payout_fraction } => {
                stakes[slot] = test.on_open(payout_fraction).ok();
            }
            StreamEvent::Settled { slot, outcome, .. } => {
                if let Some(stake) = stakes[slot].take() {
                    verdict = test.on_settled(stake, outcome);
                }
            }
        }
        match verdict {
            Verdict::EdgeShown | Verdict::EdgeRejected => ControlFlow::Break(()),
            Verdict::NotEnoughTrades { .. } => ControlFlow::Continue(()),
        }
    });
    (verdict, test.settled())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamDependence;

    const RANGE: PathBatch = PathBatch { seed: 11, first_path: 0, paths: 1_500, trades: 1_000 };

    #[test]
    fn trades_to_a_verdict_are_a_quantile_of_paths() {
        let after: Vec<u64> = (1..=40).map(|path| 10 * path).collect();
        let shown = VerdictRates { paths: 50, shown_after: after.clone(), rejected_after: Vec::new() };
        let rejected = VerdictRates { paths: 50, shown_after: Vec::new(), rejected_after: after };
        // Shares of 50 paths: none, 12.5, 25, 40 and 41 paths. The 13th path to show an edge completes a quarter.
        for (share, expected) in
            [(0.0, Some(10)), (0.25, Some(130)), (0.5, Some(250)), (0.8, Some(400)), (0.82, None)]
        {
            let found = (shown.trades_until_edge_shown(share), rejected.trades_until_edge_rejected(share));
            assert_eq!(found, (expected, expected), "{share}");
        }
        let shares = [
            shown.edge_shown_share(),
            shown.edge_rejected_share(),
            rejected.edge_shown_share(),
            rejected.edge_rejected_share(),
        ];
        assert_eq!(shares, [0.8, 0.0, 0.0, 0.8]);
        // sqrt(0.8 x 0.2 / 50) = 0.0566, which is 2.83 of 50 paths. One error from 80 % is thus path 37.2 or 42.8.
        assert_eq!(shown.trades_until_edge_shown_with_error(0.8), (Some(380), None));
        let whole = VerdictRates { shown_after: (1..=50).collect(), ..shown };
        assert_eq!(whole.trades_until_edge_shown_with_error(0.8), (Some(38), Some(43)));
    }

    #[test]
    fn parts_join_to_the_whole() {
        let stream = TradeStream::new(StreamDependence::Independent, &[0.85], 5.0, 0.0).unwrap();
        let simulate = |range| VerdictRates::simulate(EdgeTestPlan::default(), &stream, range);
        let whole = PathBatch { paths: 60, ..RANGE };
        let second = PathBatch { first_path: 20, paths: 40, ..RANGE };
        assert_eq!(simulate(second).join(simulate(PathBatch { paths: 20, ..RANGE })), simulate(whole));
    }
}
