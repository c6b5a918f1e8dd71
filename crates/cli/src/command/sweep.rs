//! `sweep`: backtests many parameter sets of one bot.

use super::sweep_run::{Ended, SweepContext, Watched, with_sweep};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::show_as;
use crate::progress::Terminal;
use crate::search::{Planned, PlannedArguments, SearchArguments};
use candlewick_app::search::{
    OtherProgram, PlannedCommand, PreparedSearch, ResultFolder, SearchPlan, SearchTerms,
};
use candlewick_search::sweep::{Record, Shard};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use std::num::NonZeroU64;
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
                  merge --plan plan.json. A search that learns (--search tpe) tries --batch sets at a time; each batch is a round, whose \
                  shards need the journals of the rounds before it beside the plan.\n\nExamples:\n  candlewick sweep \
                  --bot btc-rsi --param period=5..30:5 --param oversold=20..40:5\n  candlewick sweep --bot btc-rsi \
                  --param period=2..60:2 --out sweep-2\n  candlewick sweep --config my.toml \
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
    /// The folder of the journal and the results, here or on object storage (s3://BUCKET/FOLDER)
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
        /// Into how many; of a search that learns, each round into so many
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

#[derive(Clone, Copy, Debug)]
enum Part {
    Whole,
    Plan(NonZeroU64),
    Shard(u64),
    Merged,
}

pub(super) fn run(arguments: &SweepArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    match &arguments.step {
        None => run_here(Part::Whole, &arguments.own, context),
        Some(Step::Plan { shards, own }) => run_here(Part::Plan(*shards), own, context),
        Some(Step::Run { shard, planned }) => run_planned(Part::Shard(*shard), planned, 0, context),
        Some(Step::Merge { planned, top }) => run_planned(Part::Merged, planned, *top, context),
    }
}

fn run_here(part: Part, own: &OwnArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let terms = own.search.terms();
    let prepared = terms.prepare(&context.global.config, context.registry, &Terminal(context.global))?;
    let folder = ResultFolder::open(&own.out)?;
    run_part(part, (&terms, &prepared), (folder, own.top), None, context)
}

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
    searched: (&SearchTerms, &PreparedSearch<'_>),
    place: (ResultFolder, usize),
    plan: Option<(&SearchPlan, OtherProgram)>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    with_sweep(searched, place, plan, context, |sweep| match (part, plan) {
        (Part::Plan(shards), _) => sweep.plan(shards),
        (Part::Shard(number), Some((plan, others))) => sweep.run_shard(plan, number, others),
        (Part::Merged, Some((plan, others))) => {
            let to_error = |error| sweep.error_of(error);
            let gathered = plan.gather(&sweep.folder, sweep.job, others, to_error)?;
            sweep.notices.extend(gathered.notices);
            sweep.run(gathered.records)
        }
        (Part::Whole | Part::Shard(_) | Part::Merged, _) => sweep.run(Vec::new()),
    })
}

impl SweepContext<'_> {
    fn run(&self, known: Vec<Record>) -> Result<Ending, Failure> {
        match self.report(known)? {
            Ended::Done(report) => self.print(&report, || report.to_string()),
            Ended::Stopped(ending) => Ok(ending),
        }
    }

    fn plan(&self, shards: NonZeroU64) -> Result<Ending, Failure> {
        let search = self.prepared.sweep.search;
        let sets = search.most_sets(&self.prepared.space).map_err(|error| self.failure(error))?;
        let plan =
            SearchPlan::new((sets, shards.get(), None), (self.terms, self.prepared), self.identity.clone())?;
        let plan = if search.search.learns() { plan.with_rounds(self.job)? } else { plan };
        let path = plan.write(&self.folder)?;
        let shown = path.display();
        let all = plan.shards;
        let document = json!({
            "sets": sets, "shards": all, "rounds": plan.rounds, "file": path, "program": plan.program
        });
        self.print(&document, || match plan.rounds {
            None => format!(
                "{sets} sets in {all} shards: wrote {shown}\nnext: sweep run --plan {shown} --shard 1 to {all}, on \
                 whatever machine has this file, the same program and the candles; then sweep merge --plan {shown} where \
                 all of their journals are",
            ),
            Some(rounds) => format!(
                "{sets} sets in {rounds} rounds of {shards} shards: wrote {shown}\nnext: sweep run --plan {shown} --shard 1 \
                 to {shards}, on whatever machine has this file, the same program and the candles; where all of their \
                 journals are, those of the next round, and so on to {all}; then sweep merge --plan {shown}",
            ),
        })
    }

    fn run_shard(&self, plan: &SearchPlan, number: u64, others: OtherProgram) -> Result<Ending, Failure> {
        let shard = Shard::new(number, plan.shards).map_err(|error| self.failure(error))?;
        let of_round =
            plan.round_shard((&self.folder, number), self.job, others, &|error| self.error_of(error))?;
        let before = of_round.as_ref().map_or(&[][..], |part| &part.notices);
        for notice in self.notices.iter().chain(before) {
            self.context.say(&format!("note: {notice}"));
        }
        plan.bring(&self.folder, number)?;
        let identity =
            of_round.as_ref().map_or_else(|| self.identity.clone(), |part| part.identity(&self.identity));
        let journal = plan.journal(&self.folder, number, &identity);
        let (mut journal, known) = journal.map_err(|error| self.failure(error))?;
        let resumed = known.len();
        // Shards count as the sweep whose parts they are, until they are merged.
        self.begin(0)?;
        let kept = (&mut journal, known);
        match self.watched(|watcher| match &of_round {
            Some(part) => self.job.run_round((&part.round, part.shard), kept, watcher),
            None => self.job.run_shard(shard, kept, watcher),
        })? {
            Watched::Stopped(_, ending) => Ok(ending),
            Watched::Done(rows) => {
                drop(journal);
                let others = plan.keep(&self.folder, number)?;
                if let Some(notice) = &others {
                    self.context.say(&format!("note: {notice}"));
                }
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

    fn print(&self, report: &impl Serialize, text: impl FnOnce() -> String) -> Result<Ending, Failure> {
        show_as(report, text, self.context.global)?;
        Ok(Ending::Done)
    }
}
