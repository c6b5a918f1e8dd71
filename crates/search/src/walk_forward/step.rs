//! One walk-forward window: training search, test of the best set, and its neighbours.

use super::{Course, Robustness, Window};
use crate::SearchError;
use crate::sweep::{
    Candidate, DeclarationUse, Figures, Outcome, Record, Replay, Shard, SharedRunner, Sweep, SweepEnd,
    SweepSettings, TrialEnd, TrialJournal, TrialRow, TrialRunner, Watcher, ranked,
};
use candlewick_backtest::Finished;
use candlewick_engine::TradeBook;
use candlewick_sdk::{Millis, Money};
use std::num::NonZeroUsize;

pub struct WalkForward<'a> {
    pub course: Course<'a>,
    pub sweep: &'a SweepSettings,
    pub threads: NonZeroUsize,
}

pub struct WindowResult {
    pub window: Window,
    pub rows: Vec<TrialRow>,
    pub counting: usize,
    /// Best set, `None` if no set has a score; the test is then not traded.
    pub chosen: Option<Chosen>,
}

pub struct Chosen {
    pub candidate: Candidate,
    pub score: f64,
    pub in_sample: Figures,
    pub robustness: Robustness,
    pub out_of_sample: Figures,
    pub finished: Finished,
}

pub enum WindowEnd {
    Done(Box<WindowResult>),
    Stopped,
}

impl Chosen {
    /// Returns out-of-sample divided by in-sample expectancy, `None` if the latter is not positive.
    pub fn efficiency(&self) -> Option<f64> {
        let in_sample = self.in_sample.expectancy.filter(|expectancy| *expectancy > 0.0)?;
        Some(self.out_of_sample.expectancy? / in_sample)
    }
}

impl WalkForward<'_> {
    pub fn step(
        &self,
        window: &Window,
        journal: &mut TrialJournal,
        known: Vec<Record>,
        watcher: &mut Watcher<'_>,
    ) -> Result<WindowEnd, SearchError> {
        let Course { balance, .. } = self.course;
        let nothing = || WindowResult { window: window.clone(), rows: Vec::new(), counting: 0, chosen: None };
        let Some((candles, markets)) = self.course.training(&window.training) else {
            return Ok(WindowEnd::Done(Box::new(nothing())));
        };
        let replay = Replay { candles: &candles, markets: &markets, ..self.course.whole };
        let runner = SharedRunner::new(replay, DeclarationUse::Trusted);
        let SweepEnd::Done(rows) = self.search(&runner).run(journal, known, watcher)? else {
            return Ok(WindowEnd::Stopped);
        };
        let best = ranked(&rows).into_iter().next().filter(|row| row.score.is_some());
        // What a strategy declares is believed while it is searched; of what is chosen, it is not.
        if let Some(best) = best {
            runner.check(&best.candidate, balance)?;
        }
        let chosen = best.map(|best| self.test(best, &rows, &runner, window)).transpose()?.flatten();
        Ok(WindowEnd::Done(Box::new(WindowResult {
            counting: rows.iter().filter(|row| row.score.is_some()).count(),
            rows,
            chosen,
            ..nothing()
        })))
    }

    /// Runs one shard of a window's training, except for trials in `known`.
    ///
    /// [`step`](Self::step) with the records of all shards gives the same result as without shards.
    /// A search that learns cannot be split.
    pub fn search_part(
        &self,
        (window, shard): (&Window, Shard),
        (journal, known): (&mut TrialJournal, Vec<Record>),
        watcher: &mut Watcher<'_>,
    ) -> Result<SweepEnd, SearchError> {
        let Some((candles, markets)) = self.course.training(&window.training) else {
            return Ok(SweepEnd::Done(Vec::new()));
        };
        let replay = Replay { candles: &candles, markets: &markets, ..self.course.whole };
        let runner = SharedRunner::new(replay, DeclarationUse::Trusted);
        let sweep = self.search(&runner);
        if self.sweep.search.search.learns() {
            return sweep.run(journal, known, watcher);
        }
        sweep.run_shard(shard, (journal, known), watcher)
    }

    pub fn has_candles(&self, window: &Window) -> bool {
        self.course.training(&window.training).is_some()
    }

    fn search<'b>(&'b self, runner: &'b SharedRunner<'_>) -> Sweep<'b> {
        Sweep {
            space: self.course.whole.space,
            settings: self.sweep,
            runner,
            balance: self.course.balance,
            threads: self.threads,
        }
    }

    fn test(
        &self,
        best: &TrialRow,
        rows: &[TrialRow],
        runner: &dyn TrialRunner,
        window: &Window,
    ) -> Result<Option<Chosen>, SearchError> {
        let (Some(score), Some(in_sample)) = (best.score, best.figures()) else { return Ok(None) };
        let finished = self.course.examine(&best.candidate, &window.test)?;
        Ok(Some(Chosen {
            candidate: best.candidate.clone(),
            score,
            in_sample: in_sample.clone(),
            robustness: self.robustness(best, score, rows, runner)?,
            out_of_sample: Figures::of(&finished, self.course.balance, &window.test),
            finished,
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
        for candidate in self.course.whole.space.beside(&best.candidate) {
            let ran = |row: &&TrialRow| row.rung == best.rung && row.candidate == candidate;
            let figures = match rows.iter().find(ran).map(|row| &row.outcome) {
                Some(Outcome::Figures(figures)) => Some((**figures).clone()),
                Some(Outcome::Refused(_)) => None,
                None => self.figures_of(&candidate, runner)?,
            };
            let score = figures.as_ref().and_then(|figures| objective.score(figures, min_trades));
            neighbours.push((figures, score));
        }
        Ok(Robustness::of(score, &neighbours))
    }

    fn figures_of(
        &self,
        candidate: &Candidate,
        runner: &dyn TrialRunner,
    ) -> Result<Option<Figures>, SearchError> {
        Ok(match runner.run(candidate, Millis::MAX)? {
            TrialEnd::Ran(finished) => Some(Figures::of(&finished, self.course.balance, &runner.span())),
            TrialEnd::Refused(_) => None,
        })
    }
}

/// Joins the tests of all windows into one run that starts with `balance`.
///
/// Trades are in order of time. Each window traded with its own balance and limits, so bots have no
/// overall verdict. `None` if no window chose a set.
pub fn joined<'a>(steps: impl IntoIterator<Item = &'a WindowResult>, balance: Money) -> Option<Finished> {
    let mut all: Option<Finished> = None;
    for chosen in steps.into_iter().filter_map(|step| step.chosen.as_ref()) {
        let one = &chosen.finished;
        let all = all.get_or_insert_with(|| Finished {
            book: TradeBook::default(),
            candles: 0,
            final_balance: balance,
            unsettled_stakes: Money::ZERO,
            longer_not_built: 0,
            longer_staleness: Vec::new(),
            money_scale: one.money_scale,
            verdicts: Vec::new(),
            stopped_by: Vec::new(),
        });
        all.book.append(&one.book);
        all.candles += one.candles;
        all.final_balance += one.final_balance - balance;
        all.unsettled_stakes += one.unsettled_stakes;
        all.longer_not_built += one.longer_not_built;
    }
    all
}
