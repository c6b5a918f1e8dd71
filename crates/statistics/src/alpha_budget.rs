//! One alpha for many bots and all their fresh starts.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who spends how much of one alpha: each bot of a journal has a weight, and its edge is shown when its account reaches
/// `1 / (alpha x weight)` ([`EdgeTest::set_weight`](crate::EdgeTest::set_weight)).
///
/// # The rules
/// An account's worth is the least it ever held with its open stakes lost, before a stake or at the change, and it begins with
/// 1 ([`EdgeTest::edge_account_minimum`](crate::EdgeTest::edge_account_minimum)): losses are passed on, gains are not, and losses that
/// were won back are losses.
/// - The first run shares 1 evenly: one bot has all of it. Several have equal parts, and all their trades together, which
///   are judged as well, have one more.
/// - A bot that goes on keeps its weight. So does one that is left out for some runs and comes back as it was.
/// - A bot that begins anew (with other parameters, say) has what its old account is worth of its weight.
/// - A new bot takes the place of one that is absent, as if that had begun anew: of several the one that is worth most.
///   Where nobody is absent, all `n` bots of the run give: with `k` new ones each keeps `n / (n + k)` of its weight, and
///   the worth of the rest goes to the new ones, evenly.
/// - All trades together are judged as long as no bot is new or begins anew.
///
/// # Why at most alpha of all journals show an edge that is not there
/// A trade has an edge when its mean return, given what was known at its open, is above 0: that is known at its open, and may
/// depend on all that was before. *Edge shown* is false when no trade of the start that shows it has had one.
///
/// Let each start have a second account, which makes the same bets until the first trade that has an edge is decided, and none from
/// that one on. Let `Z` be the sum of `weight x second account` over the starts that go on, open stakes lost. It begins at 1, and
/// its trades add at most 0 to its mean: it is one portfolio of bets on trades without an edge, whose stakes were known at their opens.
/// The rules above never add to it, whoever changes what and when: what is given is at most `weight x worth` of what was there, and
/// the worth is at most the second account. Before a trade with an edge that is what the account itself holds; later it is no less than
/// the account held just before the first such trade was staked on, since open stakes return 0 or more. What open trades bring back to
/// an account after part of its weight was given is given up in the same proportion, and that is never below 0 either. A start none
/// of whose trades has had an edge is shown only where `Z` has reached `1 / alpha`, since its two accounts are the same:
/// Ville's inequality. Nothing is asked of the bots among each other: they may copy one another, overlap, have an edge that comes and
/// goes, and be begun anew by somebody who looks at every trade.
///
/// Were the worth the least of 1 and what the account holds *now*, a bot could win back with an edge what it had lost without one, begin
/// anew with a full account, and try again without an edge as often as it likes: the rate would have no bound.
///
/// The rate is that of *any* false *edge shown* in all the time of a journal. It says nothing of *no edge*, whose
/// error is that of each bot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlphaBudget {
    weights: BTreeMap<String, f64>,
    whole: f64,
}

/// A bot of a run that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetedBot<'a> {
    /// Its name: bots of earlier runs are known by it.
    pub name: &'a str,
    /// Whether it is another bot than the one that had this name before.
    pub begins_anew: bool,
}

impl AlphaBudget {
    /// Of these bots, which have traded in no run before.
    pub fn of_first_run<'a>(bots: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = bots.into_iter().collect();
        let part = Self::part_of_first_run(names.len());
        let whole = if names.len() > 1 { part } else { 0.0 };
        Self { weights: names.into_iter().map(|name| (name.to_owned(), part)).collect(), whole }
    }

    /// What each of so many bots has in a first run, and of several all their trades together as well.
    pub const fn part_of_first_run(bots: usize) -> f64 {
        if bots > 1 { 1.0 / (bots + 1) as f64 } else { 1.0 }
    }

    /// What a bot may spend of alpha; nothing of one that is not known.
    pub fn weight(&self, bot: &str) -> Option<f64> {
        self.weights.get(bot).copied()
    }

    /// The same of all trades of several bots together; 0 where these are not judged.
    pub const fn whole(&self) -> f64 {
        self.whole
    }

    /// A run of these bots begins. `worth` says the least that the account of a bot that is known ever held
    /// ([`EdgeTest::edge_account_minimum`](crate::EdgeTest::edge_account_minimum)), which counts as at most 1; a bot that is new or begins
    /// anew begins with 1 again.
    pub fn begin_run(&mut self, bots: &[BudgetedBot<'_>], worth: impl Fn(&str) -> f64) {
        if self.weights.is_empty() {
            *self = Self::of_first_run(bots.iter().map(|bot| bot.name));
            return;
        }
        let (mut known, mut absent) = (BTreeMap::new(), BTreeMap::new());
        for (name, weight) in &self.weights {
            let left = worth(name).clamp(0.0, 1.0);
            match bots.iter().find(|bot| bot.name == name) {
                Some(bot) if bot.begins_anew => known.insert(name.clone(), (weight * left, 1.0)),
                Some(_) => known.insert(name.clone(), (*weight, left)),
                None => absent.insert(name.clone(), (*weight, weight * left)),
            };
        }
        let mut new: Vec<&str> = Vec::new();
        for bot in bots.iter().filter(|bot| !self.weights.contains_key(bot.name)) {
            match take_best(&mut absent) {
                Some(weight) => drop(known.insert(bot.name.to_owned(), (weight, 1.0))),
                None => new.push(bot.name),
            }
        }
        if bots.iter().any(|bot| bot.begins_anew || !self.weights.contains_key(bot.name)) {
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

/// Removes the place that is worth most, the first by name of several; what it is worth.
fn take_best(absent: &mut BTreeMap<String, (f64, f64)>) -> Option<f64> {
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
        BudgetedBot { name, begins_anew: false }
    }

    const fn anew(name: &str) -> BudgetedBot<'_> {
        BudgetedBot { name, begins_anew: true }
    }

    fn check(budget: &AlphaBudget, expected: &[(&str, f64)], whole: f64) {
        assert_eq!(budget.weights.len(), expected.len(), "{budget:?}");
        for (name, weight) in expected {
            let found = budget.weight(name).unwrap();
            assert!((found - weight).abs() < 1e-15, "{name}: {found}, not {weight}");
        }
        assert_eq!(budget.whole(), whole);
    }

    #[test]
    fn one_bot_has_all_and_several_share_with_their_trades_together() {
        check(&AlphaBudget::of_first_run(["a"]), &[("a", 1.0)], 0.0);
        let three = AlphaBudget::of_first_run(["a", "b", "c"]);
        check(&three, &[("a", 0.25), ("b", 0.25), ("c", 0.25)], 0.25);
        let mut begun = AlphaBudget::default();
        begun.begin_run(&[on("a"), on("b"), on("c")], |_| 1.0);
        assert_eq!(begun, three);
    }

    #[test]
    fn losses_are_passed_on_and_gains_are_not() {
        let mut budget = AlphaBudget::of_first_run(["a"]);
        budget.begin_run(&[anew("a")], |_| 0.4);
        check(&budget, &[("a", 0.4)], 0.0);
        budget.begin_run(&[anew("a")], |_| 15.0);
        check(&budget, &[("a", 0.4)], 0.0);
        budget.begin_run(&[on("a")], |_| 0.1);
        check(&budget, &[("a", 0.4)], 0.0);
        // Another name takes the place as if it had begun anew.
        budget.begin_run(&[on("b")], |_| 0.5);
        check(&budget, &[("b", 0.2)], 0.0);
    }

    #[test]
    fn a_bot_that_is_absent_keeps_its_place_until_somebody_takes_it() {
        let mut budget = AlphaBudget::of_first_run(["a", "b", "c"]);
        budget.begin_run(&[on("b")], |_| 0.5);
        check(&budget, &[("a", 0.25), ("b", 0.25), ("c", 0.25)], 0.25);
        let worth = |name: &str| if name == "c" { 3.0 } else { 0.5 };
        budget.begin_run(&[on("b"), on("d")], worth);
        check(&budget, &[("a", 0.25), ("b", 0.25), ("d", 0.25)], 0.0);
        budget.begin_run(&[on("b"), on("e")], worth);
        check(&budget, &[("b", 0.25), ("e", 0.125), ("d", 0.25)], 0.0);
    }

    #[test]
    fn bots_that_come_on_top_take_a_part_of_what_the_others_are_worth() {
        let mut budget = AlphaBudget::of_first_run(["a"]);
        // Two thirds of a place worth 0.6 go to two new ones.
        budget.begin_run(&[on("a"), on("b"), on("c")], |_| 0.6);
        check(&budget, &[("a", 1.0 / 3.0), ("b", 0.2), ("c", 0.2)], 0.0);
    }

    /// Of each name whether it takes part in a run, and as another bot; what its account holds in the end without an edge, and
    /// after trades with an edge if there are some: the least and the last.
    type Change = [(bool, bool, f64, Option<(f64, f64)>); 5];

    fn change() -> impl Strategy<Value = Change> {
        let account = || prop_oneof![Just(0.0), 0.0..1.0, 1.0..30.0];
        let with_edge = prop::option::weighted(0.3, (account(), account()));
        prop::array::uniform5((any::<bool>(), any::<bool>(), account(), with_edge))
    }

    /// A start as the proof has it.
    #[derive(Clone, Copy)]
    struct Start {
        account: f64,
        least: f64,
        /// Which makes no bet from the first trade that has an edge on.
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
        /// `Z` as the proof has it: no run adds to it, whichever trades have an edge, and none of a run that changes nothing
        /// changes anything.
        #[test]
        fn no_change_of_bots_adds_to_what_trades_without_an_edge_can_win(changes in prop::collection::vec(change(), 1..40)) {
            let names = ["a", "b", "c", "d", "e"];
            let mut budget = AlphaBudget::default();
            let mut starts = [BEGUN; 5];
            for change in changes {
                let taking_part: Vec<usize> = (0..5).filter(|place| change[*place].0).collect();
                if taking_part.is_empty() {
                    continue;
                }
                let bots: Vec<BudgetedBot<'_>> = taking_part.iter()
                    .map(|place| BudgetedBot { name: names[*place], begins_anew: change[*place].1 })
                    .collect();
                let least = |name: &str| starts[names.iter().position(|known| *known == name).unwrap()].least;
                let total = |budget: &AlphaBudget, starts: &[Start; 5]| {
                    let worth = |place: usize| budget.weight(names[place]).unwrap_or(0.0) * starts[place].second;
                    (0..5).map(worth).sum::<f64>() + budget.whole()
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
