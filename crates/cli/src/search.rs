//! Command-line options of parameter searches and of their plans.
#![allow(clippy::doc_markdown, reason = "the documentation of arguments is the help printed by clap")]

use crate::arguments::{CandleArguments, parse_long_duration};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::output::show_as;
use candlewick_app::AppError;
use candlewick_app::search::{
    LayoutSpec, PLAN_FILE, PlanLocation, PlannedCommand, PlannedRow, ProgramMismatchPolicy, ResultFolder,
    RowPlan, SearchOptions, SearchPlan,
};
use candlewick_sdk::Millis;
use candlewick_search::sweep::{Objective, Search};
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// Parameter to search: NAME=VALUES, or NAME for the range declared by the strategy; repeatable
    #[arg(long = "param", value_name = "NAME[=VALUES]")]
    parameters: Vec<String>,
    /// Condition that every parameter set must meet, such as "slow >= 2 * fast"; repeatable
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<String>,
    /// Bot whose parameters are searched; required if several bots are configured. The other bots do not run
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Search method: grid, random, latin-hypercube, sobol or tpe [default: grid if all ranges are finite and --trials is
    /// not set, else sobol]
    #[arg(long, value_name = "WAY")]
    search: Option<Search>,
    /// Number of parameter sets to try; not allowed with grid [default: 200]
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of sets per tpe batch. With shards, all shards of a batch must finish before the next batch [default: 16]
    #[arg(long, value_name = "N")]
    batch: Option<NonZeroU64>,
    /// Objective: edge (lower 95 % bound of the return per trade, in % of the stake), expectancy (profit in % of all stakes),
    /// sharpe (of daily profits) or drawdown-penalised (profit minus max drawdown)
    #[arg(long, value_name = "FIGURE", default_value_t = Objective::Edge)]
    objective: Objective,
    /// Minimum number of trades per parameter set (won plus lost)
    #[arg(long, value_name = "N", default_value_t = 30)]
    min_trades: u64,
    /// Successive halving: each rung runs the best 1/N of the previous sets on N times as many candles
    #[arg(long, value_name = "N")]
    halving: Option<u32>,
    /// Number of rungs (stages) of successive halving
    #[arg(long, value_name = "N", default_value_t = 3, requires = "halving")]
    rungs: u32,
    /// Number of threads; does not affect the result [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    candles: CandleArguments,
}

#[derive(Debug, Args)]
pub(crate) struct LayoutArguments {
    /// Train on all candles since the first one, instead of on a sliding window
    #[arg(long)]
    anchored: bool,
    /// Length of a training window, such as 90d; with --anchored, length of the first window [default: three
    /// times the length of a test window]
    #[arg(long, value_name = "LENGTH", value_parser = parse_long_duration)]
    train: Option<Millis>,
    /// Length of a test window [default: a third of --train; without --train, sized for five windows]
    #[arg(long, value_name = "LENGTH", value_parser = parse_long_duration)]
    test: Option<Millis>,
    /// Gap between training and test, in addition to the length of the longest possible trade
    #[arg(long, value_name = "LENGTH", value_parser = parse_long_duration, default_value = "0m")]
    embargo: Millis,
}

#[derive(Debug, Args)]
pub(crate) struct PlannedArguments {
    /// Plan file, local or on object storage (s3://BUCKET/FOLDER/plan.json) [default: plan.json in
    /// the default output folder of the command]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Folder of the shards and the results [default: folder of the plan]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Candle source, in the format of `sweep --data`; repeatable [default: the paths in the plan]
    #[arg(long, value_name = "FILE")]
    data: Vec<String>,
    /// Catalog folder on this machine [default: the path in the plan]
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
    /// Number of threads; does not affect the result [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Accept plans and shards from another program version; the report mentions the difference
    #[arg(long)]
    allow_other_program: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShardArguments {
    /// Number of the shard, starting at 1
    #[arg(long, value_name = "N")]
    pub(crate) shard: u64,
    #[command(flatten)]
    pub(crate) planned: PlannedArguments,
}

pub(crate) struct OpenedPlan {
    pub(crate) plan: SearchPlan,
    pub(crate) path: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) other_program: ProgramMismatchPolicy,
}

impl PlannedArguments {
    pub(crate) fn open(&self, command: PlannedCommand, context: &Context<'_>) -> Result<OpenedPlan, Failure> {
        let (path, folder, others) = self.locate_plan(command, context)?;
        Ok(OpenedPlan { plan: SearchPlan::read(&path, command)?, path, folder, other_program: others })
    }

    pub(crate) fn locate_plan(
        &self,
        command: PlannedCommand,
        context: &Context<'_>,
    ) -> Result<(PathBuf, PathBuf, ProgramMismatchPolicy), Failure> {
        if !context.global.config.is_empty() {
            let problem = "--config cannot be used, because the plan contains the configuration";
            return Err(Failure::configuration(problem).hint("omit --config, or create another plan"));
        }
        let path = self.plan.clone().unwrap_or_else(|| PathBuf::from(command.as_str()).join(PLAN_FILE));
        let folder = self.out.clone().unwrap_or_else(|| path.parent().map(PathBuf::from).unwrap_or_default());
        let others = if self.allow_other_program {
            ProgramMismatchPolicy::Allowed
        } else {
            ProgramMismatchPolicy::Refused
        };
        Ok((path, folder, others))
    }

    pub(crate) fn to_plan_location(&self) -> PlanLocation {
        PlanLocation { data: self.data.clone(), catalog: self.catalog.clone(), threads: self.threads }
    }
}

pub(crate) fn write_row_plan<A: Serialize + DeserializeOwned>(
    (plan, folder): (&RowPlan<A>, &ResultFolder),
    (command, rows): (PlannedCommand, &str),
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let path = plan.write(folder)?;
    let (sets, shards, shown, command) = (plan.sets, plan.shards, path.display(), command.as_str());
    let document = json!({ rows: sets, "shards": shards, "file": path, "program": plan.program });
    let text = || {
        format!(
            "Wrote {shown}: {sets} {rows} in {shards} shards.\nNext, run `{command} run --plan {shown} --shard N` for N from 1 to \
             {shards}. Each machine needs this file, the same program and the candles.\nThen run `{command} merge --plan {shown}`.",
        )
    };
    show_as(&document, text, context.global)
}

pub(crate) fn write_shard_rows<A: Serialize + DeserializeOwned, R: PlannedRow>(
    (plan, folder): (&RowPlan<A>, &Path),
    (number, identity): (u64, &Value),
    (rows, done): (&[R], &str),
    notices: &[String],
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let written = plan.write_rows(&ResultFolder::open(folder)?, (number, identity), rows)?;
    let (count, shards) = (rows.len(), plan.shards);
    let document = json!({
        "shard": number, "shards": shards, "trials": count, "resumed": 0, "file": written, "notices": notices
    });
    show_as(&document, || format!("shard {number} of {shards}: {count} {done}"), context.global)
}

/// Passes the rows of `run` to `finish`, or discards the rows if the operator has stopped the command.
pub(crate) fn run_unless_stopped<R>(
    context: &Context<'_>,
    run: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<Vec<R>, AppError>,
    finish: impl FnOnce(Vec<R>) -> Result<Ending, Failure>,
) -> Result<Ending, Failure> {
    let stop_flag = interrupt::stop_flag()?;
    let rows = run(&|| stop_flag.get().is_none())?;
    if let Some(ending) = stop_flag.get() {
        context.print_notice("stopped; nothing was written");
        return Ok(*ending);
    }
    finish(rows)
}

impl SearchArguments {
    pub(crate) fn to_search_options(&self) -> SearchOptions {
        SearchOptions {
            parameters: self.parameters.clone(),
            conditions: self.conditions.clone(),
            bot: self.bot.clone(),
            search: self.search,
            trials: self.trials,
            seed: self.seed,
            batch: self.batch,
            objective: self.objective,
            min_trades: self.min_trades,
            halving: self.halving,
            rungs: self.rungs,
            threads: self.threads,
            candles: self.candles.to_candle_choice(),
        }
    }
}

impl LayoutArguments {
    pub(crate) fn to_layout_spec(&self) -> LayoutSpec {
        let Self { anchored, train, test, embargo } = *self;
        LayoutSpec { anchored, train, test, embargo }
    }
}
