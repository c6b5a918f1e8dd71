//! `sensitivity`: measures the effect of latency, payout, price path and stress on a backtest.

use crate::arguments::CandleArguments;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::show;
use crate::progress::{StderrBars, with_spinner};
use crate::search::{PlannedArguments, ShardArguments, run_unless_stopped, write_row_plan, write_shard_rows};
use candlewick_app::search::{PlannedCommand, ResultFolder};
use candlewick_app::sensitivity::{PreparedSensitivity, SensitivityPlan, SensitivitySpec};
use candlewick_report::sensitivity::{SensitivityInputs, SensitivityReport, write_points};
use candlewick_search::sensitivity::{Sensitivity, SensitivityRow};
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::Write as _;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  candlewick sensitivity --config my.toml --data BTCUSDT_1m.csv\n\nRepeats the backtest with \
                  latencies of 0 to 5 s, with payouts of 60 to 92 %, on both price paths, and in a stress test. Each run changes only one \
                  setting, as in backtest --sensitivity.\n\nTo use several machines, run sensitivity plan once and sensitivity run on \
                  each machine. Copy all shard-N.jsonl files next to plan.json and run sensitivity merge."
)]
pub(crate) struct SensitivityArguments {
    #[command(subcommand)]
    step: Option<ShardStep>,
    #[command(flatten)]
    own: Box<SensitivityOptions>,
}

#[derive(Debug, Args)]
struct SensitivityOptions {
    #[command(flatten)]
    candles: CandleArguments,
    /// Number of threads; does not affect the result [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Output folder, local or on object storage (s3://BUCKET/FOLDER)
    #[arg(long, value_name = "DIR", default_value = "sensitivity")]
    out: PathBuf,
}

#[derive(Debug, Subcommand)]
enum ShardStep {
    /// Split the runs into shards for several machines and write plan.json
    #[command(after_help = "Example:\n  candlewick sensitivity plan --shards 4 --config my.toml")]
    Plan {
        /// Number of shards
        #[arg(long, value_name = "N", default_value = "4")]
        shards: NonZeroU64,
        #[command(flatten)]
        own: Box<SensitivityOptions>,
    },
    /// Run one shard of a plan and write its complete results to shard-N.jsonl
    #[command(after_help = "Example:\n  candlewick sensitivity run --plan sensitivity/plan.json --shard 2")]
    Run(ShardArguments),
    /// Merge the shards of a plan; the results are identical to those of a single machine
    #[command(after_help = "Example:\n  candlewick sensitivity merge --plan sensitivity/plan.json")]
    Merge {
        #[command(flatten)]
        planned: PlannedArguments,
    },
}

pub(super) fn run(arguments: &SensitivityArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    match &arguments.step {
        None => {
            let (prepared, folder) = arguments.own.prepare(context)?;
            let write = |rows| write_results((&prepared, &folder), rows, Vec::new(), context);
            run_with_spinner(&prepared, 0..prepared.runs, context, write)
        }
        Some(ShardStep::Plan { shards, own }) => {
            let (prepared, folder) = own.prepare(context)?;
            let plan = prepared.plan(shards.get())?;
            write_row_plan((&plan, &folder), (PlannedCommand::Sensitivity, "runs"), context)
        }
        Some(ShardStep::Run(ShardArguments { shard, planned })) => run_shard(*shard, planned, context),
        Some(ShardStep::Merge { planned }) => merge(planned, context),
    }
}

impl SensitivityOptions {
    fn prepare<'a>(&self, context: &Context<'a>) -> Result<(PreparedSensitivity<'a>, ResultFolder), Failure> {
        let terms = SensitivitySpec { threads: self.threads, candles: self.candles.to_candle_choice() };
        let progress = StderrBars(context.global);
        let prepared = terms.prepare(&context.global.config, context.registry, &progress)?;
        Ok((prepared, ResultFolder::open(&self.out)?))
    }
}

fn run_shard(number: u64, planned: &PlannedArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (path, folder, others) = planned.locate_plan(PlannedCommand::Sensitivity, context)?;
    let plan = SensitivityPlan::read(&path, PlannedCommand::Sensitivity)?;
    let runs = plan.shard_rows(number)?;
    let place = (path.as_path(), planned.to_plan_location());
    let (prepared, differences) =
        plan.prepare(place, others, context.registry, &StderrBars(context.global))?;
    context.print_notes(differences.allowed.iter().chain(&differences.harmless));
    let shard = (number, &prepared.identity);
    run_with_spinner(&prepared, runs, context, |rows| {
        write_shard_rows((&plan, &folder), shard, (&rows, "runs finished"), &differences.allowed, context)
    })
}

fn merge(planned: &PlannedArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (path, folder, others) = planned.locate_plan(PlannedCommand::Sensitivity, context)?;
    let plan = SensitivityPlan::read(&path, PlannedCommand::Sensitivity)?;
    let folder = ResultFolder::open(&folder)?;
    let (rows, ran_by) = plan.gather(&folder, others)?;
    let place = (path.as_path(), planned.to_plan_location());
    let (prepared, differences) =
        plan.prepare(place, others, context.registry, &StderrBars(context.global))?;
    context.print_notes(differences.harmless);
    write_results((&prepared, &folder), rows, [differences.allowed, ran_by].concat(), context)
}

fn run_with_spinner(
    prepared: &PreparedSensitivity<'_>,
    runs: Range<u64>,
    context: &Context<'_>,
    write: impl FnOnce(Vec<SensitivityRow>) -> Result<Ending, Failure>,
) -> Result<Ending, Failure> {
    const LABEL: &str = "Testing sensitivity";
    run_unless_stopped(
        context,
        |proceed| with_spinner(LABEL, context.global, || prepared.run(runs, proceed)),
        write,
    )
}

fn write_results(
    (prepared, folder): (&PreparedSensitivity<'_>, &ResultFolder),
    rows: Vec<SensitivityRow>,
    notices: Vec<String>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let backtest = prepared.backtest();
    let terms = SensitivityInputs {
        runs: prepared.runs,
        balance: backtest.settings.session.money_scale.to_f64(backtest.loaded.initial_balance()?),
        data_hash: backtest.candles.hash.clone(),
    };
    let own = backtest.coarse_notice.iter().chain(&backtest.candles.notices).cloned().collect();
    let notices = [own, notices].concat();
    let report = SensitivityReport { terms, sensitivity: Sensitivity::from_rows(rows), notices };
    folder.put("points.csv", |bytes| write_points(&report.sensitivity, bytes))?;
    folder.put("sensitivity.json", |bytes| writeln!(bytes, "{:#}", json!(report)))?;
    show(&report, context.global)
}
