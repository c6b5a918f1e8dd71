//! The plan of a sweep or a walk in parts: all that a machine needs to run one, besides the program and the candles.

use super::LayoutTerms;
use super::folder::ResultFolder;
use super::prepared::{PreparedSearch, SearchTerms};
use crate::candles::{CandleChoice, SeriesContent};
use crate::configuration::Loaded;
use crate::error::AppError;
use crate::program_hash::Program;
use crate::progress::Progress;
use candlewick_sdk::{Millis, Registry};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The name of a plan in the folder of its sweep.
pub const PLAN_FILE: &str = "plan.json";
/// What a plan begins with; another program may not understand another number.
pub(crate) const PLAN_FORMAT: u64 = 3;

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
    objective: String,
    min_trades: u64,
    halving: Option<u32>,
    rungs: u32,
    /// Where the candles lay on the machine that made the plan.
    data: Vec<String>,
    catalog: Option<PathBuf>,
    from: Option<Millis>,
    to: Option<Millis>,
    allow_coarse: bool,
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
        }
    }

    /// As it is told.
    const fn title(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
            Self::WalkForward => "walk forward",
            Self::MonteCarlo => "Monte Carlo",
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
        let (config, search) = (&prepared.loaded.config, prepared.sweep.search);
        let catalog = prepared.loaded.is_set("data.catalog").then(|| config.data.catalog.clone());
        let arguments = PlannedArguments {
            param: terms.parameters.clone(),
            conditions: terms.conditions.clone(),
            bot: terms.bot.clone(),
            search: search.search.as_str().to_owned(),
            trials: terms.trials,
            seed: terms.seed,
            objective: terms.objective.as_str().to_owned(),
            min_trades: terms.min_trades,
            halving: terms.halving,
            rungs: terms.rungs,
            data: config.sandbox.data.clone(),
            catalog,
            from: terms.candles.from,
            to: terms.candles.to,
            allow_coarse: terms.candles.allow_coarse,
        };
        Ok(Self {
            format: PLAN_FORMAT,
            command: if walk.is_some() { PlannedCommand::WalkForward } else { PlannedCommand::Sweep },
            sets,
            shards,
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
        if plan.shards == 0 || plan.walk.is_some() != (command == PlannedCommand::WalkForward) {
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
        let is_elsewhere = !place.data.is_empty() || place.catalog.is_some();
        let (data, catalog) =
            if is_elsewhere { (place.data, place.catalog) } else { (planned.data, planned.catalog) };
        Ok(SearchTerms {
            search: Some(search.parse().map_err(|why| unknown("search", why))?),
            objective: objective.parse().map_err(|why| unknown("objective", why))?,
            parameters: planned.param,
            conditions: planned.conditions,
            bot: planned.bot,
            trials: planned.trials,
            seed: planned.seed,
            min_trades: planned.min_trades,
            halving: planned.halving,
            rungs: planned.rungs,
            threads: place.threads,
            candles: CandleChoice {
                data,
                catalog,
                from: planned.from,
                to: planned.to,
                allow_coarse: planned.allow_coarse,
                // The plan's bots trade by it.
                rules: None,
            },
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
        let differs = |key: &&String| *key != "program" && self.sweep.get(*key) != identity.get(*key);
        let keys = identity.as_object().into_iter().flat_map(|identity| identity.keys()).filter(differs);
        let keys: Vec<&str> = keys.map(String::as_str).collect();
        if keys.contains(&"files") {
            return Err(AppError::data(format!(
                "{} is not what it was when the plan was made",
                self.other_files(identity)
            ))
            .help("bring the files that parameters name here as they were there"));
        }
        if !keys.is_empty() {
            let problem =
                format!("what is searched here is not what was planned: it differs in: {}", keys.join(", "));
            return Err(AppError::invalid(problem)
                .help("settings of the environment are laid under the plan: unset what is not in it"));
        }
        Ok(found)
    }

    /// The files that are others here.
    fn other_files(&self, identity: &Value) -> String {
        let of = |whose: &Value| whose["files"].as_object().cloned().unwrap_or_default();
        let (planned, here) = (of(&self.sweep), of(identity));
        let differs = |name: &&String| planned.get(*name) != here.get(*name);
        let names: std::collections::BTreeSet<&String> =
            planned.keys().chain(here.keys()).filter(differs).collect();
        names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// Reads a command's plan.
///
/// # Errors
/// There is none, or it is none that this program understands, or another command's.
pub(crate) fn read_plan<P: DeserializeOwned>(path: &Path, command: PlannedCommand) -> Result<P, AppError> {
    let (shown, typed, title) = (path.display(), command.as_str(), command.title());
    if !path.exists() {
        let help = format!("make one with {typed} plan, or copy it here from where it was made");
        return Err(AppError::invalid(format!("{shown}: there is no plan")).help(help));
    }
    let text = fs::read(path).map_err(|error| {
        let problem = format!("{shown}: the plan cannot be read");
        AppError::invalid(problem).because(error)
    })?;
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

/// Holds this program to that of a plan.
pub(crate) fn check_program(planned: &Program, others: OtherProgram) -> Result<PlanDifferences, AppError> {
    let (own, mut found) = (Program::running()?, PlanDifferences::default());
    if own.hash != planned.hash {
        let problem = format!("this is another program than made the plan: {own}, not {planned}");
        if others == OtherProgram::Refused {
            return Err(AppError::invalid(problem).help(
                "run the program that made it; --allow-other-program runs this one, and the report says so",
            ));
        }
        found.allowed.push(problem);
    }
    let libraries = own.other_libraries(planned);
    if !libraries.is_empty() {
        found.noted.push(format!(
            "libraries of the system differ from those where the plan was made: {}",
            libraries.join(", ")
        ));
    }
    Ok(found)
}

/// Holds the candles here to those of a plan.
pub(crate) fn check_candles(plan: &[SeriesContent], here: &[SeriesContent]) -> Result<(), AppError> {
    let text = |one: &SeriesContent| {
        let SeriesContent { candles, start, end, hash, .. } = one;
        let [start, end] = [*start, *end].map(candlewick_records::utc);
        format!("{candles} candles from {start} to {end} ({})", &hash[..hash.len().min(12)])
    };
    for planned in plan {
        let name = &planned.series;
        let found = here.iter().find(|one| one.series == *name);
        if found == Some(planned) {
            continue;
        }
        let found =
            found.map_or_else(|| "there are none".to_owned(), |found| format!("there are {}", text(found)));
        let problem =
            format!("the candles of {name} are not those of the plan: {}; here {found}", text(planned));
        return Err(AppError::data(problem).help("--data or --catalog says where they lie on this machine"));
    }
    let more = here.iter().find(|one| plan.iter().all(|planned| planned.series != one.series));
    let Some(more) = more else { return Ok(()) };
    let problem = format!("the candles of {} are not in the plan, and would price its trades", more.series);
    Err(AppError::data(problem).help("--data names the files of the plan's series alone"))
}
