//! Matching of the trades of two runs by decision.

use crate::page::RecalledTrade;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Decisions of two runs, matched by bot and time. The bots of two single-bot runs match under any
/// name.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Matching {
    pub(super) same: u64,
    pub(super) only_a: Vec<RecalledTrade>,
    pub(super) only_b: Vec<RecalledTrade>,
    pub(super) other_outcome: Vec<Pair>,
}

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Pair {
    pub(super) a: RecalledTrade,
    pub(super) b: RecalledTrade,
}

impl Matching {
    pub(super) fn of(a: &[RecalledTrade], b: &[RecalledTrade]) -> Self {
        let bots =
            |trades: &[RecalledTrade]| trades.iter().map(|trade| trade.bot.clone()).collect::<BTreeSet<_>>();
        let are_named = bots(a).len() > 1 || bots(b).len() > 1;
        let key = |trade: &RecalledTrade| {
            let bot = if are_named { trade.bot.clone() } else { String::new() };
            (trade.decision_time, bot)
        };
        let mut rest: BTreeMap<_, Vec<&RecalledTrade>> = BTreeMap::new();
        // Of several at one moment the first comes out first.
        for trade in b.iter().rev() {
            rest.entry(key(trade)).or_default().push(trade);
        }
        let mut found = Self::default();
        for trade in a {
            match rest.get_mut(&key(trade)).and_then(Vec::pop) {
                None => found.only_a.push(trade.clone()),
                Some(other) if trade.direction == other.direction && trade.result == other.result => {
                    found.same += 1;
                }
                Some(other) => found.other_outcome.push(Pair { a: trade.clone(), b: other.clone() }),
            }
        }
        found.only_b = rest.into_values().flat_map(|left| left.into_iter().rev()).cloned().collect();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Millis;

    fn trade((bot, at, direction, result): (&str, i64, &'static str, &str)) -> RecalledTrade {
        RecalledTrade {
            bot: bot.to_owned(),
            direction,
            amount: 1.0,
            decision_time: Millis::new(at),
            open_time: None,
            open_price: None,
            close_time: None,
            close_price: None,
            result: Some(result.to_owned()),
            pnl: None,
        }
    }

    type Row = (&'static str, i64, &'static str, &'static str);

    /// Same, only in A, only in B, another outcome.
    fn check(a: &[Row], b: &[Row], expected: [usize; 4]) {
        let [first, second] = [a, b].map(|rows| rows.iter().copied().map(trade).collect::<Vec<_>>());
        let found = Matching::of(&first, &second);
        let same = usize::try_from(found.same).unwrap();
        assert_eq!([same, found.only_a.len(), found.only_b.len(), found.other_outcome.len()], expected);
    }

    #[test]
    fn decisions_are_matched_by_bot_and_moment() {
        let a = [
            ("x", 1, "BUY", "WON"),
            ("x", 2, "BUY", "LOST"),
            ("y", 2, "SELL", "WON"),
            ("x", 3, "BUY", "WON"),
        ];
        check(&a, &a, [4, 0, 0, 0]);
        check(&a, &[], [0, 4, 0, 0]);
        check(&[], &a, [0, 0, 4, 0]);
        let b = [
            ("x", 1, "BUY", "LOST"),
            ("x", 2, "SELL", "LOST"),
            ("y", 2, "SELL", "WON"),
            ("y", 3, "BUY", "WON"),
        ];
        check(&a, &b, [1, 1, 1, 2]);
        // Two at one moment are matched in their order.
        let twice = [("x", 1, "BUY", "WON"), ("x", 1, "SELL", "LOST")];
        check(&twice, &twice, [2, 0, 0, 0]);
        check(&twice, &twice[..1], [1, 1, 0, 0]);
    }

    #[test]
    fn single_bots_are_compared_whatever_they_are_called() {
        check(&[("old", 1, "BUY", "WON")], &[("new", 1, "BUY", "WON")], [1, 0, 0, 0]);
        let two = [("new", 1, "BUY", "WON"), ("other", 2, "BUY", "WON")];
        check(&[("old", 1, "BUY", "WON")], &two, [0, 1, 2, 0]);
    }
}
