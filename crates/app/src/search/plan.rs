//! Plans of sharded searches: everything that a machine needs except the program and the candles.

use super::LayoutSpec;
use super::folder::ResultFolder;
use super::prepared::{PreparedSearch, SearchOptions};
use crate::candles::{CandleChoice, SeriesContent};
use crate::configuration::LoadedConfig;
use crate::error::{AppError, Result};
use crate::evidence::SealUse;
use crate::program_hash::Program;
use crate::progress::Progress;
use crate::storage::{self, is_storage_url};
use candlewick_sdk::{Millis, Registry};
use candlewick_search::evidence::EvidenceKind;
use chrono::NaiveDate;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

pub const PLAN_FILE: &str = "plan.json";
pub(super) const PLAN_FORMAT: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedCommand {
    Sweep,
    WalkForward,
    MonteCarlo,
    Sensitivity,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchPlan {
    format: u64,
    pub command: PlannedCommand,
    pub sets: u64,
    pub shards: u64,
    /// Number of rounds of an adaptive search, `None` for other searches. Shards are numbered round by round.
    /// Each round needs the results of all earlier rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<PlannedWalk>,
    pub program: Program,
    arguments: PlannedArguments<SearchOptions>,
    configuration: Value,
    candles: Vec<SeriesContent>,
    pub(super) sweep: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedWalk {
    pub layout: LayoutSpec,
    /// Number of windows. All windows have the same number of shards.
    pub windows: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlannedArguments<A> {
    #[serde(flatten)]
    pub(super) own: A,
    #[serde(flatten)]
    pub(super) candles: PlannedCandles,
}

#[derive(Clone, Debug, Default)]
pub struct PlanLocation {
    /// Candle files or series. If the list is empty, the candles named in the plan are used.
    pub data: Vec<String>,
    pub catalog: Option<PathBuf>,
    pub threads: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramMismatchPolicy {
    Refused,
    /// Accepts results that a different build of the program computed. The report notes that the builds differ.
    Allowed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDifferences {
    pub allowed: Vec<String>,
    /// Descriptions of differences that cannot change a result.
    pub harmless: Vec<String>,
}

impl PlannedCommand {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
            Self::WalkForward => "walk-forward",
            Self::MonteCarlo => "monte-carlo",
            Self::Sensitivity => "sensitivity",
        }
    }
}

impl SearchPlan {
    pub fn new(
        (sets, shards, walk): (u64, u64, Option<PlannedWalk>),
        (terms, prepared): (&SearchOptions, &PreparedSearch<'_>),
        identity: Value,
    ) -> Result<Self> {
        let own = SearchOptions { search: Some(prepared.sweep.search.search), ..terms.clone() };
        let candles = PlannedCandles::new(&terms.candles, &prepared.loaded, &prepared.candles.evidence);
        Ok(Self {
            format: PLAN_FORMAT,
            command: if walk.is_some() { PlannedCommand::WalkForward } else { PlannedCommand::Sweep },
            sets,
            shards,
            rounds: None,
            walk,
            program: Program::current()?,
            arguments: PlannedArguments { own, candles },
            configuration: prepared.sections.clone(),
            candles: prepared.candles.contents.clone(),
            sweep: identity,
        })
    }

    pub fn write(&self, folder: &ResultFolder) -> Result<PathBuf> {
        folder.put(PLAN_FILE, |bytes| writeln!(bytes, "{:#}", json!(self)))
    }

    pub fn read(path: &Path, command: PlannedCommand) -> Result<Self> {
        let plan: Self = read_plan(path, command)?;
        let rounds = plan.rounds.map_or(1, NonZeroU64::get);
        if plan.shards == 0
            || !plan.shards.is_multiple_of(rounds)
            || plan.walk.is_some() != (command == PlannedCommand::WalkForward)
        {
            return Err(AppError::invalid(format!("{}: the plan is incomplete", path.display())));
        }
        Ok(plan)
    }

    pub fn options(&self, place: PlanLocation) -> SearchOptions {
        let PlannedArguments { own, candles } = self.arguments.clone();
        let threads = place.threads;
        SearchOptions { threads, candles: CandleChoice::from_plan(candles, place), ..own }
    }

    pub fn prepare<'a>(
        &self,
        path: &Path,
        terms: &SearchOptions,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedSearch<'a>> {
        let loaded = LoadedConfig::from_plan(path, &self.configuration, terms.candles.flags())?;
        terms.prepare_loaded(loaded, registry, progress)
    }

    pub fn check(
        &self,
        (prepared, identity): (&PreparedSearch<'_>, &Value),
        others: ProgramMismatchPolicy,
    ) -> Result<PlanDifferences> {
        let found = check_program(&self.program, others)?;
        check_candles(&self.candles, &prepared.candles.contents)?;
        check_identity(&self.sweep, identity)?;
        Ok(found)
    }
}

pub(super) fn read_plan<P: DeserializeOwned>(path: &Path, command: PlannedCommand) -> Result<P> {
    let (shown, typed) = (path.display(), command.as_str());
    let there = if is_storage_url(path) {
        storage::read(path)?
    } else {
        match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            read => Some(read.map_err(|error| {
                AppError::invalid(format!("{shown}: cannot read the plan")).with_source(error)
            })?),
        }
    };
    let Some(text) = there else {
        let help = format!("create the plan with `candlewick {typed} plan`, or copy it from another machine");
        return Err(AppError::invalid(format!("{shown}: no plan found")).with_help(help));
    };
    let no_plan = |why: String| AppError::invalid(format!("{shown}: this file is not a {typed} plan: {why}"));
    let value: Value = serde_json::from_slice(&text).map_err(|error| no_plan(error.to_string()))?;
    let format = value.get("format").and_then(Value::as_u64);
    if format != Some(PLAN_FORMAT) {
        let help = format!("run `candlewick {typed} plan` again: this program reads format {PLAN_FORMAT}");
        let why = format.map_or("the format is missing".to_owned(), |other| format!("the format is {other}"));
        return Err(no_plan(why).with_help(help));
    }
    let own = value.get("command").and_then(Value::as_str).unwrap_or_default();
    if own != typed {
        let help = format!("use the plan with `candlewick {own} run` and `candlewick {own} merge`");
        return Err(no_plan(format!("the plan was made by {own}")).with_help(help));
    }
    serde_json::from_value(value).map_err(|error| no_plan(error.to_string()))
}

pub(super) fn check_program(planned: &Program, others: ProgramMismatchPolicy) -> Result<PlanDifferences> {
    let (own, mut found) = (Program::current()?, PlanDifferences::default());
    if own.hash != planned.hash {
        let problem = format!("another program made the plan: {planned}; this program is {own}");
        if others == ProgramMismatchPolicy::Refused {
            return Err(AppError::invalid(problem).with_help(
                "run the program version that made the plan, or pass --allow-other-program; the report will mention it",
            ));
        }
        found.allowed.push(problem);
    }
    let libraries = own.changed_libraries(planned);
    if !libraries.is_empty() {
        found.harmless.push(format!(
            "system libraries differ between this machine and the machine that made the plan: {}",
            libraries.join(", ")
        ));
    }
    Ok(found)
}

/// Returns `problem` as a notice if shards from other builds are allowed, otherwise as an error.
pub(super) fn notice_or_error(
    shard: &Path,
    problem: String,
    others: ProgramMismatchPolicy,
) -> Result<String> {
    if others == ProgramMismatchPolicy::Allowed {
        return Ok(problem);
    }
    Err(AppError::invalid(format!("{}: {problem}", shard.display())).with_help(
        "run the shard again with the program that made the plan, or pass --allow-other-program; the report will mention it",
    ))
}

pub(super) fn check_candles(plan: &[SeriesContent], here: &[SeriesContent]) -> Result<()> {
    let text = |one: &SeriesContent| {
        let SeriesContent { candles, start, end, hash, .. } = one;
        let [start, end] = [*start, *end].map(candlewick_records::format_utc);
        format!("{candles} candles from {start} to {end} ({})", &hash[..hash.len().min(12)])
    };
    for planned in plan {
        let name = &planned.series;
        let found = here.iter().find(|one| one.series == *name);
        if found == Some(planned) {
            continue;
        }
        let found = found.map_or_else(|| "none".to_owned(), text);
        let problem = format!(
            "the candles of {name} differ from the plan: the plan has {}; this machine has {found}",
            text(planned)
        );
        return Err(
            AppError::data(problem).with_help("set the location of the candles with --data or --catalog")
        );
    }
    let more = here.iter().find(|one| plan.iter().all(|planned| planned.series != one.series));
    let Some(more) = more else { return Ok(()) };
    let problem = format!("the plan has no candles of {}, which price trades on this machine", more.series);
    Err(AppError::data(problem).with_help("pass --data only for series in the plan"))
}

pub(super) fn check_identity(planned: &Value, here: &Value) -> Result<()> {
    let differs = |key: &&String| *key != "program" && planned.get(*key) != here.get(*key);
    let keys = here.as_object().into_iter().flat_map(|here| here.keys()).filter(differs);
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    if keys.contains(&"files") {
        let problem = format!("{} has changed since the plan was made", list_changed_files(planned, here));
        let help = "copy the files named in the parameters from the machine that made the plan";
        return Err(AppError::data(problem).with_help(help));
    }
    if !keys.is_empty() {
        let problem = format!("these inputs differ between the plan and this machine: {}", keys.join(", "));
        return Err(AppError::invalid(problem)
            .with_help("unset the environment variables that change settings of the plan"));
    }
    Ok(())
}

fn list_changed_files(planned: &Value, here: &Value) -> String {
    let of = |whose: &Value| whose["files"].as_object().cloned().unwrap_or_default();
    let (planned, here) = (of(planned), of(here));
    let differs = |name: &&String| planned.get(*name) != here.get(*name);
    let names: BTreeSet<&String> = planned.keys().chain(here.keys()).filter(differs).collect();
    names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlannedCandles {
    data: Vec<String>,
    catalog: Option<PathBuf>,
    from: Option<Millis>,
    to: Option<Millis>,
    allow_coarse: bool,
    /// The sealed day when the plan was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed_day: Option<NaiveDate>,
}

impl PlannedCandles {
    pub(crate) fn new(choice: &CandleChoice, loaded: &LoadedConfig, evidence: &EvidenceKind) -> Self {
        Self {
            data: loaded.config.sandbox.data.clone(),
            catalog: loaded.is_set("data.catalog").then(|| loaded.config.data.catalog.clone()),
            from: choice.from,
            to: choice.to,
            allow_coarse: choice.allow_coarse,
            sealed_day: evidence.sealed_day(),
        }
    }
}

impl CandleChoice {
    /// Uses the data locations of `place`, or the locations in the plan if `place` has none.
    pub(crate) fn from_plan(planned: PlannedCandles, place: PlanLocation) -> Self {
        let is_elsewhere = !place.data.is_empty() || place.catalog.is_some();
        let (data, catalog) =
            if is_elsewhere { (place.data, place.catalog) } else { (planned.data, planned.catalog) };
        Self {
            data,
            catalog,
            from: planned.from,
            to: planned.to,
            allow_coarse: planned.allow_coarse,
            // These options would change bots and venue settings, which the plan already contains.
            rules: None,
            payout: None,
            seal: SealUse::Planned { until: planned.sealed_day },
        }
    }
}
