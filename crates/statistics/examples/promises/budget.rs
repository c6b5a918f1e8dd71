//! False positive rates of many bots that share one alpha, with and without restarts of bots.

use crate::measured::{Bound, Measured, Scale, settled};
use crate::verdict::MIXED;
use candlewick_statistics::{
    AlphaBudget, BudgetedBot, EdgeTest, EdgeTestPlan, StatisticsError, StreamDependence, TradeOutcome,
    TradeStream,
};

/// Restart policy of an operator who sees every account after every trade.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Restarts {
    Never,
    /// Bots with an account below 0.8, in an attempt to erase their losses.
    Behind,
    /// Bots that fell below 0.8 and then traded with an edge back to 1, to try to recover their losses.
    WonBack,
    /// Bots with an account above 1.5, in an attempt to keep their gains.
    Ahead,
    /// Bots below 0.8 are renamed, and every hundredth trade adds a bot, up to two.
    Renamed,
}

/// Share of journals that show any edge although all bots win at break-even: with one shared alpha, and
/// with a full alpha for each bot.
pub(crate) fn errors(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let alpha = scale.plan.alpha();
    let mut errors = Vec::new();
    for (bots, restarts, name) in [
        (20, Restarts::Never, "20 bots"),
        (50, Restarts::Never, "50 bots"),
        (1, Restarts::Behind, "1 bot, restarted when it is behind"),
        (1, Restarts::Ahead, "1 bot, restarted when it is ahead"),
        (3, Restarts::Behind, "3 bots, restarted when they are behind"),
        (3, Restarts::Ahead, "3 bots, restarted when they are ahead"),
        (1, Restarts::WonBack, "1 bot, restarted after a temporary edge recovered its losses"),
        (3, Restarts::WonBack, "3 bots, restarted after a temporary edge recovered their losses"),
        (3, Restarts::Renamed, "3 bots, replaced when they are behind, and joined by two"),
    ] {
        for (is_shared, how) in [(true, "one alpha"), (false, "alpha for each")] {
            let bound = if is_shared { Bound::AtMost } else { Bound::Unpromised };
            let promise = format!("any edge shown in a journal of {name}, {how}");
            let trials = scale.trials / bots.min(10);
            errors.push(Measured::share((promise, bound, alpha), trials.max(20), |journal| {
                Journal::new(scale.plan, bots as usize, is_shared).shows(journal, restarts, scale.trades)
            })?);
        }
    }
    Ok(errors)
}

struct Journal {
    plan: EdgeTestPlan,
    budget: AlphaBudget,
    is_shared: bool,
    names: Vec<String>,
    tests: Vec<EdgeTest>,
    /// Whether the bot currently has an edge: if so, all its trades win and *edge shown* is not false.
    has_edge: Vec<bool>,
    next_name: usize,
}

impl Journal {
    fn new(plan: EdgeTestPlan, bots: usize, is_shared: bool) -> Self {
        let names: Vec<String> = (0..bots).map(|bot| bot.to_string()).collect();
        let budget = AlphaBudget::for_first_run(names.iter().map(String::as_str));
        let tests = vec![EdgeTest::new(plan); bots];
        let has_edge = vec![false; bots];
        let mut journal = Self { plan, budget, is_shared, names, tests, has_edge, next_name: bots };
        journal.set_weights();
        journal
    }

    fn set_weights(&mut self) {
        for (name, test) in self.names.iter().zip(&mut self.tests) {
            let weight = self.budget.weight(name).unwrap_or_default();
            test.set_weight(if self.is_shared { weight } else { 1.0 });
        }
    }

    /// Returns whether any bot is shown to have an edge within `trades` trades of each bot.
    fn shows(mut self, journal: u64, restarts: Restarts, trades: u64) -> Result<bool, StatisticsError> {
        let stream = TradeStream::new(StreamDependence::Independent, &MIXED, 0.0, 0.02)?;
        let most = self.tests.len() + if restarts == Restarts::Renamed { 2 } else { 0 };
        let course = |bot| settled(&stream, journal * 64 + bot, trades).into_iter();
        let mut courses: Vec<_> = (0..most as u64).map(course).collect();
        for trade in 1..=trades {
            for (bot, course) in courses.iter_mut().enumerate().take(self.tests.len()) {
                let Some((outcome, payout_fraction)) = course.next() else { continue };
                let (test, has_edge) = (&mut self.tests[bot], &mut self.has_edge[bot]);
                let outcome = if *has_edge { TradeOutcome::Won } else { outcome };
                let stake = test.on_open(payout_fraction)?;
                test.settle(stake, outcome, payout_fraction);
                if test.edge_account() >= test.goal() && !*has_edge {
                    return Ok(true);
                }
                *has_edge |= restarts == Restarts::WonBack && test.edge_account() < 0.8;
            }
            self.restart(restarts, trade, most);
        }
        Ok(false)
    }

    fn restart(&mut self, restarts: Restarts, trade: u64, most: usize) {
        let is_chosen = |(test, has_edge): (&EdgeTest, &bool)| match restarts {
            Restarts::Never => false,
            Restarts::Behind | Restarts::Renamed => test.edge_account() < 0.8,
            Restarts::WonBack => *has_edge && test.edge_account() >= 1.0,
            Restarts::Ahead => test.edge_account() > 1.5,
        };
        let comes = restarts == Restarts::Renamed && trade.is_multiple_of(100) && self.tests.len() < most;
        let chosen: Vec<bool> = self.tests.iter().zip(&self.has_edge).map(is_chosen).collect();
        if !comes && !chosen.contains(&true) {
            return;
        }
        let worth = self.tests.iter().map(EdgeTest::edge_account_minimum);
        let worth: Vec<(String, f64)> = self.names.iter().cloned().zip(worth).collect();
        if restarts == Restarts::Renamed {
            for (name, _) in self.names.iter_mut().zip(&chosen).filter(|(_, is)| **is) {
                *name = self.next_name.to_string();
                self.next_name += 1;
            }
        }
        if comes {
            self.names.push(self.next_name.to_string());
            self.next_name += 1;
        }
        let is_restarted = |place: usize| chosen.get(place).copied().unwrap_or(true);
        let bots: Vec<BudgetedBot<'_>> = (self.names.iter().enumerate())
            .map(|(place, name)| BudgetedBot { name, is_changed: is_restarted(place) })
            .collect();
        self.budget.begin_run(&bots, |name| {
            worth.iter().find(|(known, _)| known == name).map_or(1.0, |(_, worth)| *worth)
        });
        self.tests.resize(self.names.len(), EdgeTest::new(self.plan));
        self.has_edge.resize(self.names.len(), false);
        for place in (0..self.names.len()).filter(|place| is_restarted(*place)) {
            (self.tests[place], self.has_edge[place]) = (EdgeTest::new(self.plan), false);
        }
        self.set_weights();
    }
}
