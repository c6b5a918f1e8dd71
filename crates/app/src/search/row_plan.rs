//! The plan of many runs that know nothing of each other, and their parts: a file of rows each, that come together again.

use super::folder::ResultFolder;
use super::plan::{
    OtherProgram, PLAN_FILE, PLAN_FORMAT, PlanDifferences, PlanPlace, PlannedCommand, read_plan,
};
use super::plan_checks::{check_candles, check_identity, check_program};
use super::planned_candles::PlannedCandles;
use crate::backtest::PreparedBacktest;
use crate::candles::{CandleChoice, SeriesContent};
use crate::configuration::Loaded;
use crate::error::AppError;
use crate::program_hash::Program;
use candlewick_search::sweep::Shard;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The outcome of one of the runs, that knows which it is.
pub trait PlannedRow: Serialize + DeserializeOwned {
    /// Which of them, from 0.
    fn place(&self) -> u64;
}

/// Runs that know nothing of each other, and into how many parts they are cut; `A` is what was asked for. Whoever has it needs neither
/// arguments nor configuration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RowPlan<A> {
    format: u64,
    command: PlannedCommand,
    /// Runs in all.
    pub sets: u64,
    /// Into how many shards they are cut.
    pub shards: u64,
    /// The program that made the plan.
    pub program: Program,
    arguments: PlannedArguments<A>,
    configuration: Value,
    candles: Vec<SeriesContent>,
    sweep: Value,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlannedArguments<A> {
    #[serde(flatten)]
    own: A,
    #[serde(flatten)]
    candles: PlannedCandles,
}

/// What all runs begin with, as it was prepared.
pub(crate) struct RowPlanBasis<'a> {
    /// What is repeated or resampled.
    pub(crate) prepared: &'a PreparedBacktest,
    /// Of which candles.
    pub(crate) choice: &'a CandleChoice,
    /// The sections of the configuration that decide the runs.
    pub(crate) sections: &'a Value,
    /// Everything that decides them.
    pub(crate) identity: &'a Value,
}

impl<A: Serialize + DeserializeOwned> RowPlan<A> {
    /// Cuts `sets` runs into shards.
    ///
    /// # Errors
    /// The program itself cannot be read.
    pub(crate) fn new(
        command: PlannedCommand,
        (sets, shards): (u64, u64),
        own: A,
        basis: &RowPlanBasis<'_>,
    ) -> Result<Self, AppError> {
        Ok(Self {
            format: PLAN_FORMAT,
            command,
            sets,
            shards,
            program: Program::running()?,
            arguments: PlannedArguments {
                own,
                candles: PlannedCandles::of(basis.choice, &basis.prepared.loaded),
            },
            configuration: basis.sections.clone(),
            candles: basis.prepared.candles.contents.clone(),
            sweep: basis.identity.clone(),
        })
    }

    /// Writes it to the folder, over another plan; where.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &ResultFolder) -> Result<PathBuf, AppError> {
        folder.put(PLAN_FILE, |bytes| writeln!(bytes, "{:#}", json!(self)))
    }

    /// Reads one of a command.
    ///
    /// # Errors
    /// There is none, or it is none that this program understands, or another command's.
    pub(crate) fn read_of(path: &Path, command: PlannedCommand) -> Result<Self, AppError> {
        read_plan(path, command)
    }

    /// What was asked for.
    pub(crate) const fn own(&self) -> &A {
        &self.arguments.own
    }

    /// Its candles on this machine, and its configuration with them.
    pub(crate) fn loaded(&self, path: &Path, place: PlanPlace) -> Result<(CandleChoice, Loaded), AppError> {
        let choice = CandleChoice::of_plan(self.arguments.candles.clone(), place);
        let loaded = Loaded::of_plan(path, &self.configuration, choice.flags())?;
        Ok((choice, loaded))
    }

    /// Holds this program to that of the plan.
    ///
    /// # Errors
    /// It is another one, and that is refused.
    pub(crate) fn check_program(&self, others: OtherProgram) -> Result<PlanDifferences, AppError> {
        check_program(&self.program, others)
    }

    /// Holds what was prepared here to the plan; `done` says what is done with it.
    ///
    /// # Errors
    /// What differs: the candles of a series, a file that a parameter names, a setting.
    pub(crate) fn check(
        &self,
        (prepared, identity): (&PreparedBacktest, &Value),
        done: &str,
    ) -> Result<(), AppError> {
        check_candles(&self.candles, &prepared.candles.contents)?;
        check_identity(&self.sweep, identity, done)
    }

    /// The runs of a shard.
    ///
    /// # Errors
    /// There is no such shard.
    pub fn runs(&self, number: u64) -> Result<Range<u64>, AppError> {
        let shard = Shard::new(number, self.shards).map_err(|error| AppError::invalid(error.to_string()))?;
        Ok(shard.trials(self.sets))
    }

    /// Writes the rows of a shard, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put<R: PlannedRow>(
        &self,
        folder: &ResultFolder,
        (number, identity): (u64, &Value),
        rows: &[R],
    ) -> Result<PathBuf, AppError> {
        let mut identity = identity.clone();
        identity["shard"] = json!([number, self.shards]);
        folder.put_shard(&format!("shard-{number}.jsonl"), |bytes| {
            writeln!(bytes, "{}", json!({ "sweep": identity }))?;
            rows.iter().try_for_each(|row| {
                serde_json::to_writer(&mut *bytes, row)?;
                writeln!(bytes)
            })
        })
    }

    /// The rows of all shards, and what is to be said of who ran them. Every shard has to have run.
    ///
    /// # Errors
    /// A shard is missing, not whole, another's, or another program's where that is refused.
    pub fn gather<R: PlannedRow>(
        &self,
        folder: &ResultFolder,
        others: OtherProgram,
    ) -> Result<(Vec<R>, Vec<String>), AppError> {
        let (mut all, mut notices) = (Vec::new(), Vec::new());
        for number in 1..=self.shards {
            let (rows, notice) = self.gather_shard(folder, number, others)?;
            all.extend(rows);
            notices.extend(notice);
        }
        Ok((all, notices))
    }

    fn gather_shard<R: PlannedRow>(
        &self,
        folder: &ResultFolder,
        number: u64,
        others: OtherProgram,
    ) -> Result<(Vec<R>, Option<String>), AppError> {
        let name = format!("shard-{number}.jsonl");
        let (path, place) = (folder.bring(&name)?, folder.shown().join(&name));
        let (shown, command) = (place.display(), self.command.as_str());
        let lacks = |why: String| {
            let help = format!("run {command} run --shard {number}, or copy its {shown} here");
            AppError::invalid(format!("{shown}: {why}")).help(help)
        };
        let text = fs::read_to_string(&path)
            .map_err(|error| lacks(format!("shard {number} is missing: {error}")))?;
        let (head, rows) = parsed::<R>(&text).map_err(|error| lacks(format!("it is no shard: {error}")))?;
        let (mut planned, mut found, mut notice) = (self.sweep.clone(), head["sweep"].clone(), None);
        planned["shard"] = json!([number, self.shards]);
        let program = found["program"].take();
        if program != planned["program"].take() {
            let problem = format!("shard {number} was run by another program than made the plan");
            if others == OtherProgram::Refused {
                return Err(AppError::invalid(format!("{shown}: {problem}")).help(
                    "run it again with the program of the plan; --allow-other-program takes it, and the report says so",
                ));
            }
            notice = Some(problem);
        }
        if found != planned {
            return Err(lacks("it holds rows of another plan".to_owned()));
        }
        if !rows.iter().map(PlannedRow::place).eq(self.runs(number)?) {
            return Err(lacks(format!("not all rows of shard {number} are in it")));
        }
        Ok((rows, notice))
    }
}

fn parsed<R: PlannedRow>(text: &str) -> io::Result<(Value, Vec<R>)> {
    let mut lines = text.lines();
    let head = serde_json::from_str(lines.next().unwrap_or_default())?;
    let rows = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok((head, rows))
}
