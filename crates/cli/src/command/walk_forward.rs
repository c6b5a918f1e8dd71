//! `walk-forward`: parameters chosen on past candles, tested on those that came after.

use crate::candles::basis_of;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::output::show;
use crate::progress::Progress;
use crate::progress::Terminal;
use crate::search::{LayoutArguments, SearchArguments};
use candlewick_app::bots::error_of_backtest;
use candlewick_app::search::{
    HoldOutLock, Hypothesis, Layout, OpeningRecord, OpeningRequest, Prepared, Reopening, ResultFolder,
    SearchTerms, count_walk,
};
use candlewick_backtest::{BacktestError, BacktestSettings, Finished};
use candlewick_broker::clock::{Clock, Stopwatch, SystemClock};
use candlewick_report::run::{Caveats, write_trades_to};
use candlewick_report::walk_forward::{
    HoldOut, HoldOutOpening, WalkForwardReport, WalkForwardResult, WalkForwardSummary, write_windows,
};
use candlewick_sdk::Millis;
use candlewick_search::sweep::{Replay, SweepProgress};
use candlewick_search::walk_forward::{Course, WalkForward, Window, WindowEnd, WindowResult};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write as _;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// What to search, and on what.
#[derive(Debug, Args)]
#[command(
    after_help = "Each window searches its training as `candlewick sweep` would that had no other candles, and trades the \
                  best set on the test after it. Between the two lies at least the longest that a trade can be under way. \
                  Every window begins with the whole balance. The statistics are of the trades of all tests together.\n\n\
                  No window sees the hold-out. --open-hold-out searches the last training before it and trades the \
                  best set on it: once for the same candles, strategy and parameters, as the list in [data].state \
                  remembers.\n\nStopped or killed, the same command goes on where it was.\n\nExamples:\n  candlewick \
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

/// What the walk goes through, and what makes it stop.
struct Journey<'a> {
    walk: WalkForward<'a>,
    folder: ResultFolder,
    /// Of every window's journal, but for the window.
    identity: Value,
    progress: Progress,
    sign: Arc<OnceLock<Ending>>,
    /// How many windows there are, the hold-out's included.
    count: usize,
    resumed: usize,
}

/// The lock on the hold-out, and what it would be opened for.
struct Guard {
    lock: HoldOutLock,
    hypothesis: Hypothesis,
    range: Range<Millis>,
}

pub(super) fn run(arguments: &WalkForwardArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let terms = arguments.search.terms();
    let prepared = terms.prepare(&context.global.config, context.registry, &Terminal(context.global))?;
    let Prepared { loaded, entry, settings, space, sweep, candles, .. } = &prepared;
    let to_error = |error| error_of_backtest(error, loaded);
    let balance = loaded.initial_balance()?;
    let (series, markets) = (&candles.series, &candles.markets);
    let whole = Replay { settings, entry, space, candles: series, markets };
    let course = Course { whole, balance };
    let layout = &arguments.layout.terms().divide(&course.span(), course.step(), course.purge())?;
    let windows = layout.settings.windows(&layout.walked).map_err(to_error)?;
    let identity = identity(&terms, &prepared, layout)?;
    let guard = Guard::of(&terms, &prepared, layout);
    let asked = asked(arguments, guard.as_ref(), &identity)?;
    let mut journey = Journey {
        walk: WalkForward { course, sweep, threads: terms.threads() },
        folder: ResultFolder::open(&arguments.out)?,
        identity,
        progress: Progress::new("Walking forward", context.global),
        sign: interrupt::sign()?,
        count: windows.len() + usize::from(asked.is_some()),
        resumed: 0,
    };
    let watch = Stopwatch::start();
    let mut steps = Vec::with_capacity(windows.len());
    for (place, window) in windows.iter().enumerate() {
        let Some(step) = journey.step(place, window).map_err(to_error)? else {
            return Ok(journey.stopped(context));
        };
        steps.push(step);
    }
    let caveats = Caveats::of_replay(basis_of(&terms.candles, candles.prices), &settings.simulation);
    let mut opened_step = None;
    let hold_out = match (&guard, &asked) {
        (Some(guard), Some(asked)) => {
            let opened = guard.lock.open(asked)?;
            let window = layout.settings.with_test(&layout.walked, guard.range.clone());
            let step = journey.step(windows.len(), &window).map_err(to_error)?;
            let Some(step) = step else { return Ok(journey.stopped(context)) };
            let line = HoldOut::opened(&step, (space, sweep.objective), &opening_of(opened), caveats.clone());
            opened_step = Some(step);
            Some(line)
        }
        (Some(guard), None) => Some(HoldOut::locked(&guard.range, guard.lock.openings(&guard.hypothesis)?)),
        (None, _) => None,
    };
    let walked = WalkForwardResult {
        steps: &steps,
        space,
        sweep,
        windows: layout.settings,
        purge: layout.purge,
        walked: &layout.walked,
        data_hash: &candles.hash,
        notices: &candles.notices,
        balance,
        caveats: &caveats,
        hold_out,
    };
    let (report, all) = WalkForwardReport::of(walked);
    let counted = count_walk(steps.iter().chain(&opened_step), &prepared, context.registry);
    let (folder, resumed) = journey.end();
    let files = write(&folder, &report, all.as_ref(), settings)?;
    let written = WalkForwardSummary::new(&report, resumed, counted, watch.elapsed(), files);
    show(&written, context.global)?;
    Ok(Ending::Done)
}

fn opening_of(opened: OpeningRecord) -> HoldOutOpening {
    let OpeningRecord { at, number, others } = opened;
    HoldOutOpening { at, number, others }
}

/// Everything that decides a walk.
fn identity(terms: &SearchTerms, prepared: &Prepared<'_>, layout: &Layout) -> Result<Value, Failure> {
    let mut identity = terms.identity(prepared)?.to_json();
    let settings = layout.settings;
    identity["walk"] = json!({
        "scheme": settings.scheme.as_str(),
        "train": settings.train,
        "test": settings.test,
        "gap": settings.gap,
        "walked": [layout.walked.start, layout.walked.end],
        "hold_out": layout.hold_out.as_ref().map(|range| [range.start, range.end]),
    });
    Ok(identity)
}

/// The opening of the hold-out, if it is asked for: refused before anything is searched, where it is.
fn asked<'a>(
    arguments: &WalkForwardArguments,
    guard: Option<&'a Guard>,
    identity: &Value,
) -> Result<Option<OpeningRequest<'a>>, Failure> {
    if !arguments.open_hold_out {
        return Ok(None);
    }
    let Some(Guard { lock, hypothesis, range }) = guard else {
        let problem = "--open-hold-out: nothing is held out; give --hold-out a percentage";
        return Err(Failure::configuration(problem));
    };
    let asked = OpeningRequest {
        hypothesis,
        run: blake3::hash(identity.to_string().as_bytes()).to_hex().to_string(),
        range,
        now: SystemClock::new().now(),
        reopening: if arguments.again { Reopening::OnPurpose } else { Reopening::Refused },
    };
    lock.check(&asked)?;
    Ok(Some(asked))
}

/// Writes what came of it: the same bytes, however often it was stopped.
fn write(
    folder: &ResultFolder,
    report: &WalkForwardReport,
    all: Option<&Finished>,
    settings: &BacktestSettings,
) -> Result<Vec<PathBuf>, Failure> {
    let mut files = vec![
        folder.put("windows.csv", |bytes| write_windows(report, bytes))?,
        folder.put("walk-forward.json", |bytes| writeln!(bytes, "{:#}", json!(report)))?,
    ];
    if let Some(all) = all {
        let bots = &settings.session.bots;
        files.push(
            folder.put("trades.csv", |bytes| write_trades_to(bytes, &all.book, bots, all.money_scale))?,
        );
    }
    Ok(files)
}

impl Journey<'_> {
    /// Walks through a window; nothing when somebody wished it to stop.
    fn step(&mut self, place: usize, window: &Window) -> Result<Option<WindowResult>, BacktestError> {
        let name = format!("trials-{:03}.jsonl", place + 1);
        self.identity["window"] = json!([window.training.start, window.training.end]);
        let (mut journal, known) = self.folder.journal(&name, &self.identity)?;
        self.resumed += known.len();
        let (progress, sign, count) = (&mut self.progress, &self.sign, self.count as u64);
        let mut watcher = |now: &SweepProgress<'_>| {
            let before = place as u64 * now.total;
            progress.update(before + now.done, count * now.total);
            progress.say(&format!("window {} of {count}", place + 1));
            if sign.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let end = self.walk.step(window, &mut journal, known, &mut watcher)?;
        Ok(match end {
            WindowEnd::Done(step) if self.sign.get().is_none() => Some(*step),
            WindowEnd::Done(_) | WindowEnd::Stopped => None,
        })
    }

    /// How the program ends when it was stopped.
    fn stopped(self, context: &Context<'_>) -> Ending {
        drop(self.progress);
        let folder = self.folder.path().display();
        context.say(&format!("stopped; the same command goes on where it was ({folder})"));
        self.sign.get().copied().unwrap_or(Ending::Interrupted)
    }

    /// The folder for the results, and how many trials need not have run.
    fn end(self) -> (ResultFolder, usize) {
        (self.folder, self.resumed)
    }
}

impl Guard {
    /// None where nothing is held out.
    fn of(terms: &SearchTerms, prepared: &Prepared<'_>, layout: &Layout) -> Option<Self> {
        let bot = prepared.settings.session.bots.first()?;
        Some(Self {
            lock: HoldOutLock::new(&prepared.loaded.config.data.state),
            hypothesis: terms.hypothesis(prepared, bot),
            range: layout.hold_out.clone()?,
        })
    }
}
