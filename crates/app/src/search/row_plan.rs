//! Plans of independent runs, split into shards. Each shard writes one file of rows.

use super::folder::ResultFolder;
use super::plan::{
    PLAN_FILE, PLAN_FORMAT, PlanDifferences, PlanLocation, PlannedArguments, PlannedCandles, PlannedCommand,
    ProgramMismatchPolicy, check_candles, check_identity, check_program, notice_or_error, read_plan,
};
use super::prepared::{hash_bot_files, sections_affecting_results};
use crate::backtest::{BacktestOptions, PreparedBacktest, Strategies};
use crate::candles::{CandleChoice, SeriesContent};
use crate::configuration::LoadedConfig;
use crate::error::{AppError, Result};
use crate::program_hash::{Program, program_hash};
use crate::progress::Progress;
use candlewick_sdk::Registry;
use candlewick_search::sweep::Shard;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub trait PlannedRow: Serialize + DeserializeOwned {
    /// Index of the run, 0-based.
    fn index(&self) -> u64;
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RowPlan<A> {
    format: u64,
    command: PlannedCommand,
    pub sets: u64,
    pub shards: u64,
    pub program: Program,
    arguments: PlannedArguments<A>,
    configuration: Value,
    candles: Vec<SeriesContent>,
    sweep: Value,
}

pub(crate) struct RowPlanBasis<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) prepared: PreparedBacktest,
    choice: CandleChoice,
    sections: Value,
}

impl<'a> RowPlanBasis<'a> {
    pub(crate) fn prepare(
        choice: CandleChoice,
        loaded: LoadedConfig,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<(Self, Strategies)> {
        let sections = sections_affecting_results(&loaded);
        let terms = BacktestOptions { candles: choice.clone(), ..BacktestOptions::default() };
        let (prepared, strategies) = terms.prepare_loaded(loaded, registry, progress)?;
        Ok((Self { registry, prepared, choice, sections }, strategies))
    }

    /// Adds all other inputs that determine the rows to `own`, the arguments of the command.
    pub(crate) fn identity(&self, mut own: Value) -> Result<Value> {
        own["program"] = json!(program_hash()?);
        own["strategies"] = json!(self.prepared.header.strategies);
        own["data_hash"] = json!(self.prepared.candles.hash);
        own["files"] = json!(hash_bot_files(&self.prepared.settings.session.bots)?);
        own["settings"] = json!(self.prepared.settings);
        Ok(own)
    }
}

impl<A: Serialize + DeserializeOwned> RowPlan<A> {
    pub(crate) fn new(
        command: PlannedCommand,
        (sets, shards): (u64, u64),
        own: A,
        (basis, identity): (&RowPlanBasis<'_>, &Value),
    ) -> Result<Self> {
        let candles =
            PlannedCandles::new(&basis.choice, &basis.prepared.loaded, &basis.prepared.candles.evidence);
        Ok(Self {
            format: PLAN_FORMAT,
            command,
            sets,
            shards,
            program: Program::current()?,
            arguments: PlannedArguments { own, candles },
            configuration: basis.sections.clone(),
            candles: basis.prepared.candles.contents.clone(),
            sweep: identity.clone(),
        })
    }

    pub fn write(&self, folder: &ResultFolder) -> Result<PathBuf> {
        folder.put(PLAN_FILE, |bytes| writeln!(bytes, "{:#}", json!(self)))
    }

    pub fn read(path: &Path, command: PlannedCommand) -> Result<Self> {
        read_plan(path, command)
    }

    pub(crate) const fn own_arguments(&self) -> &A {
        &self.arguments.own
    }

    pub(crate) fn load_configuration(
        &self,
        path: &Path,
        place: PlanLocation,
    ) -> Result<(CandleChoice, LoadedConfig)> {
        let choice = CandleChoice::from_plan(self.arguments.candles.clone(), place);
        let loaded = LoadedConfig::from_plan(path, &self.configuration, choice.flags())?;
        Ok((choice, loaded))
    }

    pub(crate) fn check_program(&self, others: ProgramMismatchPolicy) -> Result<PlanDifferences> {
        check_program(&self.program, others)
    }

    pub(crate) fn check(&self, (basis, identity): (&RowPlanBasis<'_>, &Value)) -> Result<()> {
        check_candles(&self.candles, &basis.prepared.candles.contents)?;
        check_identity(&self.sweep, identity)
    }

    pub fn shard_rows(&self, number: u64) -> Result<Range<u64>> {
        let shard = Shard::new(number, self.shards).map_err(|error| AppError::invalid(error.to_string()))?;
        Ok(shard.trials(self.sets))
    }

    pub fn write_rows<R: PlannedRow>(
        &self,
        folder: &ResultFolder,
        (number, identity): (u64, &Value),
        rows: &[R],
    ) -> Result<PathBuf> {
        let mut identity = identity.clone();
        identity["shard"] = json!([number, self.shards]);
        folder.write_shard(&format!("shard-{number}.jsonl"), |bytes| {
            writeln!(bytes, "{}", json!({ "sweep": identity }))?;
            rows.iter().try_for_each(|row| {
                serde_json::to_writer(&mut *bytes, row)?;
                writeln!(bytes)
            })
        })
    }

    pub fn gather<R: PlannedRow>(
        &self,
        folder: &ResultFolder,
        others: ProgramMismatchPolicy,
    ) -> Result<(Vec<R>, Vec<String>)> {
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
        others: ProgramMismatchPolicy,
    ) -> Result<(Vec<R>, Option<String>)> {
        let name = format!("shard-{number}.jsonl");
        let (path, place) = (folder.download(&name)?, folder.display_path().join(&name));
        let (shown, command) = (place.display(), self.command.as_str());
        let lacks = |why: String| {
            let command = format!("candlewick {command} run --shard {number}");
            let help = format!("run `{command}`, or copy {shown} from another machine");
            AppError::invalid(format!("{shown}: {why}")).with_help(help)
        };
        let text = fs::read_to_string(&path)
            .map_err(|error| lacks(format!("shard {number} is missing: {error}")))?;
        let (head, rows) = parse_rows::<R>(&text).map_err(|error| lacks(format!("not a shard: {error}")))?;
        let (mut planned, mut found, mut notice) = (self.sweep.clone(), head["sweep"].clone(), None);
        planned["shard"] = json!([number, self.shards]);
        let program = found["program"].take();
        if program != planned["program"].take() {
            let problem = format!("shard {number} was not run by the program that planned it");
            notice = Some(notice_or_error(&place, problem, others)?);
        }
        if found != planned {
            return Err(lacks("the rows belong to another plan".to_owned()));
        }
        if !rows.iter().map(PlannedRow::index).eq(self.shard_rows(number)?) {
            return Err(lacks(format!("rows of shard {number} are missing")));
        }
        Ok((rows, notice))
    }
}

fn parse_rows<R: PlannedRow>(text: &str) -> io::Result<(Value, Vec<R>)> {
    let mut lines = text.lines();
    let head = serde_json::from_str(lines.next().unwrap_or_default())?;
    let rows = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok((head, rows))
}
