//! The plan of a Monte Carlo in parts, and the parts.

use super::{MonteCarloTerms, PreparedMonteCarlo, Resampling};
use crate::candles::{CandleChoice, SeriesContent};
use crate::configuration::Loaded;
use crate::error::AppError;
use crate::program_hash::Program;
use crate::progress::Progress;
use crate::search::{
    OtherProgram, PLAN_FILE, PLAN_FORMAT, PlanDifferences, PlanPlace, PlannedCommand, ResultFolder,
    check_candles, check_program, read_plan,
};
use candlewick_sdk::{Millis, Registry};
use candlewick_search::monte_carlo::PathRow;
use candlewick_search::sweep::Shard;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A Monte Carlo, and into how many parts it is cut.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MonteCarloPlan {
    format: u64,
    command: PlannedCommand,
    /// Paths in all.
    pub sets: u64,
    /// Into how many shards they are cut.
    pub shards: u64,
    /// The program that made the plan.
    pub program: Program,
    arguments: PlannedArguments,
    configuration: Value,
    candles: Vec<SeriesContent>,
    sweep: Value,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlannedArguments {
    resampling: Resampling,
    block: Option<f64>,
    seed: u64,
    data: Vec<String>,
    catalog: Option<PathBuf>,
    from: Option<Millis>,
    to: Option<Millis>,
    allow_coarse: bool,
}

impl PreparedMonteCarlo<'_> {
    /// Cuts it into shards.
    ///
    /// # Errors
    /// The program itself cannot be read.
    pub fn plan(&self, shards: u64) -> Result<MonteCarloPlan, AppError> {
        let (terms, config) = (&self.terms, &self.prepared.loaded.config);
        let is_set = self.prepared.loaded.is_set("data.catalog");
        Ok(MonteCarloPlan {
            format: PLAN_FORMAT,
            command: PlannedCommand::MonteCarlo,
            sets: terms.paths,
            shards,
            program: Program::running()?,
            arguments: PlannedArguments {
                resampling: terms.resampling,
                block: terms.block,
                seed: terms.seed,
                data: config.sandbox.data.clone(),
                catalog: is_set.then(|| config.data.catalog.clone()),
                from: terms.candles.from,
                to: terms.candles.to,
                allow_coarse: terms.candles.allow_coarse,
            },
            configuration: self.sections.clone(),
            candles: self.prepared.candles.contents.clone(),
            sweep: self.identity.clone(),
        })
    }
}

impl MonteCarloPlan {
    /// Writes it to the folder; where.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &ResultFolder) -> Result<PathBuf, AppError> {
        folder.put(PLAN_FILE, |bytes| writeln!(bytes, "{:#}", json!(self)))
    }

    /// Reads it.
    ///
    /// # Errors
    /// There is none, or it is none that this program understands, or another command's.
    pub fn read(path: &Path) -> Result<Self, AppError> {
        read_plan(path, PlannedCommand::MonteCarlo)
    }

    /// Reads and checks all that it needs here, and holds it to the plan.
    ///
    /// # Errors
    /// What differs: the program, the candles of a series, a setting.
    pub fn prepare<'a>(
        &self,
        (path, place): (&Path, PlanPlace),
        others: OtherProgram,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<(PreparedMonteCarlo<'a>, PlanDifferences), AppError> {
        let planned = self.arguments.clone();
        let is_elsewhere = !place.data.is_empty() || place.catalog.is_some();
        let (data, catalog) =
            if is_elsewhere { (place.data, place.catalog) } else { (planned.data, planned.catalog) };
        let candles = CandleChoice {
            data,
            catalog,
            from: planned.from,
            to: planned.to,
            allow_coarse: planned.allow_coarse,
            rules: None,
        };
        let found = check_program(&self.program, others)?;
        let loaded = Loaded::of_plan(path, &self.configuration, candles.flags())?;
        let terms = MonteCarloTerms {
            resampling: planned.resampling,
            paths: self.sets,
            block: planned.block,
            seed: planned.seed,
            threads: place.threads,
            candles,
        };
        let prepared = terms.prepare_loaded(loaded, registry, progress)?;
        check_candles(&self.candles, &prepared.prepared.candles.contents)?;
        let keys = prepared.identity.as_object().into_iter().flat_map(|identity| identity.keys());
        let differs =
            |key: &&String| *key != "program" && self.sweep.get(*key) != prepared.identity.get(*key);
        let keys: Vec<&str> = keys.filter(differs).map(String::as_str).collect();
        if !keys.is_empty() {
            let keys = keys.join(", ");
            let problem = format!("what is resampled here is not what was planned: it differs in: {keys}");
            return Err(AppError::invalid(problem)
                .help("settings of the environment are laid under the plan: unset what is not in it"));
        }
        Ok((prepared, found))
    }

    /// The paths of a shard.
    ///
    /// # Errors
    /// There is no such shard.
    pub fn paths(&self, number: u64) -> Result<Range<u64>, AppError> {
        let shard = Shard::new(number, self.shards).map_err(|error| AppError::invalid(error.to_string()))?;
        Ok(shard.trials(self.sets))
    }

    /// Writes the paths of a shard, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(
        &self,
        folder: &ResultFolder,
        (number, identity): (u64, &Value),
        rows: &[PathRow],
    ) -> Result<PathBuf, AppError> {
        let mut identity = identity.clone();
        identity["shard"] = json!([number, self.shards]);
        folder.put(&format!("shard-{number}.jsonl"), |bytes| {
            writeln!(bytes, "{}", json!({ "sweep": identity }))?;
            rows.iter().try_for_each(|row| {
                serde_json::to_writer(&mut *bytes, row)?;
                writeln!(bytes)
            })
        })
    }

    /// The paths of all shards. Every one has to have run.
    ///
    /// # Errors
    /// A shard is missing, not whole, another's, or another program's where that is refused.
    pub fn gather(
        &self,
        folder: &ResultFolder,
        others: OtherProgram,
    ) -> Result<(Vec<PathRow>, Vec<String>), AppError> {
        let (mut all, mut notices) = (Vec::new(), Vec::new());
        for number in 1..=self.shards {
            let path = folder.path().join(format!("shard-{number}.jsonl"));
            let shown = path.display();
            let lacks = |why: String| {
                let help = format!("run monte-carlo run --shard {number}, or copy its {shown} here");
                AppError::invalid(format!("{shown}: {why}")).help(help)
            };
            let text = fs::read_to_string(&path)
                .map_err(|error| lacks(format!("shard {number} is missing: {error}")))?;
            let (head, rows) = parsed(&text).map_err(|error| lacks(format!("it is no shard: {error}")))?;
            let (mut planned, mut found) = (self.sweep.clone(), head["sweep"].clone());
            planned["shard"] = json!([number, self.shards]);
            let program = found["program"].take();
            if program != planned["program"].take() {
                let problem = format!("shard {number} was run by another program than made the plan");
                if others == OtherProgram::Refused {
                    return Err(AppError::invalid(format!("{shown}: {problem}")).help(
                        "run it again with the program of the plan; --allow-other-program takes it, and the report says so",
                    ));
                }
                notices.push(problem);
            }
            if found != planned {
                return Err(lacks("it holds paths of another plan".to_owned()));
            }
            if !rows.iter().map(|row| row.path).eq(self.paths(number)?) {
                return Err(lacks(format!("not all paths of shard {number} are in it")));
            }
            all.extend(rows);
        }
        Ok((all, notices))
    }
}

fn parsed(text: &str) -> io::Result<(Value, Vec<PathRow>)> {
    let mut lines = text.lines();
    let head = serde_json::from_str(lines.next().unwrap_or_default())?;
    let rows = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok((head, rows))
}
