//! Rounds of a search that learns.
//!
//! Each round follows only from the records of earlier rounds, so any machine that has these
//! records computes the same parameter sets.

use super::run::Job;
use super::search::Parzen;
use super::{Candidate, Outcome, Record, Shard, Sweep, TrialRow};
use crate::SearchError;
use std::collections::HashMap;
use std::ops::Range;

pub struct Rounds<'a> {
    sweep: &'a Sweep<'a>,
    model: Parzen<'a>,
    asked: u64,
    told: blake3::Hasher,
}

#[derive(Clone, Debug)]
pub struct Round {
    first: u64,
    sets: Vec<Candidate>,
    after: String,
}

impl<'a> Rounds<'a> {
    pub fn new(sweep: &'a Sweep<'a>) -> Result<Self, SearchError> {
        let search = sweep.settings.search;
        search.check(sweep.space)?;
        let model = Parzen::new(sweep.space, search.seed)?;
        Ok(Self { sweep, model, asked: 0, told: blake3::Hasher::new() })
    }

    pub fn ask(&mut self) -> Round {
        let search = self.sweep.settings.search;
        let most = search.batch.min(search.trials - self.asked);
        let first = self.asked;
        let sets = self.model.ask(usize::try_from(most).unwrap_or(usize::MAX));
        self.asked += sets.len() as u64;
        Round { first, sets, after: self.told.finalize().to_hex().to_string() }
    }

    /// Records the outcomes of a round.
    ///
    /// Every set needs one; records of other trials are ignored.
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
    pub const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Returns a hash of all earlier outcomes, which differs between diverging searches.
    pub fn after(&self) -> &str {
        &self.after
    }

    pub fn trials(&self, shard: Shard) -> Range<u64> {
        let own = shard.trials(self.sets.len() as u64);
        self.first + own.start..self.first + own.end
    }

    pub(super) fn jobs(&self) -> Vec<Job> {
        let sets = self.sets.iter().cloned().zip(self.first..);
        sets.map(|(candidate, trial)| Job { trial, rung: 0, candidate }).collect()
    }
}
