//! A sweep in parts: the plan that every machine has, and the journals that come together again.

use super::folder::ResultFolder;
use crate::error::AppError;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Record, Shard, TrialJournal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

const NAME: &str = "plan.json";

/// What is cut, and into how many parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardPlan {
    /// Sets that the search tries, before any halving.
    pub sets: u64,
    /// Into how many.
    pub shards: u64,
    /// Everything that decides the trials.
    sweep: Value,
}

impl ShardPlan {
    /// Of the sweep with this identity.
    pub fn new(sets: u64, shards: u64, identity: Value) -> Self {
        Self { sets, shards, sweep: identity }
    }

    /// Writes it to the folder, over the plan of another sweep; where.
    pub fn write(&self, folder: &ResultFolder) -> Result<PathBuf, AppError> {
        folder.put(NAME, |bytes| writeln!(bytes, "{:#}", json!(self)))
    }

    /// Reads it from the folder.
    ///
    /// # Errors
    /// There is none, or it is that of another sweep than the one with this identity.
    pub fn read(folder: &ResultFolder, identity: &Value) -> Result<Self, AppError> {
        let path = folder.path().join(NAME);
        let shown = path.display();
        if !path.exists() {
            let help = "make one with sweep plan, or copy it here from where it was made";
            return Err(AppError::invalid(format!("{shown}: there is no plan")).help(help));
        }
        let text = fs::read(&path).map_err(|error| {
            let problem = format!("{shown}: the plan cannot be read");
            AppError::invalid(problem).because(error)
        })?;
        let plan: Self = serde_json::from_slice(&text)
            .map_err(|error| AppError::invalid(format!("{shown}: it is not the plan of a sweep: {error}")))?;
        if plan.sweep == *identity {
            return Ok(plan);
        }
        let differs = |key: &&String| plan.sweep.get(key) != identity.get(key);
        let keys = identity.as_object().into_iter().flat_map(|identity| identity.keys()).filter(differs);
        let keys: Vec<&str> = keys.map(String::as_str).collect();
        let problem = format!("{shown}: it plans another sweep, which differs in: {}", keys.join(", "));
        Err(AppError::invalid(problem).help(
            "give the arguments, the configuration and the candles of the plan, to the program that made it; the \
             libraries that it loads from the system are part of it",
        ))
    }

    /// The journal of a shard, and the trials that have run.
    ///
    /// # Errors
    /// As [`TrialJournal::open`].
    pub fn journal(
        &self,
        folder: &ResultFolder,
        shard: Shard,
    ) -> Result<(TrialJournal, Vec<Record>), SearchError> {
        let mut identity = self.sweep.clone();
        identity["shard"] = json!([shard.number(), self.shards]);
        folder.journal(&journal_name(shard), &identity)
    }

    /// The trials of all shards. Every one has to have run.
    pub fn gather(
        &self,
        folder: &ResultFolder,
        to_error: impl Fn(SearchError) -> AppError,
    ) -> Result<Vec<Record>, AppError> {
        let mut all = Vec::new();
        for number in 1..=self.shards {
            let shard = Shard::new(number, self.shards).map_err(&to_error)?;
            let path = folder.path().join(journal_name(shard));
            let lacks = |problem: String| {
                let help =
                    format!("run sweep run --shard {number}, or copy its {} here", journal_name(shard));
                AppError::invalid(problem).help(help)
            };
            if !path.exists() {
                return Err(lacks(format!("{}: shard {number} is missing", path.display())));
            }
            let (_, records) = self.journal(folder, shard).map_err(&to_error)?;
            let ran: BTreeSet<u64> =
                records.iter().filter(|record| record.rung == 0).map(|record| record.trial).collect();
            let missing = shard.trials(self.sets).filter(|trial| !ran.contains(trial)).count();
            if missing > 0 {
                let shown = path.display();
                return Err(lacks(format!("{shown}: {missing} trials of shard {number} have not run")));
            }
            all.extend(records);
        }
        Ok(all)
    }
}

fn journal_name(shard: Shard) -> String {
    format!("shard-{}.jsonl", shard.number())
}
