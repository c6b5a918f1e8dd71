//! `sweep`: many backtests of one bot, to see what its parameters do.

use super::verified::verify_set;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::host;
use crate::interrupt;
use crate::output::{print, print_json};
use crate::progress::{Progress, Terminal, with_spinner};
use crate::search::{Planned, PlannedArguments, SearchArguments};
use candlewick_app::bots::error_of_search;
use candlewick_app::search::{
    OtherProgram, PlanDifferences, PlannedCommand, PreparedSearch, ResultFolder, SearchPlan, SearchTerms,
    SweepRun, TriedCount, best_bot, count_sweep,
};
use candlewick_broker::clock::Stopwatch;
use candlewick_report::sweep::{SweepCount, SweepReport, SweepResults, write_sweep_page};
use candlewick_search::SearchError;
use candlewick_search::sweep::{
    DeclarationUse, Luck, Record, Replay, Shard, SharedRunner, Sweep, SweepEnd, SweepProgress, TrialRow,
    Watcher, ranked, write_trials_csv, write_trials_parquet,
};
use candlewick_search::variants::LookEnd;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write as _;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// What to search, and where.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "VALUES are a range 5..30 (either end may be left out: the strategy's own), with a step 5..30:5, on \
                  the log scale 2..500:log or so many of it 2..500:log/9, or a list 5,9,14. close_type and \
                  expiration_type of the bot are searched by list.\n\nStopped or killed, the same command goes on \
                  where it was: every trial that ran is kept in trials.jsonl of the folder. Ctrl-C notes what ran, and \
                  nothing else of it counts as a variant. Killed, all sets that it set out to try count until it has \
                  run them, by the same program, and for good where it never does: that one of them was not tried is \
                  proven by no file, since trials.jsonl may have been cut, or lie in another folder, too.\n\nOn \
                  several machines: sweep plan --shards 4 ..., then, with plan.json, the same program and the candles on \
                  each, sweep run --plan plan.json --shard N, then, with all of their shard-N.jsonl beside it, sweep \
                  merge --plan plan.json.\n\nExamples:\n  candlewick sweep \
                  --bot btc-rsi --param period=5..30:5 --param oversold=20..40:5\n  candlewick sweep --config my.toml \
                  --param fast=2..50 --param slow=5..200:log --where \"slow > 2 * fast\" --search tpe --trials 500 \
                  --objective sharpe"
)]
pub(crate) struct SweepArguments {
    #[command(subcommand)]
    step: Option<Step>,
    #[command(flatten)]
    own: Box<OwnArguments>,
}

/// The arguments of a sweep, and of the plan of one.
#[derive(Debug, Args)]
struct OwnArguments {
    #[command(flatten)]
    search: SearchArguments,
    /// The folder of the journal and the results
    #[arg(long, value_name = "DIR", default_value = "sweep")]
    out: PathBuf,
    /// How many of the best sets are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
}

/// A sweep in parts.
#[derive(Debug, Subcommand)]
enum Step {
    /// Cut a sweep into shards, for several machines: writes plan.json to the folder
    #[command(after_help = "Example:\n  candlewick sweep plan --shards 4 --bot btc-rsi --param period=5..30")]
    Plan {
        /// Into how many
        #[arg(long, value_name = "N", default_value = "4")]
        shards: NonZeroU64,
        #[command(flatten)]
        own: Box<OwnArguments>,
    },
    /// Run one shard of a plan; its trials are kept in shard-N.jsonl
    ///
    /// The plan says what is searched, over which candles and how: neither arguments nor a configuration are needed. A
    /// shard may be run twice, stopped, killed and started again: what ran is not run again, and changes nothing.
    #[command(
        after_help = "Example:\n  candlewick sweep run --plan sweep/plan.json --shard 2 --catalog /mnt/candles"
    )]
    Run {
        /// Which one, from 1
        #[arg(long, value_name = "N")]
        shard: u64,
        #[command(flatten)]
        planned: PlannedArguments,
    },
    /// Put the shards of a plan together: the results are those of the sweep on one machine, to the byte
    #[command(after_help = "Example:\n  candlewick sweep merge --plan sweep/plan.json")]
    Merge {
        #[command(flatten)]
        planned: PlannedArguments,
        /// How many of the best sets are shown
        #[arg(long, value_name = "N", default_value_t = 10)]
        top: usize,
    },
}

/// What of a sweep is done here.
#[derive(Clone, Copy, Debug)]
enum Part {
    Whole,
    Plan(NonZeroU64),
    Shard(u64),
    Merged,
}

/// A sweep that is ready to run.
struct SweepContext<'a> {
    noted: SweepRun<'a>,
    terms: &'a SearchTerms,
    prepared: &'a PreparedSearch<'a>,
    runner: &'a SharedRunner<'a>,
    job: &'a Sweep<'a>,
    identity: Value,
    folder: ResultFolder,
    top: usize,
    /// What is to be said of a plan that was made elsewhere.
    notices: Vec<String>,
    context: &'a Context<'a>,
}

pub(super) fn run(arguments: &SweepArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    match &arguments.step {
        None => run_here(Part::Whole, &arguments.own, context),
        Some(Step::Plan { shards, own }) => run_here(Part::Plan(*shards), own, context),
        Some(Step::Run { shard, planned }) => run_planned(Part::Shard(*shard), planned, 0, context),
        Some(Step::Merge { planned, top }) => run_planned(Part::Merged, planned, *top, context),
    }
}

/// A sweep, or the plan of one, by its arguments and the configuration.
fn run_here(part: Part, own: &OwnArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let terms = own.search.terms();
    let prepared = terms.prepare(&context.global.config, context.registry, &Terminal(context.global))?;
    let folder = ResultFolder::open(&own.out)?;
    run_part(part, (&terms, &prepared), (folder, own.top), None, context)
}

/// What a plan says.
fn run_planned(
    part: Part,
    planned: &PlannedArguments,
    top: usize,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let Planned { plan, path, folder, others } = planned.read(PlannedCommand::Sweep, context)?;
    let terms = plan.terms(planned.place())?;
    let prepared = plan.prepare(&path, &terms, context.registry, &Terminal(context.global))?;
    let folder = ResultFolder::open(&folder)?;
    run_part(part, (&terms, &prepared), (folder, top), Some((&plan, others)), context)
}

fn run_part(
    part: Part,
    (terms, prepared): (&SearchTerms, &PreparedSearch<'_>),
    (folder, top): (ResultFolder, usize),
    plan: Option<(&SearchPlan, OtherProgram)>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let PreparedSearch { loaded, entry, settings, space, sweep, candles, .. } = prepared;
    if let Some(host) = host() {
        host.candles(&candles.series);
    }
    let replay = Replay { settings, entry, space, candles: &candles.series, markets: &candles.markets };
    let runner = SharedRunner::new(replay, DeclarationUse::Trusted);
    let (balance, threads) = (loaded.initial_balance()?, terms.threads());
    let job = Sweep { space, settings: sweep, runner: &runner, balance, threads };
    let identity = terms.identity(prepared)?.to_json();
    let checked = plan.map(|(plan, others)| plan.check((prepared, &identity), others)).transpose()?;
    let PlanDifferences { allowed: notices, noted: differences } = checked.unwrap_or_default();
    for one in differences {
        context.say(&format!("note: {one}"));
    }
    let noted = SweepRun::new(terms, prepared, &identity);
    let mut sweep_context = SweepContext {
        noted,
        terms,
        prepared,
        runner: &runner,
        job: &job,
        identity,
        folder,
        top,
        notices,
        context,
    };
    match (part, plan) {
        (Part::Plan(shards), _) => sweep_context.plan(shards),
        (Part::Shard(number), Some((plan, _))) => sweep_context.run_shard(plan, number),
        (Part::Merged, Some((plan, others))) => {
            let gathered =
                plan.gather(&sweep_context.folder, others, |error| error_of_search(error, loaded))?;
            sweep_context.notices.extend(gathered.notices);
            sweep_context.run(gathered.records)
        }
        (Part::Whole | Part::Shard(_) | Part::Merged, _) => sweep_context.run(Vec::new()),
    }
}

impl SweepContext<'_> {
    /// Runs what neither its journal nor `known` knows, and writes the results.
    fn run(&self, mut known: Vec<Record>) -> Result<Ending, Failure> {
        let PreparedSearch { settings, space, sweep, candles, .. } = self.prepared;
        let opened = self.folder.journal("trials.jsonl", &self.identity);
        let (mut journal, own) = opened.map_err(|error| self.failure(error))?;
        known.extend(own);
        let resumed = known.len();
        let watch = Stopwatch::start();
        self.begin(resumed)?;
        let end = self.watched(|watcher| self.job.run(&mut journal, known, watcher))?;
        let (rows, ending) = match end {
            Watched::Done(rows) => (rows, None),
            Watched::Stopped(rows, ending) => (rows, Some(ending)),
        };
        let end = if ending.is_none() { LookEnd::Whole } else { LookEnd::Stopped };
        let counted = with_spinner("Counting variants", self.context.global, || {
            count_sweep((&self.noted, self.job), (&rows, end), self.context.registry)
        });
        if let Some(ending) = ending {
            return Ok(ending);
        }
        // What a strategy declares is believed while it is searched; of what comes out, it is not.
        if let Some(best) = ranked(&rows).first().filter(|best| best.score.is_some()) {
            let checked = self.runner.check(&best.candidate, self.job.balance);
            checked.map_err(|error| self.failure(error))?;
            verify_set(self.prepared, &best.candidate)?;
        }
        let payout = settings.simulation.payout_percent.to_fraction();
        let luck = Luck::of(&rows, payout, sweep.search.seed);
        let files = self.write(&rows, luck.as_ref())?;
        let elapsed = watch.elapsed();
        let counted = counted.map(|counted| {
            counted.map(|TriedCount { variants, under_way, is_first, .. }| SweepCount {
                variants,
                under_way,
                is_first,
            })
        });
        let tried = SweepResults { rows: &rows, luck, space, sweep, resumed, elapsed, files, counted };
        let notices = [candles.notices.as_slice(), &self.notices].concat();
        let report = SweepReport::of(&tried, (&candles.hash, &notices), self.top);
        self.print(&report, || report.to_string())
    }

    /// Notes what is to be tried, before any of it runs.
    fn begin(&self, known: usize) -> Result<(), Failure> {
        let PreparedSearch { space, sweep, .. } = self.prepared;
        let sets = sweep.search.most_sets(space).map_err(|error| self.failure(error))?;
        self.noted.begin(sets.saturating_sub(known as u64));
        Ok(())
    }

    /// Writes the results: the same bytes, however often the sweep was stopped.
    fn write(&self, rows: &[TrialRow], luck: Option<&Luck>) -> Result<Vec<PathBuf>, Failure> {
        let PreparedSearch { written, space, sweep, .. } = self.prepared;
        let (folder, objective) = (&self.folder, sweep.objective);
        let mut files = vec![
            folder.put("results.csv", |bytes| write_trials_csv(rows, space, luck, bytes))?,
            folder.put("results.parquet", |bytes| write_trials_parquet(rows, space, luck, bytes))?,
            folder.put("report.html", |bytes| {
                write_sweep_page(rows, space, (objective, luck), &self.notices, bytes)
            })?,
            folder.put("luck.json", |bytes| writeln!(bytes, "{:#}", json!(luck)))?,
        ];
        if let Some(best) = ranked(rows).into_iter().find(|row| row.score.is_some()) {
            let text = best_bot(written, &space.bot(&best.candidate))?;
            files.push(folder.put("best.toml", |bytes| bytes.write_all(text.as_bytes()))?);
        }
        Ok(files)
    }

    /// Writes the plan of the shards.
    fn plan(&self, shards: NonZeroU64) -> Result<Ending, Failure> {
        let sets = self.job.planned().map_err(|error| self.failure(error))?;
        let plan =
            SearchPlan::new((sets, shards.get(), None), (self.terms, self.prepared), self.identity.clone())?;
        let path = plan.write(&self.folder)?;
        let shown = path.display();
        self.print(&json!({ "sets": sets, "shards": shards, "file": path, "program": plan.program }), || {
            format!(
                "{sets} sets in {shards} shards: wrote {shown}\nnext: sweep run --plan {shown} --shard 1 to {shards}, on \
                 whatever machine has this file, the same program and the candles; then sweep merge --plan {shown} where \
                 all of their journals are",
            )
        })
    }

    /// Runs one shard of the plan.
    fn run_shard(&self, plan: &SearchPlan, number: u64) -> Result<Ending, Failure> {
        for notice in &self.notices {
            self.context.say(&format!("note: {notice}"));
        }
        let shard = Shard::new(number, plan.shards).map_err(|error| self.failure(error))?;
        let journal = plan.journal(&self.folder, number, &self.identity);
        let (mut journal, known) = journal.map_err(|error| self.failure(error))?;
        let resumed = known.len();
        // Shards count as the sweep whose parts they are, until they are merged.
        self.begin(0)?;
        match self.watched(|watcher| self.job.run_shard(shard, (&mut journal, known), watcher))? {
            Watched::Stopped(_, ending) => Ok(ending),
            Watched::Done(rows) => {
                let trials = rows.len();
                let document = json!({
                    "shard": number, "shards": plan.shards, "trials": trials, "resumed": resumed, "notices": self.notices
                });
                self.print(&document, || {
                    format!("shard {number} of {}: {trials} trials have run", plan.shards)
                })
            }
        }
    }

    /// Runs trials under the eyes of a person, who may stop them.
    fn watched(
        &self,
        run: impl FnOnce(&mut Watcher<'_>) -> Result<SweepEnd, SearchError>,
    ) -> Result<Watched, Failure> {
        let sign = interrupt::sign()?;
        let mut progress = Progress::new("Sweeping", self.context.global);
        let objective = self.prepared.sweep.objective;
        let end = run(&mut |now: &SweepProgress<'_>| {
            progress.update(now.done, now.total);
            if let Some((best, score)) = now.best.and_then(|best| Some((best, best.score?))) {
                let (title, score) = (objective.title(), objective.words(score));
                progress.say(&format!("best {title} {score} of trial {}", best.trial));
            }
            if sign.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop(progress);
        let rows = match end.map_err(|error| self.failure(error))? {
            SweepEnd::Done(rows) => return Ok(Watched::Done(rows)),
            SweepEnd::Stopped(rows) => rows,
        };
        let folder = self.folder.path().display();
        self.context.say(&format!("stopped; the same command goes on where it was ({folder})"));
        Ok(Watched::Stopped(rows, sign.get().copied().unwrap_or(Ending::Interrupted)))
    }

    fn print(&self, report: &impl Serialize, text: impl FnOnce() -> String) -> Result<Ending, Failure> {
        if self.context.global.json {
            print_json(report)?;
        } else {
            print(&text())?;
        }
        Ok(Ending::Done)
    }

    fn failure(&self, error: SearchError) -> Failure {
        error_of_search(error, &self.prepared.loaded).into()
    }
}

/// How trials ended that somebody watched.
enum Watched {
    Done(Vec<TrialRow>),
    Stopped(Vec<TrialRow>, Ending),
}
