//! Runs the trials of a sweep in parallel. The result does not depend on the order of completion.

use super::search::{no_set_error, plan_sets};
use super::trial_row::{ProgressTracker, SweepWatcher, lock};
use super::{
    Candidate, Halving, Objective, Record, Round, Rounds, SearchSettings, Shard, Space, TrialEnd,
    TrialJournal, TrialRow, TrialRunner, rank_rows,
};
use crate::SearchError;
use crate::error::build_thread_pool;
use candlewick_sdk::Money;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepSettings {
    pub search: SearchSettings,
    pub objective: Objective,
    pub min_trades: u64,
    pub halving: Halving,
}

pub struct Sweep<'a> {
    pub space: &'a Space,
    pub settings: &'a SweepSettings,
    pub runner: &'a dyn TrialRunner,
    pub balance: Money,
    pub threads: NonZeroUsize,
}

#[derive(Debug)]
pub enum SweepEnd {
    Done(Vec<TrialRow>),
    Stopped(Vec<TrialRow>),
}

pub(super) struct TrialJob {
    pub(super) trial: u64,
    pub(super) rung: u32,
    pub(super) candidate: Candidate,
}

struct JobResults {
    rows: Vec<TrialRow>,
    is_complete: bool,
}

type JobRunner<'a> = dyn FnMut(Vec<TrialJob>) -> Result<JobResults, SearchError> + 'a;

type SweepProcedure<'a> =
    dyn Fn(&mut JobRunner<'_>, &Mutex<ProgressTracker<'_, '_>>) -> Result<SweepEnd, SearchError> + 'a;

impl Sweep<'_> {
    pub fn run(
        &self,
        journal: &mut TrialJournal,
        known: Vec<Record>,
        watcher: &mut SweepWatcher<'_>,
    ) -> Result<SweepEnd, SearchError> {
        let learns = self.settings.search.search.is_adaptive();
        let procedure: &SweepProcedure<'_> = if learns {
            &|run, tracker| self.run_adaptive(run, tracker)
        } else {
            &|run, tracker| self.run_rungs(run, tracker)
        };
        self.run_procedure(procedure, (journal, known), watcher)
    }

    /// Runs one shard and returns the rows of all its trials. Trials in `known` are not run again.
    ///
    /// With halving, only the first rung is run, because the sets that advance depend on all shards.
    /// Calling [`run`](Self::run) with the records of all shards as `known` gives the same result as an unsharded
    /// sweep. An adaptive search cannot be sharded this way; use [`Rounds`].
    pub fn run_shard(
        &self,
        shard: Shard,
        (journal, known): (&mut TrialJournal, Vec<Record>),
        watcher: &mut SweepWatcher<'_>,
    ) -> Result<SweepEnd, SearchError> {
        let jobs = || {
            let mut jobs = self.first_rung_jobs()?;
            let own = shard.trials(jobs.len() as u64);
            jobs.retain(|job| own.contains(&job.trial));
            Ok(jobs)
        };
        self.run_selected_jobs(&jobs, (journal, known), watcher)
    }

    pub fn run_round(
        &self,
        (round, shard): (&Round, Shard),
        (journal, known): (&mut TrialJournal, Vec<Record>),
        watcher: &mut SweepWatcher<'_>,
    ) -> Result<SweepEnd, SearchError> {
        let own = round.trials(shard);
        let jobs = || Ok(round.to_jobs().into_iter().filter(|job| own.contains(&job.trial)).collect());
        self.run_selected_jobs(&jobs, (journal, known), watcher)
    }

    fn run_selected_jobs(
        &self,
        jobs: &dyn Fn() -> Result<Vec<TrialJob>, SearchError>,
        (journal, known): (&mut TrialJournal, Vec<Record>),
        watcher: &mut SweepWatcher<'_>,
    ) -> Result<SweepEnd, SearchError> {
        let procedure = |run: &mut JobRunner<'_>, tracker: &Mutex<ProgressTracker<'_, '_>>| {
            let jobs = jobs()?;
            lock(tracker).total = jobs.len() as u64 * self.trial_work(0);
            let JobResults { rows, is_complete } = run(jobs)?;
            Ok(if is_complete { SweepEnd::Done(rows) } else { SweepEnd::Stopped(rows) })
        };
        self.run_procedure(&procedure, (journal, known), watcher)
    }

    fn first_rung_jobs(&self) -> Result<Vec<TrialJob>, SearchError> {
        if self.settings.search.search.is_adaptive() {
            let problem = "sets of an adaptive search depend on earlier trials: shard each round instead";
            return Err(SearchError::invalid_search(problem));
        }
        let sets = plan_sets(self.space, &self.settings.search)?.into_iter();
        Ok(sets.zip(0..).map(|(candidate, trial)| TrialJob { trial, rung: 0, candidate }).collect())
    }

    fn run_procedure(
        &self,
        procedure: &SweepProcedure<'_>,
        (journal, known): (&mut TrialJournal, Vec<Record>),
        watcher: &mut SweepWatcher<'_>,
    ) -> Result<SweepEnd, SearchError> {
        let pool = build_thread_pool(self.threads)?;
        let mut known: HashMap<(u64, u32), TrialEnd> =
            known.into_iter().map(|record| ((record.trial, record.rung), record.outcome)).collect();
        let tracker = Mutex::new(ProgressTracker::new(journal, watcher));
        let mut run = |jobs: Vec<TrialJob>| self.run_jobs(&jobs, &mut known, &tracker, &pool);
        let end = procedure(&mut run, &tracker)?;
        lock(&tracker).journal.sync()?;
        Ok(end)
    }

    fn run_rungs(
        &self,
        run: &mut JobRunner<'_>,
        tracker: &Mutex<ProgressTracker<'_, '_>>,
    ) -> Result<SweepEnd, SearchError> {
        let halving = self.settings.halving;
        let mut jobs = self.first_rung_jobs()?;
        let mut field = jobs.len();
        let work = (0..halving.rungs()).map(|rung| {
            let work = field as u64 * self.trial_work(rung);
            field = halving.survivors(field);
            work
        });
        lock(tracker).total = work.sum();
        let mut rows: Vec<TrialRow> = Vec::new();
        for rung in 0..halving.rungs() {
            let JobResults { rows: ran, is_complete } = run(std::mem::take(&mut jobs))?;
            let counting = rank_rows(&ran).into_iter().filter(|row| row.score.is_some());
            let mut best: Vec<&TrialRow> = counting.take(halving.survivors(ran.len())).collect();
            best.sort_unstable_by_key(|row| row.trial);
            let next = |row: &&TrialRow| TrialJob {
                trial: row.trial,
                rung: rung + 1,
                candidate: row.candidate.clone(),
            };
            jobs = best.iter().map(next).collect();
            rows.retain(|row| ran.binary_search_by_key(&row.trial, |one| one.trial).is_err());
            if rows.is_empty() {
                rows = ran; // Avoids a copy of up to 10,000 rows.
            } else {
                rows.extend(ran);
            }
            if !is_complete {
                return Ok(SweepEnd::Stopped(rows));
            }
        }
        rows.sort_unstable_by_key(|row| row.trial);
        Ok(SweepEnd::Done(rows))
    }

    fn run_adaptive(
        &self,
        run: &mut JobRunner<'_>,
        tracker: &Mutex<ProgressTracker<'_, '_>>,
    ) -> Result<SweepEnd, SearchError> {
        let mut rounds = Rounds::new(self)?;
        lock(tracker).total = self.settings.search.trials * self.trial_work(0);
        let mut rows: Vec<TrialRow> = Vec::new();
        loop {
            let jobs = rounds.ask().to_jobs();
            if jobs.is_empty() {
                break; // All requested sets, or all sets of the space, have been tried.
            }
            let JobResults { rows: ran, is_complete } = run(jobs)?;
            rounds.update_model(&ran);
            rows.extend(ran);
            if !is_complete {
                return Ok(SweepEnd::Stopped(rows));
            }
        }
        self.runner.evict();
        if rows.is_empty() {
            return Err(no_set_error());
        }
        Ok(SweepEnd::Done(rows))
    }

    fn run_jobs(
        &self,
        jobs: &[TrialJob],
        known: &mut HashMap<(u64, u32), TrialEnd>,
        tracker: &Mutex<ProgressTracker<'_, '_>>,
        pool: &rayon::ThreadPool,
    ) -> Result<JobResults, SearchError> {
        let (mut rows, mut open): (Vec<TrialRow>, Vec<&TrialJob>) = Default::default();
        for job in jobs {
            if let Some(outcome) = known.remove(&(job.trial, job.rung)) {
                let row = self.to_row(job, outcome);
                lock(tracker).count(&row, self.trial_work(job.rung));
                rows.push(row);
            } else {
                open.push(job);
            }
        }
        let begin = lock(tracker).journal.length();
        self.run_pending_jobs(&open, tracker, pool)?;
        drop(open);
        // The metrics are read from the journal only now, so that rows and series are not in memory at the same time.
        rows.reserve_exact(jobs.len() - rows.len());
        let take = |record: Record| {
            if let Ok(place) = jobs.binary_search_by_key(&record.trial, |job| job.trial) {
                rows.push(self.to_row(&jobs[place], record.outcome));
            }
        };
        pool.install(|| lock(tracker).journal.read_back(begin, take))?;
        rows.sort_unstable_by_key(|row| row.trial);
        Ok(JobResults { is_complete: rows.len() == jobs.len(), rows })
    }

    fn run_pending_jobs(
        &self,
        open: &[&TrialJob],
        tracker: &Mutex<ProgressTracker<'_, '_>>,
        pool: &rayon::ThreadPool,
    ) -> Result<(), SearchError> {
        let Some(first) = open.first() else { return Ok(()) };
        let until = self.settings.halving.end_time(first.rung, &self.runner.span());
        let candidates: Vec<&Candidate> = open.iter().map(|job| &job.candidate).collect();
        let groups = self.runner.prepare(&candidates, until)?;
        drop(candidates);
        let run_one = |place: &usize| {
            let job = open[*place];
            if lock(tracker).is_stopped {
                return Ok(());
            }
            let outcome = self.runner.measure(&job.candidate, until, self.balance)?;
            let record = Record { trial: job.trial, rung: job.rung, outcome };
            let line = record.to_line();
            let row = self.to_row(job, record.outcome);
            lock(tracker).record(&line, &row, self.trial_work(job.rung))
        };
        // Each item is scheduled separately: an idle thread takes the next group, or a trial of another thread's group.
        let run_group = |group: &Vec<usize>| group.par_iter().with_max_len(1).try_for_each(run_one);
        pool.install(|| groups.par_iter().with_max_len(1).try_for_each(run_group))?;
        // In an adaptive search, the next batch needs the same series.
        if !self.settings.search.search.is_adaptive() {
            self.runner.evict();
        }
        Ok(())
    }

    pub(super) fn to_row(&self, job: &TrialJob, outcome: TrialEnd) -> TrialRow {
        let SweepSettings { objective, min_trades, halving, .. } = *self.settings;
        let score = match &outcome {
            TrialEnd::Figures(figures) => objective.score(figures, halving.min_trades(job.rung, min_trades)),
            TrialEnd::Refused(_) => None,
        };
        let (candidate, share) = (job.candidate.clone(), halving.candle_fraction(job.rung));
        TrialRow { trial: job.trial, candidate, rung: job.rung, share, outcome, score }
    }

    fn trial_work(&self, rung: u32) -> u64 {
        ((self.settings.halving.candle_fraction(rung) * 1_000.0) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;

    #[test]
    fn best_set_comes_from_the_last_rung() {
        let rows =
            [(0, Some(9.0)), (1, Some(0.5)), (1, Some(0.75)), (1, None), (1, Some(0.75)), (1, Some(-1.0))];
        let rows = (0..).zip(rows).map(|(trial, (rung, score))| TrialRow { rung, ..row(trial, None, score) });
        let rows: Vec<TrialRow> = rows.collect();
        let order: Vec<u64> = rank_rows(&rows).iter().map(|row| row.trial).collect();
        assert_eq!(order, [2, 4, 1, 5, 0, 3]);
    }
}
