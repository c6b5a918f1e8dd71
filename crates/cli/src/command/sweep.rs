//! `sweep`: backtests many parameter sets of one bot, and verifies the best.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::host::report_candles;
use crate::interrupt;
use crate::output::{show, show_as};
use crate::progress::{Progress, StderrBars};
use crate::search::{OpenedPlan, PlannedArguments, SearchArguments, ShardArguments};
use candlewick_app::AppError;
use candlewick_app::bots::convert_search_error;
use candlewick_app::search::{
    PlanDifferences, PlannedCommand, PreparedSearch, ProgramMismatchPolicy, ResultFolder, SearchOptions,
    SearchPlan, render_best_bot,
};
use candlewick_app::validation::verify_best_set;
use candlewick_broker::clock::Stopwatch;
use candlewick_report::sweep::{RejectedSets, SweepReport, SweepResults, write_sweep_page};
use candlewick_report::walk_forward::VerifiedSets;
use candlewick_sdk::testkit::Subject;
use candlewick_search::SearchError;
use candlewick_search::sweep::{
    Candidate, DeclarationMode, Record, Replayer, SelectionBias, Shard, SharedRunner, Sweep, SweepEnd,
    SweepProgress, SweepWatcher, TrialRow, rank_rows, write_trials_csv, write_trials_parquet,
};
use candlewick_search::walk_forward::WindowResult;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::Write as _;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  candlewick sweep --bot btc-rsi --param period=5..30:5 --param oversold=20..40:5\n  \
                  candlewick sweep --bot btc-rsi --param period=2..60:2 --out sweep-2\n  candlewick sweep --config \
                  my.toml --param fast=2..50 --param slow=5..200:log --where \"slow > 2 * fast\" --search tpe --trials \
                  500 --objective sharpe\n\nVALUES is a range 5..30, a range with a step 5..30:5, a log scale \
                  2..500:log, a log scale with 9 steps 2..500:log/9, or a list 5,9,14. If an end of a range is omitted, \
                  the strategy's limit applies. The bot settings close_type and expiration_type can be searched as \
                  lists.\n\nAfter an interruption, run the same command again to resume: finished trials are stored in \
                  trials.jsonl of the output folder.\n\nThe best of many sets is partly luck. `candlewick confirm` tests it \
                  on the sealed candles, which no sweep sees.\n\nTo use several machines, run sweep plan once and \
                  sweep run on each machine. Copy all shard-N.jsonl files next to plan.json and run sweep merge. All \
                  machines need the same program and candles. With --search tpe, every batch of --batch sets is a \
                  round of shards. A round needs the results of the previous rounds next to the plan."
)]
pub(crate) struct SweepArguments {
    #[command(subcommand)]
    step: Option<ShardStep>,
    #[command(flatten)]
    own: Box<SweepOptions>,
}

#[derive(Debug, Args)]
struct SweepOptions {
    #[command(flatten)]
    search: SearchArguments,
    /// Output folder, local or on object storage (s3://BUCKET/FOLDER)
    #[arg(long, value_name = "DIR", default_value = "sweep")]
    out: PathBuf,
    /// Number of best parameter sets to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
}

#[derive(Debug, Subcommand)]
enum ShardStep {
    /// Split a sweep into shards for several machines and write plan.json
    #[command(after_help = "Example:\n  candlewick sweep plan --shards 4 --bot btc-rsi --param period=5..30")]
    Plan {
        /// Number of shards; with --search tpe, number of shards per round
        #[arg(long, value_name = "N", default_value = "4")]
        shards: NonZeroU64,
        #[command(flatten)]
        own: Box<SweepOptions>,
    },
    /// Run one shard of a plan and store its trials in shard-N.jsonl
    ///
    /// The plan contains the search and the candles, so no other arguments or configuration are needed. A shard can be
    /// interrupted and started again; finished trials are not repeated.
    #[command(
        after_help = "Example:\n  candlewick sweep run --plan sweep/plan.json --shard 2 --catalog /mnt/candles"
    )]
    Run(ShardArguments),
    /// Merge the shards of a plan; the results are identical to those of a single machine
    #[command(after_help = "Example:\n  candlewick sweep merge --plan sweep/plan.json")]
    Merge {
        #[command(flatten)]
        planned: PlannedArguments,
        /// Number of best parameter sets to show
        #[arg(long, value_name = "N", default_value_t = 10)]
        top: usize,
    },
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method's lifetimes are not general enough"
)]
pub(super) fn run(arguments: &SweepArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    match &arguments.step {
        None => run_with_options(&arguments.own, context, |sweep| sweep.run(Vec::new())),
        Some(ShardStep::Plan { shards, own }) => run_with_options(own, context, |sweep| sweep.plan(*shards)),
        Some(ShardStep::Run(ShardArguments { shard, planned })) => {
            run_plan((planned, 0), context, |sweep, plan, others| sweep.run_shard(plan, *shard, others))
        }
        Some(ShardStep::Merge { planned, top }) => {
            run_plan((planned, *top), context, |sweep, plan, others| sweep.merge(plan, others))
        }
    }
}

fn run_with_options(
    own: &SweepOptions,
    context: &Context<'_>,
    act: impl FnOnce(&mut SweepContext<'_>) -> Result<Ending, Failure>,
) -> Result<Ending, Failure> {
    let terms = own.search.to_search_options();
    let prepared = terms.prepare(&context.global.config, context.registry, &StderrBars(context.global))?;
    with_sweep((&terms, &prepared), (ResultFolder::open(&own.out)?, own.top), None, context, act)
}

fn run_plan(
    (planned, top): (&PlannedArguments, usize),
    context: &Context<'_>,
    act: impl FnOnce(&mut SweepContext<'_>, &SearchPlan, ProgramMismatchPolicy) -> Result<Ending, Failure>,
) -> Result<Ending, Failure> {
    let OpenedPlan { plan, path, folder, other_program: others } =
        planned.open(PlannedCommand::Sweep, context)?;
    let terms = plan.options(planned.to_plan_location());
    let prepared = plan.prepare(&path, &terms, context.registry, &StderrBars(context.global))?;
    let (place, chosen) = ((ResultFolder::open(&folder)?, top), Some((&plan, others)));
    with_sweep((&terms, &prepared), place, chosen, context, |sweep| act(sweep, &plan, others))
}

impl SweepContext<'_> {
    fn run(&self, known: Vec<Record>) -> Result<Ending, Failure> {
        match self.report(known)? {
            Ok(report) => show(&report, self.context.global),
            Err(ending) => Ok(ending),
        }
    }

    fn merge(&mut self, plan: &SearchPlan, others: ProgramMismatchPolicy) -> Result<Ending, Failure> {
        let gathered = plan.gather(&self.folder, self.job, others, |error| self.to_app_error(error))?;
        self.notices.extend(gathered.notices);
        self.run(gathered.records)
    }

    fn plan(&self, shards: NonZeroU64) -> Result<Ending, Failure> {
        let search = self.prepared.sweep.search;
        let sets = search.max_sets(&self.prepared.space).map_err(|error| self.to_failure(error))?;
        let plan = SearchPlan::new(
            (sets, shards.get(), None),
            (self.options, self.prepared),
            self.identity.clone(),
        )?;
        let plan = if search.search.is_adaptive() { plan.with_rounds(self.job)? } else { plan };
        let path = plan.write(&self.folder)?;
        let shown = path.display();
        let all = plan.shards;
        let document = json!({
            "sets": sets, "shards": all, "rounds": plan.rounds, "file": path, "program": plan.program
        });
        let text = || match plan.rounds {
            None => format!(
                "Wrote {shown}: {sets} parameter sets in {all} shards.\nNext, run `sweep run --plan {shown} --shard N` for N from 1 \
                 to {all}. Each machine needs this file, the same program and the candles.\nThen copy all results next to the plan \
                 and run `sweep merge --plan {shown}`.",
            ),
            Some(rounds) => format!(
                "Wrote {shown}: {sets} parameter sets in {rounds} rounds of {shards} shards.\nNext, run `sweep run --plan {shown} \
                 --shard N` for N from 1 to {shards}. Each machine needs this file, the same program and the candles.\nBefore you run \
                 the next {shards} shards, copy all results next to the plan. After shard {all}, run `sweep merge --plan {shown}`.",
            ),
        };
        show_as(&document, text, self.context.global)
    }

    fn run_shard(
        &self,
        plan: &SearchPlan,
        number: u64,
        others: ProgramMismatchPolicy,
    ) -> Result<Ending, Failure> {
        let shard = Shard::new(number, plan.shards).map_err(|error| self.to_failure(error))?;
        let of_round = plan
            .build_round_shard((&self.folder, number), self.job, others, &|error| self.to_app_error(error))?;
        let before = of_round.as_ref().map_or(&[][..], |part| &part.notices);
        self.context.print_notes(self.notices.iter().chain(before));
        plan.download_shard(&self.folder, number)?;
        let identity =
            of_round.as_ref().map_or_else(|| self.identity.clone(), |part| part.identity(&self.identity));
        let journal = plan.journal(&self.folder, number, &identity);
        let (mut journal, known) = journal.map_err(|error| self.to_failure(error))?;
        let resumed = known.len();
        let kept = (&mut journal, known);
        let (rows, ending) = self.run_with_progress(|watcher| match &of_round {
            Some(part) => self.job.run_round((&part.round, part.shard), kept, watcher),
            None => self.job.run_shard(shard, kept, watcher),
        })?;
        if let Some(ending) = ending {
            return Ok(ending);
        }
        drop(journal);
        self.context.print_notes(plan.upload_shard(&self.folder, number)?);
        let trials = rows.len();
        let document = json!({
            "shard": number, "shards": plan.shards, "trials": trials, "resumed": resumed, "notices": self.notices
        });
        let text = || format!("shard {number} of {}: {trials} trials finished", plan.shards);
        show_as(&document, text, self.context.global)
    }
}

const TRIALS_FILE: &str = "trials.jsonl";

pub(super) struct SweepContext<'a> {
    pub(super) options: &'a SearchOptions,
    pub(super) prepared: &'a PreparedSearch<'a>,
    runner: &'a SharedRunner<'a>,
    pub(super) job: &'a Sweep<'a>,
    pub(super) identity: Value,
    pub(super) folder: ResultFolder,
    top: usize,
    pub(super) notices: Vec<String>,
    pub(super) context: &'a Context<'a>,
}

pub(super) fn with_sweep<T>(
    (terms, prepared): (&SearchOptions, &PreparedSearch<'_>),
    (folder, top): (ResultFolder, usize),
    plan: Option<(&SearchPlan, ProgramMismatchPolicy)>,
    context: &Context<'_>,
    act: impl FnOnce(&mut SweepContext<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let PreparedSearch { loaded, entry, settings, space, sweep, candles, .. } = prepared;
    report_candles(&candles.series);
    let replay = Replayer { settings, entry, space, candles: &candles.series, markets: &candles.markets };
    let runner = SharedRunner::new(replay, DeclarationMode::Trusted);
    let (balance, threads) = (loaded.initial_balance()?, terms.threads());
    let job = Sweep { space, settings: sweep, runner: &runner, balance, threads };
    let identity = terms.identity(prepared)?;
    let checked = plan.map(|(plan, others)| plan.check((prepared, &identity), others)).transpose()?;
    let PlanDifferences { allowed: notices, harmless: differences } = checked.unwrap_or_default();
    context.print_notes(differences);
    act(&mut SweepContext {
        options: terms,
        prepared,
        runner: &runner,
        job: &job,
        identity,
        folder,
        top,
        notices,
        context,
    })
}

impl SweepContext<'_> {
    pub(super) fn report(&self, mut known: Vec<Record>) -> Result<Result<SweepReport, Ending>, Failure> {
        let PreparedSearch { settings, space, sweep, candles, .. } = self.prepared;
        self.folder.download(TRIALS_FILE)?;
        let opened = self.folder.journal(TRIALS_FILE, &self.identity);
        let (mut journal, own) = opened.map_err(|error| self.to_failure(error))?;
        known.extend(own);
        let resumed = known.len();
        let watch = Stopwatch::start();
        let (rows, ending) = self.run_with_progress(|watcher| self.job.run(&mut journal, known, watcher))?;
        drop(journal);
        self.context.print_notes(self.folder.upload(TRIALS_FILE)?);
        if let Some(ending) = ending {
            return Ok(Err(ending));
        }
        self.check_rejected_sets(&rows)?;
        // The search relies on what the strategy declares. The declarations are verified for the best set only.
        if let Some(best) = rank_rows(&rows).first().filter(|best| best.score.is_some()) {
            let checked = self.runner.verify_declaration(&best.candidate, self.job.balance);
            checked.map_err(|error| self.to_failure(error))?;
            verify_parameter_set(self.prepared, &best.candidate)?;
        }
        let simulation = &settings.simulation;
        let bot = settings.session.bots.first();
        let payout = bot.map_or(simulation.payout_percent, |bot| simulation.payout_of(bot.symbol));
        let luck = SelectionBias::new(&rows, payout.to_fraction(), sweep.search.seed);
        let files = self.write_results(&rows, luck.as_ref())?;
        let elapsed = watch.elapsed();
        let evidence = &candles.evidence;
        let tried = SweepResults { rows: &rows, luck, space, sweep, resumed, elapsed, files, evidence };
        let notices = [candles.notices.as_slice(), &self.notices].concat();
        Ok(Ok(SweepReport::new(&tried, (&candles.hash, &notices), self.top)))
    }

    fn check_rejected_sets(&self, rows: &[TrialRow]) -> Result<(), Failure> {
        let refusals = RejectedSets::from_rows(rows);
        let Some(problem) = refusals.first_problem.filter(|_| refusals.count == rows.len()) else {
            return Ok(());
        };
        let PreparedSearch { entry, .. } = self.prepared;
        let sets =
            if rows.len() == 1 { "the only set".to_owned() } else { format!("all {} sets", rows.len()) };
        let problem = format!("strategy \"{}\" rejects {sets}: {problem}", entry.name);
        Err(Failure::configuration(problem)
            .hint("search other values, or exclude rejected sets, for example with --where \"fast < slow\""))
    }

    /// Writes the results. An interrupted and resumed sweep writes exactly the same bytes as an uninterrupted sweep.
    fn write_results(
        &self,
        rows: &[TrialRow],
        luck: Option<&SelectionBias>,
    ) -> Result<Vec<PathBuf>, Failure> {
        let PreparedSearch { space, sweep, .. } = self.prepared;
        let (folder, objective) = (&self.folder, sweep.objective);
        let mut files = vec![
            folder.put("results.csv", |bytes| write_trials_csv(rows, space, luck, bytes))?,
            folder.put("results.parquet", |bytes| write_trials_parquet(rows, space, luck, bytes))?,
            folder.put("report.html", |bytes| {
                write_sweep_page(rows, space, (objective, luck), &self.notices, bytes)
            })?,
            folder.put("luck.json", |bytes| writeln!(bytes, "{:#}", json!(luck)))?,
        ];
        if let Some(best) = rank_rows(rows).into_iter().find(|row| row.score.is_some()) {
            let text = render_best_bot(self.prepared, &space.bot_settings(&best.candidate))?;
            files.push(folder.put("best.toml", |bytes| bytes.write_all(text.as_bytes()))?);
        }
        Ok(files)
    }

    /// Runs a sweep and shows its progress. Returns the trials, and an `Ending` if the sweep was stopped.
    fn run_with_progress(
        &self,
        run: impl FnOnce(&mut SweepWatcher<'_>) -> Result<SweepEnd, SearchError>,
    ) -> Result<(Vec<TrialRow>, Option<Ending>), Failure> {
        let stop_flag = interrupt::stop_flag()?;
        let mut progress = Progress::new("Sweeping", self.context.global);
        let objective = self.prepared.sweep.objective;
        let end = run(&mut |now: &SweepProgress<'_>| {
            progress.update(now.done, now.total);
            if let Some((best, score)) = now.best.and_then(|best| Some((best, best.score?))) {
                let (title, score) = (objective.title(), objective.format_score(score));
                progress.set_detail(&format!("best {title} {score} (trial {})", best.trial));
            }
            if stop_flag.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop(progress);
        let rows = match end.map_err(|error| self.to_failure(error))? {
            SweepEnd::Done(rows) => return Ok((rows, None)),
            SweepEnd::Stopped(rows) => rows,
        };
        Ok((rows, Some(self.context.report_stop(&stop_flag, &self.folder.display_path()))))
    }

    pub(super) fn to_failure(&self, error: SearchError) -> Failure {
        self.to_app_error(error).into()
    }

    fn to_app_error(&self, error: SearchError) -> AppError {
        convert_search_error(error, &self.prepared.loaded)
    }
}

/// Maximum number of parameter sets to verify per walk-forward test. Each takes several runs over all candles.
const MAX_VERIFIED_SETS: usize = 5;

fn verify_parameter_set(prepared: &PreparedSearch<'_>, candidate: &Candidate) -> Result<(), Failure> {
    let PreparedSearch { entry, space, sweep, candles, .. } = prepared;
    let bot = space.bot_settings(candidate);
    let Some(own) = candles.series.iter().find(|own| own.series() == bot.series()) else { return Ok(()) };
    let context = bot.context(prepared.settings.session.longer_share_percent);
    let subject = Subject { entry: entry.clone().into_owned(), params: bot.params, bot: context };
    let seed = sweep.search.seed;
    let verified = verify_best_set(&super::strategy::child_program()?, &subject, own.candles(), seed);
    let help = format!("run all checks: candlewick strategy check {}", subject.entry.name);
    verified.map_err(|error| Failure::new(FailureKind::Check, error).hint(help))
}

/// Verifies the parameter sets that were chosen most often in the walk-forward test.
pub(super) fn verify_chosen_sets(
    prepared: &PreparedSearch<'_>,
    windows: &[WindowResult],
) -> Result<VerifiedSets, Failure> {
    let mut chosen: Vec<(&Candidate, usize)> = Vec::new();
    for candidate in windows.iter().filter_map(|step| Some(&step.chosen.as_ref()?.candidate)) {
        match chosen.iter_mut().find(|(known, _)| *known == candidate) {
            Some((_, times)) => *times += 1,
            None => chosen.push((candidate, 1)),
        }
    }
    chosen.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let verified = chosen.iter().take(MAX_VERIFIED_SETS);
    verified.clone().try_for_each(|(candidate, _)| verify_parameter_set(prepared, candidate))?;
    Ok(VerifiedSets { verified: verified.len(), chosen: chosen.len() })
}
