//! One window: the search of its training, the test of the best set, and the sets beside it.

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

/// A walk over a course.
pub struct WalkForward<'a> {
    /// Candles, bot and venue.
    pub course: Course<'a>,
    /// How each training is searched.
    pub sweep: &'a SweepSettings,
    /// How many trials run side by side; the result does not depend on it.
    pub threads: NonZeroUsize,
}

/// What became of a window.
pub struct WindowResult {
    /// Where it lies.
    pub window: Window,
    /// The sets that were tried on its training.
    pub rows: Vec<TrialRow>,
    /// How many of them the objective and the least number of trades let count.
    pub counting: usize,
    /// The best of them; `None` when none counts, and nothing is traded on the test.
    pub chosen: Option<Chosen>,
}

/// A set that was the best on a training.
pub struct Chosen {
    /// Its parameters, in the order of the axes.
    pub candidate: Candidate,
    /// What it was chosen for.
    pub score: f64,
    /// What it came to on the training.
    pub in_sample: Figures,
    /// What the sets beside it came to there.
    pub robustness: Robustness,
    /// What it came to on the test.
    pub out_of_sample: Figures,
    /// The run over the test.
    pub finished: Finished,
}

/// How the search and test of a window ended.
pub enum WindowEnd {
    /// Here is what came of it.
    Done(Box<WindowResult>),
    /// It was stopped; the journal knows what ran.
    Stopped,
}

impl Chosen {
    /// What of the expectancy is left out of sample, as a part of that in the sample; nothing where there was
    /// none to lose.
    pub fn efficiency(&self) -> Option<f64> {
        let in_sample = self.in_sample.expectancy.filter(|expectancy| *expectancy > 0.0)?;
        Some(self.out_of_sample.expectancy? / in_sample)
    }
}

impl WalkForward<'_> {
    /// Searches a window's training, all trials but those that `known` says have run, and tests the best set. `watcher` is
    /// called after each trial.
    ///
    /// # Errors
    /// As [`Sweep::run`].
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

    /// Runs one part of a window's training, all trials but those that `known` says have run. The records of all parts, as
    /// what is known to [`step`](Self::step), make it give what it gives without parts. A search that learns is one part.
    ///
    /// # Errors
    /// As [`Sweep::run_shard`].
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

    /// Whether the bot has a candle in a window's training: where it has none, nothing is tried.
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

    /// Runs the sets beside the best one over its training, unless the search did.
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

/// The tests of all windows as one run that began with `balance`: their trades in the order of time. Each window traded
/// with that balance and limits of its own, so that no bot has a verdict over all; nothing when no window chose a set.
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
