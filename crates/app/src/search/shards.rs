//! The parts of a planned sweep: a journal each, that come together again.

use super::folder::ResultFolder;
use super::plan::{OtherProgram, SweepPlan};
use crate::error::AppError;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Record, Shard, TrialJournal};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The trials of all shards.
#[derive(Debug)]
pub struct GatheredShards {
    /// What ran.
    pub records: Vec<Record>,
    /// What is to be said of who ran it.
    pub notices: Vec<String>,
}

impl SweepPlan {
    /// The journal of a shard that the program of `identity` runs, and the trials that have run.
    ///
    /// # Errors
    /// As [`TrialJournal::open`].
    pub fn journal(
        &self,
        folder: &ResultFolder,
        shard: Shard,
        identity: &Value,
    ) -> Result<(TrialJournal, Vec<Record>), SearchError> {
        let mut identity = identity.clone();
        identity["shard"] = json!([shard.number(), self.shards]);
        folder.journal(&journal_name(shard), &identity)
    }

    /// The trials of all shards. Every one has to have run.
    ///
    /// # Errors
    /// A shard is missing or has not run to its end; another sweep's; another program's, where that is refused.
    pub fn gather(
        &self,
        folder: &ResultFolder,
        others: OtherProgram,
        to_error: impl Fn(SearchError) -> AppError,
    ) -> Result<GatheredShards, AppError> {
        let (mut records, mut notices) = (Vec::new(), Vec::new());
        for number in 1..=self.shards {
            let shard = Shard::new(number, self.shards).map_err(&to_error)?;
            let path = folder.path().join(journal_name(shard));
            let shown = path.display();
            let lacks = |problem: String| {
                let help =
                    format!("run sweep run --shard {number}, or copy its {} here", journal_name(shard));
                AppError::invalid(problem).help(help)
            };
            if !path.exists() {
                return Err(lacks(format!("{shown}: shard {number} is missing")));
            }
            let mut identity = self.sweep.clone();
            let head = TrialJournal::identity(&path).map_err(&to_error)?;
            if let Some(program) = head.and_then(|mut head| head.remove("program"))
                && program != identity["program"]
            {
                let text = program.as_str().unwrap_or_default();
                let hash: String = text.chars().take(12).collect();
                let problem =
                    format!("shard {number} was run by another program than made the plan ({hash})");
                if others == OtherProgram::Refused {
                    return Err(AppError::invalid(format!("{shown}: {problem}")).help(
                        "run it again with the program of the plan; --allow-other-program takes it, and the report says so",
                    ));
                }
                notices.push(problem);
                identity["program"] = program;
            }
            let (_, ran) = self.journal(folder, shard, &identity).map_err(&to_error)?;
            let trials: BTreeSet<u64> =
                ran.iter().filter(|record| record.rung == 0).map(|record| record.trial).collect();
            let missing = shard.trials(self.sets).filter(|trial| !trials.contains(trial)).count();
            if missing > 0 {
                return Err(lacks(format!("{shown}: {missing} trials of shard {number} have not run")));
            }
            records.extend(ran);
        }
        Ok(GatheredShards { records, notices })
    }
}

fn journal_name(shard: Shard) -> String {
    format!("shard-{}.jsonl", shard.number())
}
