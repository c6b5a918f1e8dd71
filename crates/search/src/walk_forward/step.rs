//! One walk-forward window: search in the training range, test of the best set, and runs of its neighbours.

use super::course::empty_result;
use super::{WalkForwardData, Window};
use crate::SearchError;
use crate::sweep::{
    Candidate, DeclarationMode, Figures, Record, Replayer, Shard, SharedRunner, Sweep, SweepEnd,
    SweepSettings, SweepWatcher, TrialEnd, TrialJournal, TrialResult, TrialRow, TrialRunner, rank_rows,
};
use candlewick_backtest::BacktestResult;
use candlewick_sdk::{Millis, Money};
use serde::Serialize;
use std::num::NonZeroUsize;

pub struct WalkForward<'a> {
    pub data: WalkForwardData<'a>,
    pub sweep: &'a SweepSettings,
    pub threads: NonZeroUsize,
}

pub struct WindowResult {
    pub window: Window,
    pub rows: Vec<TrialRow>,
    pub scored_sets: usize,
    /// Best set of the training search; `None` if no set has a score. Without a best set, the test has no trades.
    pub chosen: Option<ChosenSet>,
}

pub struct ChosenSet {
    pub candidate: Candidate,
    pub score: f64,
    pub in_sample: Figures,
    pub robustness: Robustness,
    pub out_of_sample: Figures,
    pub test_result: BacktestResult,
}

pub enum WindowOutcome {
    Done(Box<WindowResult>),
    Stopped,
}

impl ChosenSet {
    /// Returns the out-of-sample expectancy divided by the in-sample expectancy, `None` unless the latter is positive.
    pub fn efficiency(&self) -> Option<f64> {
        let in_sample = self.in_sample.expectancy.filter(|expectancy| *expectancy > 0.0)?;
        Some(self.out_of_sample.expectancy? / in_sample)
    }
}

impl WalkForward<'_> {
    pub fn run_window(
        &self,
        window: &Window,
        journal: &mut TrialJournal,
        known: Vec<Record>,
        watcher: &mut SweepWatcher<'_>,
    ) -> Result<WindowOutcome, SearchError> {
        let WalkForwardData { balance, .. } = self.data;
        let nothing =
            || WindowResult { window: window.clone(), rows: Vec::new(), scored_sets: 0, chosen: None };
        let Some((candles, markets)) = self.data.training_data(&window.training) else {
            return Ok(WindowOutcome::Done(Box::new(nothing())));
        };
        let replay = Replayer { candles: &candles, markets: &markets, ..self.data.replay };
        let runner = SharedRunner::new(replay, DeclarationMode::Trusted);
        let SweepEnd::Done(rows) = self.training_sweep(&runner).run(journal, known, watcher)? else {
            return Ok(WindowOutcome::Stopped);
        };
        let best = rank_rows(&rows).into_iter().next().filter(|row| row.score.is_some());
        // The declaration is trusted during the search, but checked for the chosen set.
        if let Some(best) = best {
            runner.verify_declaration(&best.candidate, balance)?;
        }
        let chosen = best.map(|best| self.test_best_set(best, &rows, &runner, window)).transpose()?.flatten();
        Ok(WindowOutcome::Done(Box::new(WindowResult {
            scored_sets: rows.iter().filter(|row| row.score.is_some()).count(),
            rows,
            chosen,
            ..nothing()
        })))
    }

    /// Runs one shard of a window's training search. Trials in `known` are not run again.
    /// Passing the records of all shards to [`run_window`](Self::run_window) gives the same result as without shards.
    pub fn run_training_shard(
        &self,
        (window, shard): (&Window, Shard),
        (journal, known): (&mut TrialJournal, Vec<Record>),
        watcher: &mut SweepWatcher<'_>,
    ) -> Result<SweepEnd, SearchError> {
        let Some((candles, markets)) = self.data.training_data(&window.training) else {
            return Ok(SweepEnd::Done(Vec::new()));
        };
        let replay = Replayer { candles: &candles, markets: &markets, ..self.data.replay };
        let runner = SharedRunner::new(replay, DeclarationMode::Trusted);
        let sweep = self.training_sweep(&runner);
        if self.sweep.search.search.is_adaptive() {
            return sweep.run(journal, known, watcher);
        }
        sweep.run_shard(shard, (journal, known), watcher)
    }

    pub fn has_candles(&self, window: &Window) -> bool {
        self.data.training_data(&window.training).is_some()
    }

    fn training_sweep<'b>(&'b self, runner: &'b SharedRunner<'_>) -> Sweep<'b> {
        Sweep {
            space: self.data.replay.space,
            settings: self.sweep,
            runner,
            balance: self.data.balance,
            threads: self.threads,
        }
    }

    fn test_best_set(
        &self,
        best: &TrialRow,
        rows: &[TrialRow],
        runner: &dyn TrialRunner,
        window: &Window,
    ) -> Result<Option<ChosenSet>, SearchError> {
        let (Some(score), Some(in_sample)) = (best.score, best.figures()) else { return Ok(None) };
        let finished = self.data.run_test(&best.candidate, &window.test)?;
        Ok(Some(ChosenSet {
            candidate: best.candidate.clone(),
            score,
            in_sample: in_sample.clone(),
            robustness: self.robustness(best, score, rows, runner)?,
            out_of_sample: Figures::new(&finished, self.data.balance, &window.test),
            test_result: finished,
        }))
    }

    fn robustness(
        &self,
        best: &TrialRow,
        score: f64,
        rows: &[TrialRow],
        runner: &dyn TrialRunner,
    ) -> Result<Robustness, SearchError> {
        let SweepSettings { objective, min_trades, .. } = *self.sweep;
        let mut neighbours = Vec::new();
        for candidate in self.data.replay.space.neighbours(&best.candidate) {
            let ran = |row: &&TrialRow| row.rung == best.rung && row.candidate == candidate;
            let figures = match rows.iter().find(ran).map(|row| &row.outcome) {
                Some(TrialEnd::Figures(figures)) => Some((**figures).clone()),
                Some(TrialEnd::Refused(_)) => None,
                None => self.candidate_figures(&candidate, runner)?,
            };
            let score = figures.as_ref().and_then(|figures| objective.score(figures, min_trades));
            neighbours.push((figures, score));
        }
        Ok(Robustness::from_neighbours(score, &neighbours))
    }

    fn candidate_figures(
        &self,
        candidate: &Candidate,
        runner: &dyn TrialRunner,
    ) -> Result<Option<Figures>, SearchError> {
        Ok(match runner.run(candidate, Millis::MAX)? {
            TrialResult::Ran(finished) => Some(Figures::new(&finished, self.data.balance, &runner.span())),
            TrialResult::Refused(_) => None,
        })
    }
}

/// Joins the tests of all windows into one run that starts with `balance`; `None` if no window chose a set.
/// The joined run has no verdicts on bots, because each window has its own balance and limits.
pub fn join_tests<'a>(
    steps: impl IntoIterator<Item = &'a WindowResult>,
    balance: Money,
) -> Option<BacktestResult> {
    let mut all: Option<BacktestResult> = None;
    for chosen in steps.into_iter().filter_map(|step| step.chosen.as_ref()) {
        let one = &chosen.test_result;
        let all = all.get_or_insert_with(|| empty_result(balance, one.money_scale));
        all.book.append(&one.book);
        all.candles += one.candles;
        all.final_balance += one.final_balance - balance;
        all.unsettled_stakes += one.unsettled_stakes;
        all.unbuilt_longer_candles += one.unbuilt_longer_candles;
    }
    all
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Robustness {
    pub neighbours: u64,
    pub beat_break_even: u64,
    pub mean_fall: Option<f64>,
    pub worst_fall: Option<f64>,
}

impl Robustness {
    pub(super) fn from_neighbours(score: f64, neighbours: &[(Option<Figures>, Option<f64>)]) -> Self {
        let beats = |figures: &Figures| match (figures.win_rate, figures.break_even) {
            (Some(rate), Some(needed)) => rate > needed,
            _ => false,
        };
        let falls: Vec<f64> = neighbours.iter().filter_map(|(_, other)| Some(score - (*other)?)).collect();
        Self {
            neighbours: neighbours.len() as u64,
            beat_break_even: neighbours
                .iter()
                .filter(|(figures, _)| figures.as_ref().is_some_and(beats))
                .count() as u64,
            mean_fall: (!falls.is_empty()).then(|| falls.iter().sum::<f64>() / falls.len() as f64),
            worst_fall: falls.into_iter().reduce(f64::max),
        }
    }

    #[must_use]
    pub fn pool<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut pooled = Self::default();
        let (mut sum, mut count) = (0.0, 0_u32);
        for one in all {
            pooled.neighbours += one.neighbours;
            pooled.beat_break_even += one.beat_break_even;
            if let Some(fall) = one.mean_fall {
                sum += fall;
                count += 1;
            }
            pooled.worst_fall = pooled.worst_fall.into_iter().chain(one.worst_fall).reduce(f64::max);
        }
        pooled.mean_fall = (count > 0).then(|| sum / f64::from(count));
        pooled
    }

    pub fn share_above_break_even(&self) -> Option<f64> {
        (self.neighbours > 0).then(|| self.beat_break_even as f64 / self.neighbours as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::figures;
    use serde_json::json;

    fn robustness(neighbours: &[(Option<f64>, Option<f64>)]) -> Robustness {
        let figures = |rate: Option<f64>| figures(json!({ "win_rate": rate, "break_even": 0.55 }));
        let all: Vec<_> = neighbours.iter().map(|(rate, score)| (Some(figures(*rate)), *score)).collect();
        Robustness::from_neighbours(0.5, &all)
    }

    #[test]
    fn counts_sets_above_break_even_and_the_drop_of_the_objective() {
        let found = robustness(&[
            (Some(0.60), Some(0.25)),
            (Some(0.55), Some(0.50)),
            (Some(0.54), Some(-0.50)),
            (None, None),
        ]);
        // The scores fall by 0.25, 0 and 1.
        let expected = Robustness {
            neighbours: 4,
            beat_break_even: 1,
            mean_fall: Some(1.25 / 3.0),
            worst_fall: Some(1.0),
        };
        assert_eq!((found, found.share_above_break_even()), (expected, Some(0.25)));
        assert_eq!(
            (robustness(&[]), robustness(&[]).share_above_break_even()),
            (Robustness::default(), None)
        );
        // The parameters were rejected.
        assert_eq!(Robustness::from_neighbours(0.5, &[(None, None)]).beat_break_even, 0);
    }

    #[test]
    fn weighs_all_choices_equally() {
        let (one, two) = (robustness(&[(Some(0.6), Some(0.25))]), robustness(&[(Some(0.5), Some(0.0))]));
        let expected =
            Robustness { neighbours: 2, beat_break_even: 1, mean_fall: Some(0.375), worst_fall: Some(0.5) };
        assert_eq!(Robustness::pool([&one, &two, &Robustness::default()]), expected);
    }
}
