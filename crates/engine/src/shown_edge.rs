//! The time at which an edge was shown, and the trades since.

use crate::judge::{Judge, JudgedTrade, News, in_order};
use candlewick_sdk::Millis;
use candlewick_statistics::{EdgeTest, Verdict};

/// An edge shown by some trades.
///
/// The verdict is final, but later trades may still contradict it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEdge {
    /// Time at which the end of the deciding trade became known.
    pub at: Millis,
    /// Number of trades won, lost or drawn by then, the deciding one included.
    pub after_trades: u64,
    /// Trades that ended later, in that order.
    pub since: Vec<JudgedTrade>,
}

impl ShownEdge {
    /// Finds the trade with which a fresh `test` shows an edge, `None` if none.
    pub fn find(trades: &[JudgedTrade], test: impl Into<EdgeTest>) -> Option<Self> {
        let known = in_order(trades);
        let mut judge = Judge::new(test);
        let is_shown = |(_, _, news, place): &(_, _, News, usize)| {
            judge.apply(*news, *place, &trades[*place]);
            judge.test().is_final()
        };
        let last = known.iter().position(is_shown)?;
        let test = judge.test();
        let rest = known[last + 1..].iter().filter(|(_, _, news, _)| *news == News::Ended);
        (test.verdict() == Verdict::EdgeShown).then(|| Self {
            at: known[last].1,
            after_trades: test.settled(),
            since: rest.map(|(.., place)| trades[*place]).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolId;
    use candlewick_sdk::{Outcome, Payout};
    use candlewick_statistics::EdgeTestPlan;

    fn trade(minute: i64, outcome: Outcome) -> JudgedTrade {
        let decided = Millis::from_seconds(60 * minute);
        JudgedTrade {
            symbol: SymbolId::FIRST,
            decided,
            answered: None,
            payout: Payout::from_percent(80.into()).ok(),
            ended: Some((Millis::from_seconds(60 * minute + 60), outcome)),
            sequence: None,
        }
    }

    #[test]
    fn the_trade_that_shows_an_edge_is_the_first_after_which_the_verdict_says_so() {
        let outcomes = [[Outcome::Won; 60], [Outcome::Lost; 60]].concat();
        let mut trades: Vec<_> =
            (0..).zip(outcomes).map(|(minute, outcome)| trade(minute, outcome)).collect();
        trades.insert(3, trade(3, Outcome::Cancelled));
        let plan = EdgeTestPlan::default();
        let found = ShownEdge::find(&trades, plan).unwrap();
        // The same by asking the verdict on ever more trades: they do not overlap.
        let verdict = |count| crate::judge_trades(&trades[..count], plan).verdict();
        let first = (1..=trades.len()).find(|count| verdict(*count) == Verdict::EdgeShown).unwrap();
        assert_eq!(found.after_trades, first as u64 - 1, "one was cancelled");
        assert_eq!(found.at, trades[first - 1].ended.unwrap().0);
        assert_eq!(found.since, trades[first..]);
    }

    #[test]
    fn what_is_ruled_out_or_undecided_was_not_shown() {
        for count in [1, 500] {
            let lost: Vec<_> = (0..count).map(|minute| trade(minute, Outcome::Lost)).collect();
            assert_eq!(ShownEdge::find(&lost, EdgeTestPlan::default()), None, "{count}");
        }
    }
}
