//! `monte-carlo`: simulates the distribution of backtest results by resampling candles or trades.

use crate::arguments::CandleArguments;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::show;
use crate::progress::StderrBars;
use crate::search::{PlannedArguments, ShardArguments, run_unless_stopped, write_row_plan, write_shard_rows};
use candlewick_app::monte_carlo::{MonteCarloPlan, MonteCarloSpec, PreparedMonteCarlo, Resampling};
use candlewick_app::search::{PlannedCommand, ResultFolder};
use candlewick_report::monte_carlo::{MonteCarloReport, MonteCarloSettings, write_paths};
use candlewick_search::monte_carlo::PathRow;
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::Write as _;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  candlewick monte-carlo --config my.toml --data BTCUSDT_1m.csv\n  candlewick monte-carlo \
                  --resample trades --paths 10000 --block 5\n\nEach path consists of blocks drawn with replacement \
                  (stationary bootstrap). Blocks of candles are chained, and the bots trade the path again. Blocks of \
                  trades keep the recorded stakes and profits. Paths are reproducible by seed.\n\nTo use several \
                  machines, run monte-carlo plan once and monte-carlo run on each machine. Copy all shard-N.jsonl \
                  files next to plan.json and run monte-carlo merge."
)]
pub(crate) struct MonteCarloArguments {
    #[command(subcommand)]
    step: Option<ShardStep>,
    #[command(flatten)]
    own: Box<MonteCarloOptions>,
}

#[derive(Debug, Args)]
struct MonteCarloOptions {
    #[command(flatten)]
    candles: CandleArguments,
    /// Data to resample: candles (the bots trade again on each path) or trades (with recorded results)
    #[arg(long, value_name = "WHAT", default_value_t = Resampling::Candles)]
    resample: Resampling,
    /// Number of simulated paths
    #[arg(long, value_name = "N", default_value = "1000")]
    paths: NonZeroU64,
    /// Mean block length, in candles or trades [default: method of Politis and White (2004), applied to move sizes or
    /// trade returns]
    #[arg(long, value_name = "N")]
    block: Option<f64>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of threads; does not affect the result [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Output folder, local or on object storage (s3://BUCKET/FOLDER)
    #[arg(long, value_name = "DIR", default_value = "monte-carlo")]
    out: PathBuf,
}

#[derive(Debug, Subcommand)]
enum ShardStep {
    /// Split the paths into shards for several machines and write plan.json
    #[command(
        after_help = "Example:\n  candlewick monte-carlo plan --shards 4 --config my.toml --paths 10000"
    )]
    Plan {
        /// Number of shards
        #[arg(long, value_name = "N", default_value = "4")]
        shards: NonZeroU64,
        #[command(flatten)]
        own: Box<MonteCarloOptions>,
    },
    /// Run one shard of a plan and write its complete results to shard-N.jsonl
    #[command(after_help = "Example:\n  candlewick monte-carlo run --plan monte-carlo/plan.json --shard 2")]
    Run(ShardArguments),
    /// Merge the shards of a plan; the results are identical to those of a single machine
    #[command(after_help = "Example:\n  candlewick monte-carlo merge --plan monte-carlo/plan.json")]
    Merge {
        #[command(flatten)]
        planned: PlannedArguments,
    },
}

pub(super) fn run(arguments: &MonteCarloArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    match &arguments.step {
        None => {
            let (prepared, folder) = arguments.own.prepare(context)?;
            let all = 0..prepared.spec.paths;
            let write = |rows: Vec<PathRow>| write_results((&prepared, &folder), &rows, Vec::new(), context);
            run_unless_stopped(context, |proceed| prepared.run(all, proceed), write)
        }
        Some(ShardStep::Plan { shards, own }) => {
            let (prepared, folder) = own.prepare(context)?;
            let plan = prepared.plan(shards.get())?;
            write_row_plan((&plan, &folder), (PlannedCommand::MonteCarlo, "paths"), context)
        }
        Some(ShardStep::Run(ShardArguments { shard, planned })) => run_shard(*shard, planned, context),
        Some(ShardStep::Merge { planned }) => {
            let (path, folder, others) = planned.locate_plan(PlannedCommand::MonteCarlo, context)?;
            let plan = MonteCarloPlan::read(&path, PlannedCommand::MonteCarlo)?;
            let (rows, ran_by) = plan.gather(&ResultFolder::open(&folder)?, others)?;
            let place = (path.as_path(), planned.to_plan_location());
            let progress = StderrBars(context.global);
            let (prepared, differences) = plan.prepare(place, others, context.registry, &progress)?;
            context.print_notes(differences.harmless);
            let notices = [differences.allowed, ran_by].concat();
            write_results((&prepared, &ResultFolder::open(&folder)?), &rows, notices, context)
        }
    }
}

impl MonteCarloOptions {
    fn prepare<'a>(&self, context: &Context<'a>) -> Result<(PreparedMonteCarlo<'a>, ResultFolder), Failure> {
        let Self { resample: resampling, block, seed, threads, .. } = *self;
        let (paths, candles) = (self.paths.get(), self.candles.to_candle_choice());
        let terms = MonteCarloSpec { resampling, paths, block_length: block, seed, threads, candles };
        let progress = StderrBars(context.global);
        let prepared = terms.prepare(&context.global.config, context.registry, &progress)?;
        Ok((prepared, ResultFolder::open(&self.out)?))
    }
}

fn run_shard(number: u64, planned: &PlannedArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (path, folder, others) = planned.locate_plan(PlannedCommand::MonteCarlo, context)?;
    let plan = MonteCarloPlan::read(&path, PlannedCommand::MonteCarlo)?;
    let paths = plan.shard_rows(number)?;
    let place = (path.as_path(), planned.to_plan_location());
    let (prepared, differences) =
        plan.prepare(place, others, context.registry, &StderrBars(context.global))?;
    context.print_notes(differences.allowed.iter().chain(&differences.harmless));
    let shard = (number, &prepared.identity);
    let keep = |rows: Vec<PathRow>| {
        write_shard_rows((&plan, &folder), shard, (&rows, "paths finished"), &differences.allowed, context)
    };
    run_unless_stopped(context, |proceed| prepared.run(paths, proceed), keep)
}

fn write_results(
    (prepared, folder): (&PreparedMonteCarlo<'_>, &ResultFolder),
    rows: &[PathRow],
    notices: Vec<String>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let (terms, backtest) = (&prepared.spec, prepared.backtest());
    let settings = MonteCarloSettings {
        resampled: terms.resampling.to_string(),
        paths: terms.paths,
        block: prepared.block_length,
        seed: terms.seed,
        balance: backtest.settings.session.money_scale.to_f64(backtest.loaded.initial_balance()?),
        data_hash: backtest.candles.hash.clone(),
    };
    let notices = [backtest.candles.notices.clone(), notices].concat();
    let report = MonteCarloReport::new(settings, (prepared.observed, rows), notices);
    let report = report.ok_or_else(|| Failure::configuration("no paths to report"))?;
    folder.put("paths.csv", |bytes| write_paths(rows, bytes))?;
    folder.put("monte-carlo.json", |bytes| writeln!(bytes, "{:#}", json!(report)))?;
    show(&report, context.global)
}
