//! Alpha budget: one error rate that many bots and all their restarts share.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Allocation of one error rate (alpha) to the bots of a journal.
///
/// Each bot has an edge test, whose account grows with evidence of an edge. The edge is shown when the account reaches
/// `1 / (alpha x weight)` ([`EdgeTest::set_weight`](crate::EdgeTest::set_weight)). The *worth* of an account is its
/// minimum so far, capped at 1 ([`EdgeTest::edge_account_minimum`](crate::EdgeTest::edge_account_minimum)).
/// - The first run splits a weight of 1 evenly among the bots and, if there are several, the joint verdict on all bots.
/// - A bot that continues, or that returns unchanged, keeps its weight.
/// - The weight of a bot that restarts is multiplied by its account's worth.
/// - A new bot replaces the absent bot with the largest `weight x worth`, as if that bot had restarted. If no bot is
///   absent and `k` new bots join `n` bots, each of the `n` bots keeps `n / (n + k)` of its weight. The weight given
///   up, multiplied by the worth of its account, is split evenly among the new bots.
/// - The joint verdict on the trades of all bots lasts as long as no bot is new or restarts.
///
/// # Proof that at most a fraction alpha of all journals ever shows a false edge
/// *Edge shown* is false if no trade since the start of the verdict had a mean return above 0, given everything known
/// at its open. Give each start a second account that stops betting at its first trade with an edge. Let `Z` be the sum
/// of `weight x second account` over the continuing starts, with open stakes counted as lost. `Z` begins at 1. Trades
/// never increase its mean. No rule above increases `Z`, because a transfer is at most `weight x worth`, and the worth
/// is at most the second account. A start without an edge is only shown if `Z` has reached `1 / alpha` (Ville's
/// inequality), whatever the bots copy and whenever they restart.
///
/// Suppose that the worth were the *current* account. A bot could then win back losses with an edge and risk them again
/// without one, so the error rate would be unbounded. The error rate of *no edge* is per bot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlphaBudget {
    weights: BTreeMap<String, f64>,
    whole: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetedBot<'a> {
    pub name: &'a str,
    /// Whether the bot differs from the earlier bot of the same name.
    pub is_changed: bool,
}

impl AlphaBudget {
    pub fn for_first_run<'a>(bots: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = bots.into_iter().collect();
        let part = Self::first_run_share(names.len());
        let whole = if names.len() > 1 { part } else { 0.0 };
        Self { weights: names.into_iter().map(|name| (name.to_owned(), part)).collect(), whole }
    }

    /// Returns each bot's weight in a first run. With two or more bots, the joint verdict has the same weight.
    pub const fn first_run_share(bots: usize) -> f64 {
        if bots > 1 { 1.0 / (bots + 1) as f64 } else { 1.0 }
    }

    pub fn weight(&self, bot: &str) -> Option<f64> {
        self.weights.get(bot).copied()
    }

    /// Returns the weight of the joint verdict on the trades of all bots, 0 without a joint verdict.
    pub const fn joint_verdict_weight(&self) -> f64 {
        self.whole
    }

    /// Starts a run. `worth` returns the minimum that the account of a known bot's edge test has had, capped at 1.
    pub fn begin_run(&mut self, bots: &[BudgetedBot<'_>], worth: impl Fn(&str) -> f64) {
        if self.weights.is_empty() {
            *self = Self::for_first_run(bots.iter().map(|bot| bot.name));
            return;
        }
        let (mut known, mut absent) = (BTreeMap::new(), BTreeMap::new());
        for (name, weight) in &self.weights {
            let left = worth(name).clamp(0.0, 1.0);
            match bots.iter().find(|bot| bot.name == name) {
                Some(bot) if bot.is_changed => known.insert(name.clone(), (weight * left, 1.0)),
                Some(_) => known.insert(name.clone(), (*weight, left)),
                None => absent.insert(name.clone(), (*weight, weight * left)),
            };
        }
        let mut new: Vec<&str> = Vec::new();
        for bot in bots.iter().filter(|bot| !self.weights.contains_key(bot.name)) {
            match take_largest_worth(&mut absent) {
                Some(weight) => drop(known.insert(bot.name.to_owned(), (weight, 1.0))),
                None => new.push(bot.name),
            }
        }
        if bots.iter().any(|bot| bot.is_changed || !self.weights.contains_key(bot.name)) {
            self.whole = 0.0;
        }
        let (before, after) = (known.len() as f64, (known.len() + new.len()) as f64);
        let part = known.values().map(|(weight, left)| weight * left).sum::<f64>() / after;
        let kept = if new.is_empty() { 1.0 } else { before / after };
        self.weights = known.into_iter().map(|(name, (weight, _))| (name, weight * kept)).collect();
        self.weights.extend(absent.into_iter().map(|(name, (weight, _))| (name, weight)));
        self.weights.extend(new.into_iter().map(|name| (name.to_owned(), part)));
    }
}

fn take_largest_worth(absent: &mut BTreeMap<String, (f64, f64)>) -> Option<f64> {
    let mut best: Option<(&String, f64)> = None;
    for (name, (_, worth)) in &*absent {
        if best.is_none_or(|(_, most)| *worth > most) {
            best = Some((name, *worth));
        }
    }
    let name = best?.0.clone();
    absent.remove(&name).map(|(_, worth)| worth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn on(name: &str) -> BudgetedBot<'_> {
        BudgetedBot { name, is_changed: false }
    }

    const fn restarted(name: &str) -> BudgetedBot<'_> {
        BudgetedBot { name, is_changed: true }
    }

    fn check(budget: &AlphaBudget, expected: &[(&str, f64)], whole: f64) {
        assert_eq!(budget.weights.len(), expected.len(), "{budget:?}");
        for (name, weight) in expected {
            let found = budget.weight(name).unwrap();
            assert!((found - weight).abs() < 1e-15, "{name}: {found}, not {weight}");
        }
        assert_eq!(budget.joint_verdict_weight(), whole);
    }

    #[test]
    fn single_bot_has_all_alpha_and_several_share_it() {
        check(&AlphaBudget::for_first_run(["a"]), &[("a", 1.0)], 0.0);
        let three = AlphaBudget::for_first_run(["a", "b", "c"]);
        check(&three, &[("a", 0.25), ("b", 0.25), ("c", 0.25)], 0.25);
        let mut begun = AlphaBudget::default();
        begun.begin_run(&[on("a"), on("b"), on("c")], |_| 1.0);
        assert_eq!(begun, three);
    }

    #[test]
    fn restarts_inherit_losses_but_not_gains() {
        let mut budget = AlphaBudget::for_first_run(["a"]);
        budget.begin_run(&[restarted("a")], |_| 0.4);
        check(&budget, &[("a", 0.4)], 0.0);
        budget.begin_run(&[restarted("a")], |_| 15.0);
        check(&budget, &[("a", 0.4)], 0.0);
        budget.begin_run(&[on("a")], |_| 0.1);
        check(&budget, &[("a", 0.4)], 0.0);
        // A bot with a new name counts as a restart of the absent bot.
        budget.begin_run(&[on("b")], |_| 0.5);
        check(&budget, &[("b", 0.2)], 0.0);
    }

    #[test]
    fn absent_bot_keeps_its_weight_until_replaced() {
        let mut budget = AlphaBudget::for_first_run(["a", "b", "c"]);
        budget.begin_run(&[on("b")], |_| 0.5);
        check(&budget, &[("a", 0.25), ("b", 0.25), ("c", 0.25)], 0.25);
        let worth = |name: &str| if name == "c" { 3.0 } else { 0.5 };
        budget.begin_run(&[on("b"), on("d")], worth);
        check(&budget, &[("a", 0.25), ("b", 0.25), ("d", 0.25)], 0.0);
        budget.begin_run(&[on("b"), on("e")], worth);
        check(&budget, &[("b", 0.25), ("e", 0.125), ("d", 0.25)], 0.0);
    }

    #[test]
    fn additional_bots_take_a_part_of_the_others_worth() {
        let mut budget = AlphaBudget::for_first_run(["a"]);
        // The two new bots share two thirds of a weight of 1, times the worth of 0.6.
        budget.begin_run(&[on("a"), on("b"), on("c")], |_| 0.6);
        check(&budget, &[("a", 1.0 / 3.0), ("b", 0.2), ("c", 0.2)], 0.0);
    }

    /// For each name: whether it takes part in a run, whether it is changed, its account's minimum without
    /// an edge, and then its minimum and last value with an edge, if it gets one.
    type Change = [(bool, bool, f64, Option<(f64, f64)>); 5];

    fn change() -> impl Strategy<Value = Change> {
        let account = || prop_oneof![Just(0.0), 0.0..1.0, 1.0..30.0];
        let with_edge = prop::option::weighted(0.3, (account(), account()));
        prop::array::uniform5((any::<bool>(), any::<bool>(), account(), with_edge))
    }

    #[derive(Clone, Copy)]
    struct Start {
        account: f64,
        least: f64,
        /// The account that stops betting at its first trade with an edge.
        second: f64,
        has_edge: bool,
    }

    const BEGUN: Start = Start { account: 1.0, least: 1.0, second: 1.0, has_edge: false };

    impl Start {
        fn holds(&mut self, account: f64) {
            (self.account, self.least) = (account, self.least.min(account));
            if !self.has_edge {
                self.second = account;
            }
        }
    }

    proptest! {
        /// `Z` as in the proof: no run increases it, whichever trades have an edge, and a run without changes
        /// leaves it unchanged.
        #[test]
        fn no_change_of_bots_increases_the_total(changes in prop::collection::vec(change(), 1..40)) {
            let names = ["a", "b", "c", "d", "e"];
            let mut budget = AlphaBudget::default();
            let mut starts = [BEGUN; 5];
            for change in changes {
                let taking_part: Vec<usize> = (0..5).filter(|place| change[*place].0).collect();
                if taking_part.is_empty() {
                    continue;
                }
                let bots: Vec<BudgetedBot<'_>> = taking_part.iter()
                    .map(|place| BudgetedBot { name: names[*place], is_changed: change[*place].1 })
                    .collect();
                let least = |name: &str| starts[names.iter().position(|known| *known == name).unwrap()].least;
                let total = |budget: &AlphaBudget, starts: &[Start; 5]| {
                    let worth = |place: usize| budget.weight(names[place]).unwrap_or(0.0) * starts[place].second;
                    (0..5).map(worth).sum::<f64>() + budget.joint_verdict_weight()
                };
                let is_first = budget == AlphaBudget::default();
                let before = if is_first { 1.0 } else { total(&budget, &starts) };
                let mut after = budget.clone();
                after.begin_run(&bots, least);
                for place in taking_part {
                    if budget.weight(names[place]).is_none() || change[place].1 {
                        starts[place] = BEGUN;
                    }
                }
                prop_assert!(total(&after, &starts) <= before * (1.0 + 1e-12));
                budget = after.clone();
                let same: Vec<BudgetedBot<'_>> = bots.iter().map(|bot| on(bot.name)).collect();
                after.begin_run(&same, |_| 0.3);
                prop_assert_eq!(&after, &budget);
                for (start, (_, _, account, with_edge)) in starts.iter_mut().zip(change) {
                    start.holds(account);
                    if let Some((least, last)) = with_edge {
                        start.has_edge = true;
                        start.holds(least);
                        start.holds(last);
                    }
                }
            }
        }
    }
}
