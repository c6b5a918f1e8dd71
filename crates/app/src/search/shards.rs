//! Shards of a planned search, each with its own journal, and their merge.

use super::folder::ResultFolder;
use super::plan::{OtherProgram, SearchPlan};
use crate::error::AppError;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Record, Shard, Sweep, TrialJournal};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;

#[derive(Debug, Default)]
pub struct GatheredShards {
    pub records: Vec<Record>,
    pub notices: Vec<String>,
}

pub(super) struct GatheredShard {
    pub records: Vec<Record>,
    pub notice: Option<String>,
}

impl SearchPlan {
    pub fn bring(&self, folder: &ResultFolder, number: u64) -> Result<(), AppError> {
        folder.bring(&journal_name(number)).map(drop)
    }

    pub fn keep(&self, folder: &ResultFolder, number: u64) -> Result<Option<String>, AppError> {
        folder.keep(&journal_name(number))
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
        others: OtherProgram,
        to_error: impl Fn(SearchError) -> AppError,
    ) -> Result<GatheredShards, AppError> {
        if let Some(rounds) = self.rounds {
            return self.gather_rounds((folder, rounds), sweep, others, &to_error);
        }
        let (mut records, mut notices) = (Vec::new(), Vec::new());
        for number in 1..=self.shards {
            let trials = Shard::new(number, self.shards).map_err(&to_error)?.trials(self.sets);
            let one = self.gather_shard((folder, &self.sweep), (number, trials), others, &to_error)?;
            records.extend(one.records);
            notices.extend(one.notice);
        }
        Ok(GatheredShards { records, notices })
    }

    pub(super) fn gather_shard(
        &self,
        (folder, planned): (&ResultFolder, &Value),
        (number, expected): (u64, Range<u64>),
        others: OtherProgram,
        to_error: &dyn Fn(SearchError) -> AppError,
    ) -> Result<GatheredShard, AppError> {
        let path = folder.bring(&journal_name(number))?;
        let place = folder.shown().join(journal_name(number));
        let (shown, command) = (place.display(), self.command.as_str());
        let lacks = |problem: String| {
            let name = journal_name(number);
            let help = format!("run {command} run --shard {number}, or copy its {name} here");
            AppError::invalid(problem).help(help)
        };
        if !path.exists() {
            return Err(lacks(format!("{shown}: shard {number} is missing")));
        }
        let (mut identity, mut notice) = (planned.clone(), None);
        let head = TrialJournal::identity(&path).map_err(to_error)?;
        if let Some(program) = head.and_then(|mut head| head.remove("program"))
            && program != identity["program"]
        {
            let text = program.as_str().unwrap_or_default();
            let hash: String = text.chars().take(12).collect();
            let problem = format!("shard {number} was run by another program than made the plan ({hash})");
            if others == OtherProgram::Refused {
                return Err(AppError::invalid(format!("{shown}: {problem}")).help(
                    "run it again with the program of the plan; --allow-other-program takes it, and the report says so",
                ));
            }
            notice = Some(problem);
            identity["program"] = program;
        }
        identity["shard"] = json!([number, self.shards]);
        let records = folder.records(&journal_name(number), &identity).map_err(to_error)?;
        let trials: BTreeSet<u64> =
            records.iter().filter(|record| record.rung == 0).map(|record| record.trial).collect();
        let missing = expected.filter(|trial| !trials.contains(trial)).count();
        if missing > 0 {
            return Err(lacks(format!("{shown}: {missing} trials of shard {number} have not run")));
        }
        Ok(GatheredShard { records, notice })
    }
}

fn journal_name(number: u64) -> String {
    format!("shard-{number}.jsonl")
}
