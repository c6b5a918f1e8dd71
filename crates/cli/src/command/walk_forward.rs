//! `walk-forward`: parameters chosen on past candles, tested on those that came after.

use super::verified::verify_chosen;
use crate::candles::basis_of;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::host;
use crate::interrupt;
use crate::output::show;
use crate::progress::{Progress, Terminal};
use crate::search::{LayoutArguments, SearchArguments};
use candlewick_app::search::{
    HoldOutOutcome, HoldOutUse, KnownLooks, Layout, OpeningRecord, PreparedSearch, Reopening, ResultFolder,
    SearchTerms, TriedCount, WalkEnd, WalkOutcome, WalkRun,
};
use candlewick_backtest::{BacktestSettings, Finished};
use candlewick_broker::clock::Stopwatch;
use candlewick_report::run::{Caveats, RunFacts, write_trades_to};
use candlewick_report::sweep::SweepCount;
use candlewick_report::walk_forward::{
    HoldOut, HoldOutOpening, WalkForwardReport, WalkForwardResult, WalkForwardSummary, write_windows,
};
use clap::Args;
use serde_json::json;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// What to search, and on what.
#[derive(Debug, Args)]
#[command(
    after_help = "Each window searches its training as `candlewick sweep` would that had no other candles, and trades the \
                  best set on the test after it. Between the two lies at least the longest that a trade can be under way. \
                  Every window begins with the whole balance. The statistics are of the trades of all tests together.\n\n\
                  No window sees the hold-out. --open-hold-out searches the last training before it and trades the \
                  best set on it: once for the same candles, strategy and parameters, as the list in [data].state \
                  remembers.\n\nThe sets that windows chose are verified before anything is shown or written, as the best of a sweep is: candle \
                  by candle and in a new process; where there are more than five, those that were chosen most often.\n\nStopped or killed, the same command goes on where it was.\n\nExamples:\n  candlewick \
                  walk-forward --bot btc-rsi --param period=5..30:5 --param oversold=20..40:5\n  candlewick walk-forward \
                  --config my.toml --param period=5..30 --train 90d --test 30d --anchored\n  candlewick walk-forward \
                  --config my.toml --param period=5..30 --open-hold-out"
)]
pub(crate) struct WalkForwardArguments {
    #[command(flatten)]
    search: SearchArguments,
    #[command(flatten)]
    layout: LayoutArguments,
    /// Test on the hold-out as well: once
    #[arg(long)]
    open_hold_out: bool,
    /// Open a hold-out that was opened before; the result says so, and shows no edge
    #[arg(long, requires = "open_hold_out")]
    again: bool,
    /// The folder of the journals and the results
    #[arg(long, value_name = "DIR", default_value = "walk-forward")]
    out: PathBuf,
}

pub(super) fn run(arguments: &WalkForwardArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let terms = arguments.search.terms();
    let prepared = terms.prepare(&context.global.config, context.registry, &Terminal(context.global))?;
    if let Some(host) = host() {
        host.candles(&prepared.candles.series);
    }
    let place = (arguments.out.as_path(), arguments.hold_out_use());
    let mut walk = WalkRun::prepare(&terms, &arguments.layout.terms(), &prepared, place)?;
    let sign = interrupt::sign()?;
    let stopwatch = Stopwatch::start();
    let mut progress = Progress::new("Walking forward", context.global);
    let end = walk.run(&mut |now| {
        progress.update(now.done, now.total);
        progress.say(&format!("window {} of {}", now.window, now.windows));
        if sign.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    drop(progress);
    let WalkEnd::Done(outcome) = end else {
        let folder = walk.folder().path().display();
        context.say(&format!("stopped; the same command goes on where it was ({folder})"));
        return Ok(sign.get().copied().unwrap_or(Ending::Interrupted));
    };
    let counted = walk.count(&outcome, context.registry);
    let opened = match &outcome.hold_out {
        Some(HoldOutOutcome::Opened { result, .. }) => Some(&**result),
        Some(HoldOutOutcome::Locked { .. }) | None => None,
    };
    let verified = verify_chosen(&prepared, &outcome.windows, opened)?;
    let (report, all) = report_of(&outcome, (&terms, &prepared), walk.layout(), counted.as_ref())?;
    let caveats = caveats_of((&terms, &prepared), counted.as_ref());
    let counted = counted.map(|counted| {
        counted.map(|TriedCount { variants, under_way, is_first, .. }| SweepCount {
            variants,
            under_way,
            is_first,
        })
    });
    let files = write(walk.folder(), &report, all.as_ref(), (&prepared.settings, &caveats))?;
    let resumed = (outcome.resumed, verified);
    let summary = WalkForwardSummary::new(&report, resumed, counted.as_ref(), stopwatch.elapsed(), files);
    show(&summary, context.global)?;
    Ok(Ending::Done)
}

impl WalkForwardArguments {
    fn hold_out_use(&self) -> HoldOutUse {
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
    let mut caveats = Caveats::of_replay(basis, &prepared.settings.simulation);
    match counted {
        // A set is chosen anew in each window; what could be chosen for the best are the walks.
        Some(Ok(tried)) => caveats.count(tried.walks, None),
        Some(Err(error)) => caveats.count(0, Some(&error.to_string())),
        None => caveats.leave_uncounted(),
    }
    caveats
}

/// The report of a walk, and all of its tests as one run.
fn report_of(
    outcome: &WalkOutcome,
    (terms, prepared): (&SearchTerms, &PreparedSearch<'_>),
    layout: &Layout,
    counted: Option<&io::Result<TriedCount>>,
) -> Result<(WalkForwardReport, Option<Finished>), Failure> {
    let PreparedSearch { loaded, space, sweep, candles, .. } = prepared;
    let caveats = caveats_of((terms, prepared), counted);
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
        notices: &candles.notices,
        balance: loaded.initial_balance()?,
        caveats: &caveats,
        hold_out,
    }))
}

/// Writes what came of it: the same bytes, however often it was stopped.
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
        let facts = RunFacts::of(&all.book, bots, (all.money_scale, caveats));
        files.push(folder.put("trades.csv.run.json", |bytes| Ok(serde_json::to_writer(bytes, &facts)?))?);
        files.push(
            folder.put("trades.csv", |bytes| write_trades_to(bytes, &all.book, bots, all.money_scale))?,
        );
    }
    Ok(files)
}
