//! Shards of a planned search: writes one journal per shard, and merges the journals, in rounds if necessary.

use super::folder::ResultFolder;
use super::plan::{ProgramMismatchPolicy, SearchPlan, notice_or_error};
use crate::error::{AppError, Result};
use candlewick_search::SearchError;
use candlewick_search::sweep::{Record, Round, Rounds, Shard, Sweep, TrialJournal};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::ops::Range;

#[derive(Debug, Default)]
pub struct GatheredShards {
    pub records: Vec<Record>,
    pub notices: Vec<String>,
}

impl SearchPlan {
    pub fn download_shard(&self, folder: &ResultFolder, number: u64) -> Result<()> {
        folder.download(&journal_name(number)).map(drop)
    }

    pub fn upload_shard(&self, folder: &ResultFolder, number: u64) -> Result<Option<String>> {
        folder.upload(&journal_name(number))
    }

    pub fn journal(
        &self,
        folder: &ResultFolder,
        number: u64,
        identity: &Value,
    ) -> Result<(TrialJournal, Vec<Record>), SearchError> {
        let mut identity = identity.clone();
        identity["shard"] = json!([number, self.shards]);
        folder.journal(&journal_name(number), &identity)
    }

    pub fn gather(
        &self,
        folder: &ResultFolder,
        sweep: &Sweep<'_>,
        others: ProgramMismatchPolicy,
        to_error: impl Fn(SearchError) -> AppError,
    ) -> Result<GatheredShards> {
        if let Some(rounds) = self.rounds {
            return self.gather_rounds((folder, rounds), sweep, others, &to_error);
        }
        let (mut records, mut notices) = (Vec::new(), Vec::new());
        for number in 1..=self.shards {
            let trials = Shard::new(number, self.shards).map_err(&to_error)?.trials(self.sets);
            let (own, notice) =
                self.gather_shard((folder, &self.sweep), (number, trials), others, &to_error)?;
            records.extend(own);
            notices.extend(notice);
        }
        Ok(GatheredShards { records, notices })
    }

    pub(super) fn gather_shard(
        &self,
        (folder, planned): (&ResultFolder, &Value),
        (number, expected): (u64, Range<u64>),
        others: ProgramMismatchPolicy,
        to_error: &dyn Fn(SearchError) -> AppError,
    ) -> Result<(Vec<Record>, Option<String>)> {
        let name = journal_name(number);
        let (path, place) = (folder.download(&name)?, folder.display_path().join(&name));
        let (shown, command) = (place.display(), self.command.as_str());
        let lacks = |problem: String| {
            let command = format!("candlewick {command} run --shard {number}");
            let help = format!("run `{command}`, or copy {name} from another machine");
            AppError::invalid(problem).with_help(help)
        };
        if !path.exists() {
            return Err(lacks(format!("{shown}: shard {number} is missing")));
        }
        let (mut identity, mut notice) = (planned.clone(), None);
        let head = TrialJournal::read_identity(&path).map_err(to_error)?;
        if let Some(program) = head.and_then(|mut head| head.remove("program"))
            && program != identity["program"]
        {
            let hash: String = program.as_str().unwrap_or_default().chars().take(12).collect();
            let problem = format!("shard {number} was not run by the program that planned it, but by {hash}");
            notice = Some(notice_or_error(&place, problem, others)?);
            identity["program"] = program;
        }
        identity["shard"] = json!([number, self.shards]);
        let records = folder.records(&name, &identity).map_err(to_error)?;
        let whole = records.iter().filter(|record| record.rung == 0);
        let trials: BTreeSet<u64> = whole.map(|record| record.trial).collect();
        let missing = expected.filter(|trial| !trials.contains(trial)).count();
        if missing > 0 {
            return Err(lacks(format!("{shown}: {missing} trials of shard {number} have not run")));
        }
        Ok((records, notice))
    }
}

fn journal_name(number: u64) -> String {
    format!("shard-{number}.jsonl")
}

#[derive(Debug)]
pub struct RoundShard {
    pub round: Round,
    pub shard: Shard,
    pub notices: Vec<String>,
}

impl RoundShard {
    pub fn identity(&self, sweep: &Value) -> Value {
        round_identity(sweep, &self.round)
    }
}

impl SearchPlan {
    pub fn with_rounds(mut self, sweep: &Sweep<'_>) -> Result<Self> {
        let search = sweep.settings.search;
        let (most, shards) = (search.batch.min(search.trials), self.shards);
        if shards > most {
            let problem = format!("{shards} shards are too many: the search runs only {most} sets per round");
            let help = format!("use 1 to {most} shards, or a larger --batch (fewer rounds)");
            return Err(AppError::invalid(problem).with_help(help));
        }
        self.rounds = NonZeroU64::new(search.round_count());
        self.shards *= search.round_count();
        Ok(self)
    }

    /// Builds the shard of a round from the journals of all earlier rounds. `None` if the search is not adaptive.
    pub fn build_round_shard(
        &self,
        (folder, number): (&ResultFolder, u64),
        sweep: &Sweep<'_>,
        others: ProgramMismatchPolicy,
        to_error: &dyn Fn(SearchError) -> AppError,
    ) -> Result<Option<RoundShard>> {
        let Some(parts) = self.shards_per_round() else { return Ok(None) };
        let shard = Shard::new((number - 1) % parts + 1, parts).map_err(to_error)?;
        let mut rounds = Rounds::new(sweep).map_err(to_error)?;
        let mut gathered = GatheredShards::default();
        let earlier = (number - 1) / parts;
        for before in 0..earlier {
            let round = rounds.ask();
            let gathering =
                self.gather_round((&mut rounds, &round, before), (folder, others), &mut gathered, to_error);
            gathering.map_err(|error| {
                if matches!(error, AppError::Search(SearchError::SweepLocked { .. })) {
                    return error; // temporary: nothing is missing, and the same command works later
                }
                let problem = format!("shard {number} needs the results of shards 1 to {}", earlier * parts);
                let help = "run those shards first, or copy their journals to this folder";
                AppError::invalid(problem).with_source(error).with_help(help)
            })?;
        }
        Ok(Some(RoundShard { round: rounds.ask(), shard, notices: gathered.notices }))
    }

    fn gather_rounds(
        &self,
        (folder, count): (&ResultFolder, NonZeroU64),
        sweep: &Sweep<'_>,
        others: ProgramMismatchPolicy,
        to_error: &dyn Fn(SearchError) -> AppError,
    ) -> Result<GatheredShards> {
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
        (folder, others): (&ResultFolder, ProgramMismatchPolicy),
        gathered: &mut GatheredShards,
        to_error: &dyn Fn(SearchError) -> AppError,
    ) -> Result<()> {
        if round.is_empty() {
            return Ok(());
        }
        let parts = self.shards_per_round().unwrap_or(self.shards);
        let planned = round_identity(&self.sweep, round);
        let mut records = Vec::new();
        for part in 1..=parts {
            let trials = round.trials(Shard::new(part, parts).map_err(to_error)?);
            let place = number * parts + part;
            let (own, notice) = self.gather_shard((folder, &planned), (place, trials), others, to_error)?;
            records.extend(own);
            gathered.notices.extend(notice);
        }
        gathered.records.extend(records.iter().cloned());
        rounds.tell(round, records).map_err(to_error)
    }

    fn shards_per_round(&self) -> Option<u64> {
        self.rounds.map(|rounds| self.shards / rounds)
    }
}

fn round_identity(sweep: &Value, round: &Round) -> Value {
    let mut identity = sweep.clone();
    identity["after"] = json!(round.history_hash());
    identity
}
