//! Parts of a sweep: halving rungs, rounds of an adaptive search, and shards.

use super::run::TrialJob;
use super::search::Parzen;
use super::{Candidate, Record, Sweep, TrialEnd, TrialRow};
use crate::SearchError;
use candlewick_sdk::Millis;
use std::collections::HashMap;
use std::ops::Range;

/// Successive halving. Each rung runs the best sets of the previous rung on more candles, the final rung on all.
/// Source: K. Jamieson, A. Talwalkar, *Non-stochastic Best Arm Identification* (2016).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halving {
    /// Factor by which the number of sets falls, and the number of candles grows, from rung to rung.
    keep_one_in: u32,
    rungs: u32,
}

impl Halving {
    pub const NONE: Self = Self { keep_one_in: 1, rungs: 1 };

    /// Creates a schedule of 2 to 8 `rungs`. The best 1/`keep_one_in` of the sets advance; `keep_one_in` is 2 to 10.
    pub fn new(keep_one_in: u32, rungs: u32) -> Result<Self, SearchError> {
        if (2..=10).contains(&keep_one_in) && (2..=8).contains(&rungs) {
            return Ok(Self { keep_one_in, rungs });
        }
        Err(SearchError::invalid_search(format!(
            "halving {keep_one_in} with {rungs} rungs is invalid: use halving 2 to 10 and 2 to 8 rungs"
        )))
    }

    pub const fn rungs(self) -> u32 {
        self.rungs
    }

    pub const fn keep_one_in(self) -> u32 {
        self.keep_one_in
    }

    pub(crate) fn survivors(self, sets: usize) -> usize {
        sets.div_ceil(self.keep_one_in as usize)
    }

    pub(crate) fn candle_fraction(self, rung: u32) -> f64 {
        1.0 / f64::from(self.keep_one_in).powi((self.rungs - 1).saturating_sub(rung) as i32)
    }

    pub(crate) fn end_time(self, rung: u32, span: &Range<Millis>) -> Millis {
        if rung + 1 >= self.rungs {
            return Millis::MAX;
        }
        let length = (span.end - span.start).get() as f64;
        span.start + Millis::new((length * self.candle_fraction(rung)) as i64)
    }

    pub(crate) fn min_trades(self, rung: u32, at_last_rung: u64) -> u64 {
        (at_last_rung as f64 * self.candle_fraction(rung)).ceil() as u64
    }
}

/// One part of a sweep. The sets of a shard are consecutive, because neighbouring sets share the most work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    count: u64,
}

impl Shard {
    /// Creates shard `number` (1-based) of `count` shards.
    pub fn new(number: u64, count: u64) -> Result<Self, SearchError> {
        if (1..=count).contains(&number) {
            return Ok(Self { number, count });
        }
        Err(SearchError::invalid_search(format!("shard {number} of {count} is invalid: use 1 to {count}")))
    }

    pub const fn number(self) -> u64 {
        self.number
    }

    pub fn trials(self, sets: u64) -> Range<u64> {
        let begin = |number: u64| (u128::from(number) * u128::from(sets) / u128::from(self.count)) as u64;
        begin(self.number - 1)..begin(self.number)
    }
}

/// Rounds of an adaptive search. Each round depends only on the records of earlier rounds.
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

    /// Records the outcomes of a round. Every set of the round needs a record. Other records are ignored.
    pub fn tell(&mut self, round: &Round, records: Vec<Record>) -> Result<(), SearchError> {
        let mut outcomes: HashMap<u64, TrialEnd> =
            records.into_iter().map(|record| (record.trial, record.outcome)).collect();
        let mut rows = Vec::with_capacity(round.sets.len());
        for job in round.to_jobs() {
            let Some(outcome) = outcomes.remove(&job.trial) else {
                let problem = format!("trial {} has not run, but later sets depend on this trial", job.trial);
                return Err(SearchError::invalid_search(problem));
            };
            let record = Record { trial: job.trial, rung: 0, outcome };
            self.told.update(&record.to_line());
            rows.push(self.sweep.to_row(&job, record.outcome));
        }
        self.update_model(&rows);
        Ok(())
    }

    pub(super) fn update_model(&mut self, rows: &[TrialRow]) {
        for row in rows {
            self.model.record(&row.candidate, row.score);
        }
    }
}

impl Round {
    pub const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Returns a hash of the outcomes of all earlier rounds. If two searches diverged, their hashes differ.
    pub fn history_hash(&self) -> &str {
        &self.after
    }

    pub fn trials(&self, shard: Shard) -> Range<u64> {
        let own = shard.trials(self.sets.len() as u64);
        self.first + own.start..self.first + own.end
    }

    pub(super) fn to_jobs(&self) -> Vec<TrialJob> {
        let sets = self.sets.iter().cloned().zip(self.first..);
        sets.map(|(candidate, trial)| TrialJob { trial, rung: 0, candidate }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rung_has_fewer_sets_and_more_candles() {
        let halving = Halving::new(3, 3).unwrap();
        let span = Millis::new(1_000)..Millis::new(10_000);
        let untils: Vec<i64> = (0..3).map(|rung| halving.end_time(rung, &span).get()).collect();
        assert_eq!(untils, [2_000, 4_000, i64::MAX]);
        assert_eq!([27, 9, 10, 1].map(|sets| halving.survivors(sets)), [9, 3, 4, 1]);
        assert_eq!([0, 1, 2].map(|rung| halving.min_trades(rung, 30)), [4, 10, 30]);
        assert_eq!((Halving::NONE.end_time(0, &span), Halving::NONE.survivors(7)), (Millis::MAX, 7));
        assert!(Halving::NONE.candle_fraction(0) == 1.0 && Halving::NONE.min_trades(0, 30) == 30);
    }

    #[test]
    fn rejects_invalid_halvings_and_shards() {
        for (keep_one_in, rungs) in [(1, 3), (11, 3), (3, 1), (3, 9)] {
            assert!(Halving::new(keep_one_in, rungs).is_err(), "{keep_one_in} {rungs}");
        }
        for (number, of) in [(0, 3), (4, 3), (1, 0)] {
            assert!(Shard::new(number, of).is_err(), "{number} of {of}");
        }
    }

    #[test]
    fn shards_partition_the_trials_evenly() {
        for (sets, of) in [(10, 3), (9, 3), (2, 5), (0, 1), (u64::MAX, 4)] {
            let shards: Vec<_> = (1..=of).map(|one| Shard::new(one, of).unwrap().trials(sets)).collect();
            assert_eq!((shards[0].start, shards[shards.len() - 1].end), (0, sets));
            assert!(shards.windows(2).all(|pair| pair[0].end == pair[1].start), "{shards:?}");
            let lengths = || shards.iter().map(|shard| shard.end - shard.start);
            assert!(lengths().max().unwrap() - lengths().min().unwrap() <= 1, "{shards:?}");
        }
    }
}
