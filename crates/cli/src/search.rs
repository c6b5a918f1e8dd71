//! Search options of the command line.
#![allow(
    clippy::doc_markdown,
    reason = "the documentation of arguments is the help that clap prints as it stands"
)]

use crate::arguments::{CandleArguments, parse_length, parse_percent_within};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::output::show_as;
use candlewick_app::AppError;
use candlewick_app::search::{
    LayoutTerms, OtherProgram, PLAN_FILE, PlanPlace, PlannedCommand, PlannedRow, ResultFolder, RowPlan,
    SearchPlan, SearchTerms,
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
    /// Search a parameter: NAME=VALUES, or NAME for the whole range that the strategy declares; repeatable
    #[arg(long = "param", value_name = "NAME[=VALUES]")]
    parameters: Vec<String>,
    /// Try only sets for which this holds, such as "slow >= 2 * fast"; repeatable
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<String>,
    /// The bot whose parameters are searched; it runs alone. Needed where there are several
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Which sets are tried: grid, random, latin-hypercube, sobol or tpe. Without it a grid, where parameters have an
    /// end and --trials is not given, else sobol
    #[arg(long, value_name = "WAY")]
    search: Option<Search>,
    /// How many sets are tried; a grid tries all [default: 200]
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// tpe: how many sets are chosen together, before it looks at what became of them; each batch is a round of a plan's shards [default: 16]
    #[arg(long, value_name = "N")]
    batch: Option<NonZeroU64>,
    /// What makes a set good: edge (what a trade returns, in % of the stake, at the lower end of the win rate's 95 %
    /// interval), expectancy (profit in % of what was staked), sharpe (of daily profits) or drawdown-penalised (profit
    /// less the max. drawdown)
    #[arg(long, value_name = "FIGURE", default_value_t = Objective::Edge)]
    objective: Objective,
    /// Sets with fewer won and lost trades do not count
    #[arg(long, value_name = "N", default_value_t = 30)]
    min_trades: u64,
    /// Successive halving: run every set on the first part of the candles, the best one in N of them on N times as
    /// many, and so on
    #[arg(long, value_name = "N")]
    halving: Option<u32>,
    /// How many runs the last sets of a halving have
    #[arg(long, value_name = "N", default_value_t = 3, requires = "halving")]
    rungs: u32,
    /// How many trials run side by side; the result does not depend on it [default: one a core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    candles: CandleArguments,
}

#[derive(Debug, Args)]
pub(crate) struct LayoutArguments {
    /// Train on everything since the first candle, not on the last stretch alone
    #[arg(long)]
    anchored: bool,
    /// How long a training is (with --anchored, the first), such as 90d [default: three tests]
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    train: Option<Millis>,
    /// How long a test is [default: a third of the training; of neither, what makes five windows]
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    test: Option<Millis>,
    /// What lies between training and test besides the longest that a trade can be under way
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, default_value = "0m")]
    embargo: Millis,
    /// The last percent of the candles, which no window sees; 0 for none
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, value_parser = parse_hold_out)]
    hold_out: f64,
}

#[derive(Debug, Args)]
pub(crate) struct PlannedArguments {
    /// The plan, as the command's step plan wrote it; it may lie on object storage, s3://BUCKET/FOLDER/plan.json [default: plan.json in
    /// the folder that is called as the command is]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The folder of the shards' journals and the results [default: that of the plan]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where the plan's candles lie on this machine, as for sweep; repeatable [default: where they lay when it was made]
    #[arg(long, value_name = "FILE")]
    data: Vec<String>,
    /// Folder of the catalog on this machine [default: as for --data]
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
    /// How many trials run side by side; the result does not depend on it [default: one a core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Take a plan or shards that another program made; the report says so
    #[arg(long)]
    allow_other_program: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShardArguments {
    /// Which one, from 1
    #[arg(long, value_name = "N")]
    pub(crate) shard: u64,
    #[command(flatten)]
    pub(crate) planned: PlannedArguments,
}

pub(crate) struct Planned {
    pub(crate) plan: SearchPlan,
    pub(crate) path: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) others: OtherProgram,
}

impl PlannedArguments {
    pub(crate) fn read(&self, command: PlannedCommand, context: &Context<'_>) -> Result<Planned, Failure> {
        let (path, folder, others) = self.place_of(command, context)?;
        Ok(Planned { plan: SearchPlan::read(&path, command)?, path, folder, others })
    }

    pub(crate) fn place_of(
        &self,
        command: PlannedCommand,
        context: &Context<'_>,
    ) -> Result<(PathBuf, PathBuf, OtherProgram), Failure> {
        if !context.global.config.is_empty() {
            let problem = "--config: a plan holds the configuration that it was made with";
            return Err(Failure::configuration(problem).hint("leave it out, or make another plan"));
        }
        let usual = || PathBuf::from(command.as_str()).join(PLAN_FILE);
        let path = self.plan.clone().unwrap_or_else(usual);
        let beside = || path.parent().map(PathBuf::from).unwrap_or_default();
        let folder = self.out.clone().unwrap_or_else(beside);
        let others = if self.allow_other_program { OtherProgram::Allowed } else { OtherProgram::Refused };
        Ok((path, folder, others))
    }

    pub(crate) fn place(&self) -> PlanPlace {
        PlanPlace { data: self.data.clone(), catalog: self.catalog.clone(), threads: self.threads }
    }
}

/// Writes the plan of a command whose runs are rows, and says how its shards are run.
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
            "{sets} {rows} in {shards} shards: wrote {shown}\nnext: {command} run --plan {shown} --shard 1 to {shards}, on \
             whatever machine has this file, the same program and the candles; then {command} merge --plan {shown}",
        )
    };
    show_as(&document, text, context.global)
}

pub(crate) fn keep_rows<A: Serialize + DeserializeOwned, R: PlannedRow>(
    (plan, folder): (&RowPlan<A>, &Path),
    (number, identity): (u64, &Value),
    (rows, done): (&[R], &str),
    notices: &[String],
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let written = plan.put(&ResultFolder::open(folder)?, (number, identity), rows)?;
    let (count, shards) = (rows.len(), plan.shards);
    let document = json!({
        "shard": number, "shards": shards, "trials": count, "resumed": 0, "file": written, "notices": notices
    });
    show_as(&document, || format!("shard {number} of {shards}: {count} {done}"), context.global)
}

/// Runs all rows and writes them with `finish`, unless the operator stops it.
pub(crate) fn watched<R>(
    context: &Context<'_>,
    run: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<Vec<R>, AppError>,
    finish: impl FnOnce(Vec<R>) -> Result<Ending, Failure>,
) -> Result<Ending, Failure> {
    let sign = interrupt::sign()?;
    let rows = run(&|| sign.get().is_none())?;
    if let Some(ending) = sign.get() {
        context.say("stopped; nothing was written");
        return Ok(*ending);
    }
    finish(rows)
}

impl SearchArguments {
    pub(crate) fn terms(&self) -> SearchTerms {
        SearchTerms {
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
            candles: self.candles.choice(),
        }
    }
}

impl LayoutArguments {
    pub(crate) fn terms(&self) -> LayoutTerms {
        let Self { anchored, train, test, embargo, hold_out } = *self;
        LayoutTerms { anchored, train, test, embargo, hold_out }
    }
}

fn parse_hold_out(text: &str) -> Result<f64, String> {
    parse_percent_within(text, [0.0, 90.0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_out_is_a_part() {
        assert_eq!((parse_hold_out("20"), parse_hold_out("12.5%")), (Ok(20.0), Ok(12.5)));
        assert!(["-1", "91", "a fifth", "NaN"].iter().all(|text| parse_hold_out(text).is_err()));
    }
}
