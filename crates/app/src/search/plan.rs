//! The plan of a sweep or a walk in parts: all that a machine needs to run one, besides the program and the candles.

use super::LayoutTerms;
use super::folder::ResultFolder;
use super::plan_checks::{check_candles, check_identity, check_program};
use super::planned_candles::PlannedCandles;
use super::prepared::{PreparedSearch, SearchTerms};
use crate::candles::{CandleChoice, SeriesContent};
use crate::configuration::Loaded;
use crate::error::AppError;
use crate::program_hash::Program;
use crate::progress::Progress;
use crate::storage::{self, is_address};
use candlewick_sdk::Registry;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io::{ErrorKind, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

/// The name of a plan in the folder of its sweep.
pub const PLAN_FILE: &str = "plan.json";
/// What a plan begins with; another program may not understand another number.
pub(super) const PLAN_FORMAT: u64 = 3;

/// Whose parts a plan is of: the command that runs them and puts them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedCommand {
    /// `sweep`.
    Sweep,
    /// `walk-forward`.
    WalkForward,
    /// `monte-carlo`.
    MonteCarlo,
    /// `sensitivity`.
    Sensitivity,
}

/// A sweep or a walk, and into how many parts it is cut. Whoever has it needs neither arguments nor configuration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchPlan {
    format: u64,
    /// The command that runs its shards.
    pub command: PlannedCommand,
    /// Sets that each search tries, before any halving.
    pub sets: u64,
    /// Into how many shards they are cut.
    pub shards: u64,
    /// How many rounds the shards make, where each round needs what came of those before it: the shards of the first come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<NonZeroU64>,
    /// How a walk divides the candles; nothing of a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<PlannedWalk>,
    /// The program that made the plan.
    pub program: Program,
    arguments: PlannedArguments,
    /// The sections that decide a trial.
    configuration: Value,
    candles: Vec<SeriesContent>,
    /// Everything that decides the trials, as it stands at the head of their journals.
    pub(super) sweep: Value,
}

/// How the candles are divided, and into how many windows they come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedWalk {
    /// As it was asked for.
    pub layout: LayoutTerms,
    /// Each of them is cut into the same number of shards.
    pub windows: u64,
}

/// What the search was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlannedArguments {
    param: Vec<String>,
    #[serde(rename = "where")]
    conditions: Vec<String>,
    bot: Option<String>,
    search: String,
    trials: Option<u64>,
    seed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    batch: Option<NonZeroU64>,
    objective: String,
    min_trades: u64,
    halving: Option<u32>,
    rungs: u32,
    #[serde(flatten)]
    candles: PlannedCandles,
}

/// What is a machine's own in a sweep that was planned elsewhere.
#[derive(Clone, Debug, Default)]
pub struct PlanPlace {
    /// As [`CandleChoice::data`]; where the plan says, if there is none.
    pub data: Vec<String>,
    /// As [`CandleChoice::catalog`].
    pub catalog: Option<PathBuf>,
    /// As [`SearchTerms::threads`].
    pub threads: Option<NonZeroUsize>,
}

/// Whether a program may run or merge what another one planned or ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherProgram {
    /// Its results may be others: it may not.
    Refused,
    /// The user says that it makes no difference, and the report says that the user does.
    Allowed,
}

/// In what a machine differs from the one that made a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDifferences {
    /// What the user said is to be taken all the same: the report states it.
    pub allowed: Vec<String>,
    /// What decides nothing, and is said.
    pub noted: Vec<String>,
}

impl PlannedCommand {
    /// As it is typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
            Self::WalkForward => "walk-forward",
            Self::MonteCarlo => "monte-carlo",
            Self::Sensitivity => "sensitivity",
        }
    }

    /// As it is told.
    const fn title(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
            Self::WalkForward => "walk forward",
            Self::MonteCarlo => "Monte Carlo",
            Self::Sensitivity => "sensitivity",
        }
    }
}

impl SearchPlan {
    /// Of a search with this identity, on this machine.
    pub fn new(
        (sets, shards, walk): (u64, u64, Option<PlannedWalk>),
        (terms, prepared): (&SearchTerms, &PreparedSearch<'_>),
        identity: Value,
    ) -> Result<Self, AppError> {
        let search = prepared.sweep.search;
        let arguments = PlannedArguments {
            param: terms.parameters.clone(),
            conditions: terms.conditions.clone(),
            bot: terms.bot.clone(),
            search: search.search.as_str().to_owned(),
            trials: terms.trials,
            seed: terms.seed,
            batch: terms.batch,
            objective: terms.objective.as_str().to_owned(),
            min_trades: terms.min_trades,
            halving: terms.halving,
            rungs: terms.rungs,
            candles: PlannedCandles::of(&terms.candles, &prepared.loaded),
        };
        Ok(Self {
            format: PLAN_FORMAT,
            command: if walk.is_some() { PlannedCommand::WalkForward } else { PlannedCommand::Sweep },
            sets,
            shards,
            rounds: None,
            walk,
            program: Program::running()?,
            arguments,
            configuration: prepared.sections.clone(),
            candles: prepared.candles.contents.clone(),
            sweep: identity,
        })
    }

    /// Writes it to the folder, over the plan of another sweep; where.
    pub fn write(&self, folder: &ResultFolder) -> Result<PathBuf, AppError> {
        folder.put(PLAN_FILE, |bytes| writeln!(bytes, "{:#}", json!(self)))
    }

    /// Reads one of a command.
    ///
    /// # Errors
    /// There is none, or it is none that this program understands, or another command's.
    pub fn read(path: &Path, command: PlannedCommand) -> Result<Self, AppError> {
        let plan: Self = read_plan(path, command)?;
        let rounds = plan.rounds.map_or(1, NonZeroU64::get);
        if plan.shards == 0
            || !plan.shards.is_multiple_of(rounds)
            || plan.walk.is_some() != (command == PlannedCommand::WalkForward)
        {
            return Err(AppError::invalid(format!("{}: the plan is not whole", path.display())));
        }
        Ok(plan)
    }

    /// What it searches, with the candles of this machine.
    ///
    /// # Errors
    /// A search or an objective that this program does not have.
    pub fn terms(&self, place: PlanPlace) -> Result<SearchTerms, AppError> {
        let PlannedArguments { search, objective, .. } = &self.arguments;
        let unknown = |what: &str, why: String| AppError::invalid(format!("the plan's {what}: {why}"));
        let planned = self.arguments.clone();
        Ok(SearchTerms {
            search: Some(search.parse().map_err(|why| unknown("search", why))?),
            objective: objective.parse().map_err(|why| unknown("objective", why))?,
            parameters: planned.param,
            conditions: planned.conditions,
            bot: planned.bot,
            trials: planned.trials,
            seed: planned.seed,
            batch: planned.batch,
            min_trades: planned.min_trades,
            halving: planned.halving,
            rungs: planned.rungs,
            threads: place.threads,
            candles: CandleChoice::of_plan(planned.candles, place),
        })
    }

    /// Reads and checks all that `terms` of this plan, which is in `path`, need here.
    ///
    /// # Errors
    /// As [`SearchTerms::prepare`].
    pub fn prepare<'a>(
        &self,
        path: &Path,
        terms: &SearchTerms,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedSearch<'a>, AppError> {
        let loaded = Loaded::of_plan(path, &self.configuration, terms.candles.flags())?;
        terms.prepare_loaded(loaded, registry, progress)
    }

    /// Holds what was prepared here to the plan.
    ///
    /// # Errors
    /// What differs: the program, the candles of a series, a file that a parameter names, a setting.
    pub fn check(
        &self,
        (prepared, identity): (&PreparedSearch<'_>, &Value),
        others: OtherProgram,
    ) -> Result<PlanDifferences, AppError> {
        let found = check_program(&self.program, others)?;
        check_candles(&self.candles, &prepared.candles.contents)?;
        check_identity(&self.sweep, identity, "searched")?;
        Ok(found)
    }
}

/// Reads a command's plan.
///
/// # Errors
/// There is none, or it is none that this program understands, or another command's.
pub(super) fn read_plan<P: DeserializeOwned>(path: &Path, command: PlannedCommand) -> Result<P, AppError> {
    let (shown, typed, title) = (path.display(), command.as_str(), command.title());
    let there = if is_address(path) {
        storage::read(path)?
    } else {
        match fs::read(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                let problem = format!("{shown}: the plan cannot be read");
                return Err(AppError::invalid(problem).because(error));
            }
        }
    };
    let Some(text) = there else {
        let help = format!("make one with {typed} plan, or copy it here from where it was made");
        return Err(AppError::invalid(format!("{shown}: there is no plan")).help(help));
    };
    let no_plan = |why: String| AppError::invalid(format!("{shown}: it is not the plan of a {title}: {why}"));
    let value: Value = serde_json::from_slice(&text).map_err(|error| no_plan(error.to_string()))?;
    let format = value.get("format").and_then(Value::as_u64);
    if format != Some(PLAN_FORMAT) {
        let help =
            format!("make it anew with {typed} plan: this program reads plans of format {PLAN_FORMAT}");
        let why = format.map_or("it has no format".to_owned(), |other| format!("its format is {other}"));
        return Err(no_plan(why).help(help));
    }
    let own = value.get("command").and_then(Value::as_str).unwrap_or_default();
    if own != typed {
        return Err(no_plan(format!("{own} made it")).help(format!("{own} run and {own} merge take it")));
    }
    serde_json::from_value(value).map_err(|error| no_plan(error.to_string()))
}
