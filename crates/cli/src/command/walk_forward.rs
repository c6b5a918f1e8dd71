//! `walk-forward`: chooses parameters on past candles and tests them on later ones.

use super::sweep::{sweep_count, verify_chosen};
use crate::arguments::basis_of;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::tell_candles;
use crate::interrupt;
use crate::output::{show, show_as};
use crate::progress::{Progress, Terminal};
use crate::search::{LayoutArguments, Planned, PlannedArguments, SearchArguments, ShardArguments};
use candlewick_app::search::{
    HoldOutOutcome, HoldOutUse, KnownLooks, Layout, OpeningRecord, PlannedCommand, PreparedSearch, Reopening,
    ResultFolder, SearchTerms, TriedCount, WalkEnd, WalkOutcome, WalkProgress, WalkRun, WalkShard,
};
use candlewick_backtest::{BacktestSettings, Finished};
use candlewick_broker::clock::Stopwatch;
use candlewick_report::run::{Caveats, RunFacts, write_trades_to};
use candlewick_report::sweep::SweepCount;
use candlewick_report::walk_forward::{
    HoldOut, HoldOutOpening, VerifiedSets, WalkForwardReport, WalkForwardResult, WalkForwardSummary,
    write_windows,
};
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::{self, Write as _};
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Each window searches its training as `candlewick sweep` would that had no other candles, and trades the \
                  best set on the test after it. Between the two lies at least the longest that a trade can be under way. \
                  Every window begins with the whole balance. The statistics are of the trades of all tests together.\n\n\
                  No window sees the hold-out. --open-hold-out searches the last training before it and trades the \
                  best set on it: once for the same candles, strategy and parameters, as the list in [data].state \
                  remembers.\n\nThe sets that windows chose are verified before anything is shown or written, as the best of a sweep is: candle \
                  by candle and in a new process; where there are more than five, those that were chosen most often.\n\nStopped or killed, the same command goes on where it was.\n\nOn several \
                  machines: walk-forward plan --shards 40 ..., then, with plan.json, the same program and the candles on each, walk-forward \
                  run --plan plan.json --shard N, then, with all of their shard-N.jsonl beside it, walk-forward merge --plan plan.json. The \
                  trainings are run in parts; merge runs the tests, and with --open-hold-out the hold-out's training.\n\nExamples:\n  candlewick \
                  walk-forward --bot btc-rsi --param period=5..30:5 --param oversold=20..40:5\n  candlewick walk-forward \
                  --config my.toml --param period=5..30 --train 90d --test 30d --anchored\n  candlewick walk-forward \
                  --config my.toml --param period=5..30 --open-hold-out"
)]
pub(crate) struct WalkForwardArguments {
    #[command(subcommand)]
    step: Option<Step>,
    #[command(flatten)]
    own: Box<OwnArguments>,
    #[command(flatten)]
    hold_out: HoldOutArguments,
}

#[derive(Debug, Args)]
struct OwnArguments {
    #[command(flatten)]
    search: SearchArguments,
    #[command(flatten)]
    layout: LayoutArguments,
    /// The folder of the journals and the results, here or on object storage (s3://BUCKET/FOLDER)
    #[arg(long, value_name = "DIR", default_value = "walk-forward")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct HoldOutArguments {
    /// Test on the hold-out as well: once
    #[arg(long)]
    open_hold_out: bool,
    /// Open a hold-out that was opened before; the result says so, and shows no edge
    #[arg(long, requires = "open_hold_out")]
    again: bool,
}

#[derive(Debug, Subcommand)]
enum Step {
    /// Cut a walk into shards, for several machines: writes plan.json to the folder
    #[command(
        after_help = "Example:\n  candlewick walk-forward plan --shards 40 --bot btc-rsi --param period=5..30"
    )]
    Plan {
        /// Into how many at least: each window is cut into the same number. A search that learns is one a window
        #[arg(long, value_name = "N", default_value = "4")]
        shards: NonZeroU64,
        #[command(flatten)]
        own: Box<OwnArguments>,
    },
    /// Run one shard of a plan, a part of one window's training; its trials are kept in shard-N.jsonl
    ///
    /// The plan says what is searched, over which candles and how: neither arguments nor a configuration are needed. A
    /// shard may be run twice, stopped, killed and started again: what ran is not run again, and changes nothing.
    #[command(after_help = "Example:\n  candlewick walk-forward run --plan walk-forward/plan.json --shard 2")]
    Run(ShardArguments),
    /// Put the shards of a plan together and run the tests: the results are those of the walk on one machine, to the byte
    #[command(after_help = "Example:\n  candlewick walk-forward merge --plan walk-forward/plan.json")]
    Merge {
        #[command(flatten)]
        planned: PlannedArguments,
        #[command(flatten)]
        hold_out: HoldOutArguments,
    },
}

pub(super) struct Walked {
    pub(super) report: WalkForwardReport,
    counted: Option<io::Result<SweepCount>>,
    resumed: usize,
    verified: VerifiedSets,
    elapsed: Duration,
    files: Vec<PathBuf>,
}

pub(super) fn run(arguments: &WalkForwardArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    match &arguments.step {
        None => run_here(&arguments.own, (arguments.hold_out.value(), None), context),
        Some(Step::Plan { shards, own }) => run_here(own, (HoldOutUse::Locked, Some(*shards)), context),
        Some(Step::Run(ShardArguments { shard, planned })) => {
            run_planned(planned, (HoldOutUse::Locked, Some(*shard)), context)
        }
        Some(Step::Merge { planned, hold_out }) => run_planned(planned, (hold_out.value(), None), context),
    }
}

fn run_here(
    own: &OwnArguments,
    (hold_out, shards): (HoldOutUse, Option<NonZeroU64>),
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let (terms, layout) = (own.search.terms(), own.layout.terms());
    let prepared = terms.prepare(&context.global.config, context.registry, &Terminal(context.global))?;
    tell_candles(&prepared.candles.series);
    let walk = WalkRun::prepare(&terms, &layout, &prepared, (&own.out, hold_out))?;
    let Some(shards) = shards else {
        return show_walked(walked(walk, (&terms, &prepared), &[], context)?, context);
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
            "{windows} windows of {sets} sets in {shards} shards: wrote {shown}\nnext: walk-forward run --plan {shown} --shard 1 \
             to {shards}, on whatever machine has this file, the same program and the candles; then walk-forward merge --plan \
             {shown} where all of their journals are",
        )
    };
    show_as(&document, text, context.global)
}

fn run_planned(
    arguments: &PlannedArguments,
    (hold_out, shard): (HoldOutUse, Option<u64>),
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let Planned { plan, path, folder, others } = arguments.read(PlannedCommand::WalkForward, context)?;
    let Some(layout) = plan.walk.as_ref().map(|walk| walk.layout.clone()) else {
        return Err(Failure::configuration("the plan does not say how the candles are divided"));
    };
    let terms = plan.terms(arguments.place());
    let prepared = plan.prepare(&path, &terms, context.registry, &Terminal(context.global))?;
    tell_candles(&prepared.candles.series);
    let mut walk = WalkRun::prepare(&terms, &layout, &prepared, (&folder, hold_out))?;
    let differences = walk.check(&plan, others)?;
    context.note_all(differences.noted);
    let mut notices = differences.allowed;
    let Some(number) = shard else {
        notices.extend(walk.gather(&plan, others)?);
        return show_walked(walked(walk, (&terms, &prepared), &notices, context)?, context);
    };
    context.note_all(&notices);
    let sign = interrupt::sign()?;
    let mut progress = Progress::new("Walking forward", context.global);
    let end = walk.run_shard(&plan, number, &mut |now| follow(&mut progress, now, &sign))?;
    drop(progress);
    let WalkShard::Done { trials, resumed, notice } = end else {
        return Ok(context.report_stop(&sign, &folder));
    };
    context.note_all(notice);
    let shards = plan.shards;
    let document = json!({
        "shard": number, "shards": shards, "trials": trials, "resumed": resumed, "notices": notices
    });
    show_as(&document, || format!("shard {number} of {shards}: {trials} trials have run"), context.global)
}

fn show_walked(walked: Result<Walked, Ending>, context: &Context<'_>) -> Result<Ending, Failure> {
    walked.map_or_else(Ok, |walked| show(&walked.summary(), context.global))
}

fn follow(progress: &mut Progress, now: WalkProgress, sign: &OnceLock<Ending>) -> ControlFlow<()> {
    progress.update(now.done, now.total);
    progress.say(&format!("window {} of {}", now.window, now.windows));
    if sign.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

pub(super) fn walked(
    mut walk: WalkRun<'_>,
    (terms, prepared): (&SearchTerms, &PreparedSearch<'_>),
    notices: &[String],
    context: &Context<'_>,
) -> Result<Result<Walked, Ending>, Failure> {
    let sign = interrupt::sign()?;
    let stopwatch = Stopwatch::start();
    let mut progress = Progress::new("Walking forward", context.global);
    let end = walk.run(&mut |now| follow(&mut progress, now, &sign))?;
    drop(progress);
    let WalkEnd::Done(outcome) = end else {
        return Ok(Err(context.report_stop(&sign, &walk.folder.shown())));
    };
    let counted = walk.count(&outcome, context.registry);
    let opened = match &outcome.hold_out {
        Some(HoldOutOutcome::Opened { result, .. }) => Some(&**result),
        Some(HoldOutOutcome::Locked { .. }) | None => None,
    };
    let verified = verify_chosen(prepared, &outcome.windows, opened)?;
    let caveats = caveats_of((terms, prepared), counted.as_ref());
    let (report, all) = report_of(&outcome, prepared, (&walk.layout, &caveats, notices))?;
    let counted = counted.map(sweep_count);
    let files = write(&walk.folder, &report, all.as_ref(), (&prepared.settings, &caveats))?;
    let elapsed = stopwatch.elapsed();
    Ok(Ok(Walked { report, counted, resumed: outcome.resumed, verified, elapsed, files }))
}

impl Walked {
    pub(super) fn summary(&self) -> WalkForwardSummary<'_> {
        let Self { report, counted, resumed, verified, elapsed, files } = self;
        WalkForwardSummary::new(report, (*resumed, *verified), counted.as_ref(), *elapsed, files.clone())
    }
}

impl HoldOutArguments {
    fn value(&self) -> HoldOutUse {
        match (self.open_hold_out, self.again) {
            (false, _) => HoldOutUse::Locked,
            (true, false) => HoldOutUse::Opened(Reopening::Refused),
            (true, true) => HoldOutUse::Opened(Reopening::OnPurpose),
        }
    }
}

fn caveats_of(
    (terms, prepared): (&SearchTerms, &PreparedSearch<'_>),
    counted: Option<&io::Result<TriedCount>>,
) -> Caveats {
    let basis = basis_of(&terms.candles, prepared.candles.prices);
    let mut caveats =
        Caveats::of_replay(basis, &prepared.settings.simulation, &prepared.settings.session.bots);
    match counted {
        // A set is chosen anew in each window; what could be chosen for the best are the walks.
        Some(Ok(tried)) => caveats.count(tried.walks, None),
        Some(Err(error)) => caveats.count(0, Some(&error.to_string())),
        None => caveats.leave_uncounted(),
    }
    caveats
}

fn report_of(
    outcome: &WalkOutcome,
    prepared: &PreparedSearch<'_>,
    (layout, caveats, notices): (&Layout, &Caveats, &[String]),
) -> Result<(WalkForwardReport, Option<Finished>), Failure> {
    let PreparedSearch { loaded, space, sweep, candles, .. } = prepared;
    let notices = [candles.notices.as_slice(), notices].concat();
    let hold_out = outcome.hold_out.as_ref().map(|hold_out| match hold_out {
        HoldOutOutcome::Locked { range, openings } => HoldOut::locked(range, *openings),
        HoldOutOutcome::Opened { opening, result } => {
            let OpeningRecord { at, number, others, looks } = opening.clone();
            let KnownLooks { found: looks, unknown: looks_unknown } = looks;
            let opening = HoldOutOpening { at, number, others, looks, looks_unknown };
            HoldOut::opened(result, (space, sweep.objective), &opening, caveats.clone())
        }
    });
    Ok(WalkForwardReport::of(WalkForwardResult {
        steps: &outcome.windows,
        space,
        sweep,
        windows: layout.settings,
        purge: layout.purge,
        walked: &layout.walked,
        data_hash: &candles.hash,
        notices: &notices,
        balance: loaded.initial_balance()?,
        caveats,
        hold_out,
    }))
}

/// Writes the results: the same bytes, however often the walk was stopped.
fn write(
    folder: &ResultFolder,
    report: &WalkForwardReport,
    all: Option<&Finished>,
    (settings, caveats): (&BacktestSettings, &Caveats),
) -> Result<Vec<PathBuf>, Failure> {
    let mut files = vec![
        folder.put("windows.csv", |bytes| write_windows(report, bytes))?,
        folder.put("walk-forward.json", |bytes| writeln!(bytes, "{:#}", json!(report)))?,
    ];
    if let Some(all) = all {
        let bots = &settings.session.bots;
        let mut caveats = caveats.clone();
        caveats.count_gaps(&all.book);
        let facts = RunFacts::of(&all.book, bots, (all.money_scale, &caveats));
        files.push(folder.put("trades.csv.run.json", |bytes| Ok(serde_json::to_writer(bytes, &facts)?))?);
        files.push(
            folder.put("trades.csv", |bytes| write_trades_to(bytes, &all.book, bots, all.money_scale))?,
        );
    }
    Ok(files)
}
