//! `walk-forward`: chooses parameters on past candles and tests them on later ones.

use super::sweep::verify_chosen_sets;
use crate::arguments::replay_basis;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::report_candles;
use crate::interrupt;
use crate::output::{show, show_as};
use crate::progress::{Progress, StderrBars};
use crate::search::{LayoutArguments, OpenedPlan, PlannedArguments, SearchArguments, ShardArguments};
use candlewick_app::search::{
    Layout, PlannedCommand, PreparedSearch, ResultFolder, SearchOptions, WalkEnd, WalkOutcome, WalkProgress,
    WalkRun, WalkShard,
};
use candlewick_backtest::{BacktestResult, BacktestSettings};
use candlewick_broker::clock::Stopwatch;
use candlewick_report::run::{Caveats, RunFacts, write_trades_to};
use candlewick_report::walk_forward::{
    VerifiedSets, WalkForwardReport, WalkForwardResult, WalkForwardSummary, write_windows,
};
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::Write as _;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  candlewick walk-forward --bot btc-rsi --param period=5..30:5 --param oversold=20..40:5\n  \
                  candlewick walk-forward --config my.toml --param period=5..30 --train 90d --test 30d --anchored\n\n\
                  Each window runs `candlewick sweep` on its training candles and trades the best set on the test \
                  candles that follow, starting with the full balance. The gap between training and test is at least \
                  the longest possible trade. Statistics cover the trades of all tests.\n\nAll windows are before the \
                  sealed day, so their tests cannot show an edge. `candlewick confirm` tests a bot once on the sealed \
                  candles.\n\nBefore results are shown or written, up to five chosen sets (the most frequent ones) \
                  are verified candle by candle and in a new process.\n\nAfter an interruption, run the same command again to resume.\n\nTo use several \
                  machines, run walk-forward plan once and walk-forward run on each machine. Copy all shard-N.jsonl \
                  files next to plan.json and run walk-forward merge. All machines need the same program and candles. \
                  Shards run parts of the trainings; merge runs the tests."
)]
pub(crate) struct WalkForwardArguments {
    #[command(subcommand)]
    step: Option<ShardStep>,
    #[command(flatten)]
    own: Box<WalkForwardOptions>,
}

#[derive(Debug, Args)]
struct WalkForwardOptions {
    #[command(flatten)]
    search: SearchArguments,
    #[command(flatten)]
    layout: LayoutArguments,
    /// Output folder, local or on object storage (s3://BUCKET/FOLDER)
    #[arg(long, value_name = "DIR", default_value = "walk-forward")]
    out: PathBuf,
}

#[derive(Debug, Subcommand)]
enum ShardStep {
    /// Split a walk-forward test into shards for several machines and write plan.json
    #[command(
        after_help = "Example:\n  candlewick walk-forward plan --shards 40 --bot btc-rsi --param period=5..30"
    )]
    Plan {
        /// Number of shards, rounded up to a multiple of the number of windows; always one per window with --search tpe
        #[arg(long, value_name = "N", default_value = "4")]
        shards: NonZeroU64,
        #[command(flatten)]
        own: Box<WalkForwardOptions>,
    },
    /// Run one shard of a plan (part of one window's training) and store its trials in shard-N.jsonl
    ///
    /// The plan contains the search and the candles, so no other arguments or configuration are needed. A shard can be
    /// interrupted and started again; finished trials are not repeated.
    #[command(after_help = "Example:\n  candlewick walk-forward run --plan walk-forward/plan.json --shard 2")]
    Run(ShardArguments),
    /// Merge the shards of a plan and run the tests; the results are identical to those of a single machine
    #[command(after_help = "Example:\n  candlewick walk-forward merge --plan walk-forward/plan.json")]
    Merge(PlannedArguments),
}

pub(super) struct WalkResult {
    report: WalkForwardReport,
    resumed: usize,
    verified: VerifiedSets,
    elapsed: Duration,
    files: Vec<PathBuf>,
}

pub(super) fn run(arguments: &WalkForwardArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    match &arguments.step {
        None => run_with_options(&arguments.own, None, context),
        Some(ShardStep::Plan { shards, own }) => run_with_options(own, Some(*shards), context),
        Some(ShardStep::Run(ShardArguments { shard, planned })) => run_plan(planned, Some(*shard), context),
        Some(ShardStep::Merge(planned)) => run_plan(planned, None, context),
    }
}

fn run_with_options(
    own: &WalkForwardOptions,
    shards: Option<NonZeroU64>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let (terms, layout) = (own.search.to_search_options(), own.layout.to_layout_spec());
    let prepared = terms.prepare(&context.global.config, context.registry, &StderrBars(context.global))?;
    report_candles(&prepared.candles.series);
    let walk = WalkRun::prepare(&terms, &layout, &prepared, &own.out)?;
    let Some(shards) = shards else {
        return show_result(run_walk(walk, (&terms, &prepared), &[], context)?, context);
    };
    let plan = walk.plan(shards)?;
    let path = plan.write(&walk.folder)?;
    let (sets, shards, shown) = (plan.sets, plan.shards, path.display());
    let windows = plan.walk.as_ref().map_or(0, |walk| walk.windows);
    let program = &plan.program;
    let document =
        json!({ "windows": windows, "sets": sets, "shards": shards, "file": path, "program": program });
    let text = || {
        format!(
            "Wrote {shown}: {windows} windows of {sets} parameter sets in {shards} shards.\nNext, run `walk-forward run --plan {shown} \
             --shard N` for N from 1 to {shards}. Each machine needs this file, the same program and the candles.\nThen copy all \
             results next to the plan and run `walk-forward merge --plan {shown}`.",
        )
    };
    show_as(&document, text, context.global)
}

fn run_plan(
    arguments: &PlannedArguments,
    shard: Option<u64>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let OpenedPlan { plan, path, folder, other_program: others } =
        arguments.open(PlannedCommand::WalkForward, context)?;
    let Some(layout) = plan.walk.as_ref().map(|walk| walk.layout.clone()) else {
        return Err(Failure::configuration("the plan has no walk-forward windows"));
    };
    let terms = plan.options(arguments.to_plan_location());
    let prepared = plan.prepare(&path, &terms, context.registry, &StderrBars(context.global))?;
    report_candles(&prepared.candles.series);
    let mut walk = WalkRun::prepare(&terms, &layout, &prepared, &folder)?;
    let differences = walk.check(&plan, others)?;
    context.print_notes(differences.harmless);
    let mut notices = differences.allowed;
    let Some(number) = shard else {
        notices.extend(walk.gather(&plan, others)?);
        return show_result(run_walk(walk, (&terms, &prepared), &notices, context)?, context);
    };
    context.print_notes(&notices);
    let stop_flag = interrupt::stop_flag()?;
    let mut progress = Progress::new("Walking forward", context.global);
    let end = walk.run_shard(&plan, number, &mut |now| show_step(&mut progress, now, &stop_flag))?;
    drop(progress);
    let WalkShard::Done { trials, resumed, notice } = end else {
        return Ok(context.report_stop(&stop_flag, &folder));
    };
    context.print_notes(notice);
    let shards = plan.shards;
    let document = json!({
        "shard": number, "shards": shards, "trials": trials, "resumed": resumed, "notices": notices
    });
    show_as(&document, || format!("shard {number} of {shards}: {trials} trials finished"), context.global)
}

fn show_result(walked: Result<WalkResult, Ending>, context: &Context<'_>) -> Result<Ending, Failure> {
    walked.map_or_else(Ok, |walked| show(&walked.summary(), context.global))
}

fn show_step(progress: &mut Progress, now: WalkProgress, stop_flag: &OnceLock<Ending>) -> ControlFlow<()> {
    progress.update(now.done, now.total);
    progress.set_detail(&format!("window {} of {}", now.window, now.windows));
    if stop_flag.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

pub(super) fn run_walk(
    mut walk: WalkRun<'_>,
    (terms, prepared): (&SearchOptions, &PreparedSearch<'_>),
    notices: &[String],
    context: &Context<'_>,
) -> Result<Result<WalkResult, Ending>, Failure> {
    let stop_flag = interrupt::stop_flag()?;
    let stopwatch = Stopwatch::start();
    let mut progress = Progress::new("Walking forward", context.global);
    let end = walk.run(&mut |now| show_step(&mut progress, now, &stop_flag))?;
    drop(progress);
    let WalkEnd::Done(outcome) = end else {
        return Ok(Err(context.report_stop(&stop_flag, &walk.folder.display_path())));
    };
    let verified = verify_chosen_sets(prepared, &outcome.windows)?;
    let caveats = collect_caveats(terms, prepared);
    let (report, all) = build_report(&outcome, prepared, (&walk.layout, &caveats, notices))?;
    let files = write_results(&walk.folder, &report, all.as_ref(), (&prepared.settings, &caveats))?;
    let elapsed = stopwatch.elapsed();
    Ok(Ok(WalkResult { report, resumed: outcome.resumed, verified, elapsed, files }))
}

impl WalkResult {
    pub(super) fn summary(&self) -> WalkForwardSummary<'_> {
        let Self { report, resumed, verified, elapsed, files } = self;
        WalkForwardSummary::new(report, (*resumed, *verified), *elapsed, files.clone())
    }
}

fn collect_caveats(terms: &SearchOptions, prepared: &PreparedSearch<'_>) -> Caveats {
    let PreparedSearch { settings, candles, .. } = prepared;
    let basis = replay_basis(terms.candles.allow_coarse, candles.prices);
    Caveats::for_replay(basis, &settings.simulation, &settings.session.bots, candles.evidence.clone())
}

fn build_report(
    outcome: &WalkOutcome,
    prepared: &PreparedSearch<'_>,
    (layout, caveats, notices): (&Layout, &Caveats, &[String]),
) -> Result<(WalkForwardReport, Option<BacktestResult>), Failure> {
    let PreparedSearch { loaded, space, sweep, candles, .. } = prepared;
    let notices = [candles.notices.as_slice(), notices].concat();
    Ok(WalkForwardReport::new(&WalkForwardResult {
        steps: &outcome.windows,
        space,
        sweep,
        windows: layout.settings,
        purge: layout.purge,
        range: &layout.walk_range,
        data_hash: &candles.hash,
        notices: &notices,
        balance: loaded.initial_balance()?,
        caveats,
    }))
}

fn write_results(
    folder: &ResultFolder,
    report: &WalkForwardReport,
    all: Option<&BacktestResult>,
    (settings, caveats): (&BacktestSettings, &Caveats),
) -> Result<Vec<PathBuf>, Failure> {
    let mut files = vec![
        folder.put("windows.csv", |bytes| write_windows(report, bytes))?,
        folder.put("walk-forward.json", |bytes| writeln!(bytes, "{:#}", json!(report)))?,
    ];
    if let Some(all) = all {
        let bots = &settings.session.bots;
        let mut caveats = caveats.clone();
        caveats.add_gap_reason(&all.book);
        let facts = RunFacts::new(&all.book, bots, (all.money_scale, &caveats));
        files.push(folder.put("trades.csv.run.json", |bytes| Ok(serde_json::to_writer(bytes, &facts)?))?);
        files.push(
            folder.put("trades.csv", |bytes| write_trades_to(bytes, &all.book, bots, all.money_scale))?,
        );
    }
    Ok(files)
}
