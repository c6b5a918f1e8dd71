//! The shards of a search that learns: those of a round run side by side, and need what came of the rounds before it.

use super::folder::ResultFolder;
use super::plan::{OtherProgram, SearchPlan};
use super::shards::GatheredShards;
use crate::error::AppError;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Round, Rounds, Shard, Sweep};
use serde_json::{Value, json};
use std::num::NonZeroU64;

/// A shard of a round, ready to run.
#[derive(Debug)]
pub struct RoundShard {
    /// The sets of its round.
    pub round: Round,
    /// Which of them it has.
    pub shard: Shard,
    /// What is to be said of who ran the rounds before.
    pub notices: Vec<String>,
}

impl RoundShard {
    /// What stands at the head of its journal: the sweep's own, and what came before.
    pub fn identity(&self, sweep: &Value) -> Value {
        after(sweep, &self.round)
    }
}

impl SearchPlan {
    /// Cuts each round of the search into so many shards.
    ///
    /// # Errors
    /// More shards than a round has sets.
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

    /// The shard with this number of a search that learns, from the journals of all rounds before it; nothing where the search
    /// does not learn.
    ///
    /// # Errors
    /// A shard of an earlier round is missing, has not run to its end, or is another sweep's.
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

    /// The trials of all rounds.
    ///
    /// # Errors
    /// As [`SearchPlan::gather`]; and where a shard was run after other results than those that are there now.
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

    /// Takes what came of a round; nothing where every set has been tried before it.
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

    /// How many shards each round has; nothing of a search that does not learn.
    fn shards_of_round(&self) -> Option<u64> {
        self.rounds.map(|rounds| self.shards / rounds)
    }
}

fn after(sweep: &Value, round: &Round) -> Value {
    let mut identity = sweep.clone();
    identity["after"] = json!(round.after());
    identity
}
