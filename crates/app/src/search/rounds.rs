//! Shards of a learning search: parallel within a round, each round based on earlier ones.

use super::folder::ResultFolder;
use super::plan::{OtherProgram, SearchPlan};
use super::shards::GatheredShards;
use crate::error::AppError;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Round, Rounds, Shard, Sweep};
use serde_json::{Value, json};
use std::num::NonZeroU64;

#[derive(Debug)]
pub struct RoundShard {
    pub round: Round,
    pub shard: Shard,
    pub notices: Vec<String>,
}

impl RoundShard {
    pub fn identity(&self, sweep: &Value) -> Value {
        after(sweep, &self.round)
    }
}

impl SearchPlan {
    pub fn with_rounds(mut self, sweep: &Sweep<'_>) -> Result<Self, AppError> {
        let search = sweep.settings.search;
        let (most, shards) = (search.batch.min(search.trials), self.shards);
        if shards > most {
            let problem = format!(
                "{shards} shards: the search tries {most} sets at a time, before it looks what came of them"
            );
            let help = format!("use 1 to {most}, or a larger --batch, which learns less often");
            return Err(AppError::invalid(problem).help(help));
        }
        self.rounds = NonZeroU64::new(search.rounds());
        self.shards *= search.rounds();
        Ok(self)
    }

    /// Derives a shard from the journals of all earlier rounds; `None` if the search does not
    /// learn.
    pub fn round_shard(
        &self,
        (folder, number): (&ResultFolder, u64),
        sweep: &Sweep<'_>,
        others: OtherProgram,
        to_error: &dyn Fn(SearchError) -> AppError,
    ) -> Result<Option<RoundShard>, AppError> {
        let Some(parts) = self.shards_of_round() else { return Ok(None) };
        let shard = Shard::new((number - 1) % parts + 1, parts).map_err(to_error)?;
        let mut rounds = Rounds::new(sweep).map_err(to_error)?;
        let mut gathered = GatheredShards::default();
        let earlier = (number - 1) / parts;
        for before in 0..earlier {
            let round = rounds.ask();
            let told =
                self.gather_round((&mut rounds, &round, before), (folder, others), &mut gathered, to_error);
            told.map_err(|error| {
                if matches!(error, AppError::Search(SearchError::SweepLocked { .. })) {
                    return error; // it passes by itself: nothing is missing, and the same command is right later
                }
                let problem = format!("shard {number} needs what came of shards 1 to {}", earlier * parts);
                let help = "run them first, or copy their journals here";
                AppError::invalid(problem).because(error).help(help)
            })?;
        }
        Ok(Some(RoundShard { round: rounds.ask(), shard, notices: gathered.notices }))
    }

    pub(super) fn gather_rounds(
        &self,
        (folder, count): (&ResultFolder, NonZeroU64),
        sweep: &Sweep<'_>,
        others: OtherProgram,
        to_error: &dyn Fn(SearchError) -> AppError,
    ) -> Result<GatheredShards, AppError> {
        let mut rounds = Rounds::new(sweep).map_err(to_error)?;
        let mut gathered = GatheredShards::default();
        for number in 0..count.get() {
            let round = rounds.ask();
            self.gather_round((&mut rounds, &round, number), (folder, others), &mut gathered, to_error)?;
        }
        Ok(gathered)
    }

    fn gather_round(
        &self,
        (rounds, round, number): (&mut Rounds<'_>, &Round, u64),
        (folder, others): (&ResultFolder, OtherProgram),
        gathered: &mut GatheredShards,
        to_error: &dyn Fn(SearchError) -> AppError,
    ) -> Result<(), AppError> {
        if round.is_empty() {
            return Ok(());
        }
        let parts = self.shards_of_round().unwrap_or(self.shards);
        let planned = after(&self.sweep, round);
        let mut records = Vec::new();
        for part in 1..=parts {
            let trials = round.trials(Shard::new(part, parts).map_err(to_error)?);
            let place = number * parts + part;
            let one = self.gather_shard((folder, &planned), (place, trials), others, to_error)?;
            records.extend(one.records);
            gathered.notices.extend(one.notice);
        }
        gathered.records.extend(records.iter().cloned());
        rounds.tell(round, records).map_err(to_error)
    }

    fn shards_of_round(&self) -> Option<u64> {
        self.rounds.map(|rounds| self.shards / rounds)
    }
}

fn after(sweep: &Value, round: &Round) -> Value {
    let mut identity = sweep.clone();
    identity["after"] = json!(round.after());
    identity
}
