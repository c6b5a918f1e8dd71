//! A search that learns, round by round: its next sets follow from what became of those before, and from nothing else, so that
//! any machine that has the records of the rounds before has the same sets.

use super::run::Job;
use super::search::Parzen;
use super::{Candidate, Outcome, Record, Shard, Sweep, TrialRow};
use crate::SearchError;
use std::collections::HashMap;
use std::ops::Range;

/// The rounds of a search that learns: ask for the sets of one, tell what became of all of them, and ask again.
pub struct Rounds<'a> {
    sweep: &'a Sweep<'a>,
    model: Parzen<'a>,
    /// Sets that were asked for so far.
    asked: u64,
    /// Of what was told so far.
    told: blake3::Hasher,
}

/// The sets that a search that learns tries next.
#[derive(Clone, Debug)]
pub struct Round {
    /// The place of its first set in the search.
    first: u64,
    sets: Vec<Candidate>,
    after: String,
}

impl<'a> Rounds<'a> {
    /// From the beginning.
    ///
    /// # Errors
    /// [`SearchError::InvalidSearch`] of a search that does not suit its space.
    pub fn new(sweep: &'a Sweep<'a>) -> Result<Self, SearchError> {
        let search = sweep.settings.search;
        search.check(sweep.space)?;
        let model = Parzen::new(sweep.space, search.seed)?;
        Ok(Self { sweep, model, asked: 0, told: blake3::Hasher::new() })
    }

    /// The sets of the next round: none when as many were asked for as are to be tried, or when there is no new one.
    pub fn ask(&mut self) -> Round {
        let search = self.sweep.settings.search;
        let most = search.batch.min(search.trials - self.asked);
        let first = self.asked;
        let sets = self.model.ask(usize::try_from(most).unwrap_or(usize::MAX));
        self.asked += sets.len() as u64;
        Round { first, sets, after: self.told.finalize().to_hex().to_string() }
    }

    /// Takes what became of the sets of a round, of which none may be missing; records of other trials are passed over.
    ///
    /// # Errors
    /// [`SearchError::InvalidSearch`] when a set has not run.
    pub fn tell(&mut self, round: &Round, records: Vec<Record>) -> Result<(), SearchError> {
        let mut outcomes: HashMap<u64, Outcome> =
            records.into_iter().map(|record| (record.trial, record.outcome)).collect();
        let mut rows = Vec::with_capacity(round.sets.len());
        for job in round.jobs() {
            let Some(outcome) = outcomes.remove(&job.trial) else {
                let problem = format!("trial {} has not run, and later sets follow from it", job.trial);
                return Err(SearchError::InvalidSearch { problem });
            };
            let record = Record { trial: job.trial, rung: 0, outcome };
            self.told.update(&record.to_line());
            rows.push(self.sweep.row(&job, record.outcome));
        }
        self.learn(&rows);
        Ok(())
    }

    pub(super) fn learn(&mut self, rows: &[TrialRow]) {
        for row in rows {
            self.model.record(&row.candidate, row.score);
        }
    }
}

impl Round {
    /// Whether there is nothing left to try.
    pub const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// A hash of what became of all sets before it: rounds of searches that went other ways differ in it.
    pub fn after(&self) -> &str {
        &self.after
    }

    /// Which trials of it a shard has, by their places in the search.
    pub fn trials(&self, shard: Shard) -> Range<u64> {
        let own = shard.trials(self.sets.len() as u64);
        self.first + own.start..self.first + own.end
    }

    pub(super) fn jobs(&self) -> Vec<Job> {
        let sets = self.sets.iter().cloned().zip(self.first..);
        sets.map(|(candidate, trial)| Job { trial, rung: 0, candidate }).collect()
    }
}
