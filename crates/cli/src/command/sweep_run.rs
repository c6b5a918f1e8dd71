//! An interactive sweep, up to its report.

use super::verified::verify_set;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::host;
use crate::interrupt;
use crate::progress::{Progress, with_spinner};
use candlewick_app::AppError;
use candlewick_app::bots::error_of_search;
use candlewick_app::search::{
    OtherProgram, PlanDifferences, PreparedSearch, ResultFolder, SearchPlan, SearchTerms, SweepRun,
    TriedCount, best_bot, count_sweep,
};
use candlewick_broker::clock::Stopwatch;
use candlewick_report::sweep::{Refusals, SweepCount, SweepReport, SweepResults, write_sweep_page};
use candlewick_search::SearchError;
use candlewick_search::sweep::{
    DeclarationUse, Luck, Record, Replay, SharedRunner, Sweep, SweepEnd, SweepProgress, TrialRow, Watcher,
    ranked, write_trials_csv, write_trials_parquet,
};
use candlewick_search::variants::LookEnd;
use serde_json::{Value, json};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

const TRIALS: &str = "trials.jsonl";

pub(super) struct SweepContext<'a> {
    noted: SweepRun<'a>,
    pub(super) terms: &'a SearchTerms,
    pub(super) prepared: &'a PreparedSearch<'a>,
    runner: &'a SharedRunner<'a>,
    pub(super) job: &'a Sweep<'a>,
    pub(super) identity: Value,
    pub(super) folder: ResultFolder,
    top: usize,
    pub(super) notices: Vec<String>,
    pub(super) context: &'a Context<'a>,
}

pub(super) enum Ended<T> {
    Done(T),
    Stopped(Ending),
}

impl<T> Ended<T> {
    pub(super) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Ended<U> {
        match self {
            Self::Done(done) => Ended::Done(convert(done)),
            Self::Stopped(ending) => Ended::Stopped(ending),
        }
    }
}

pub(super) enum Watched {
    Done(Vec<TrialRow>),
    Stopped(Vec<TrialRow>, Ending),
}

pub(super) fn with_sweep<T>(
    (terms, prepared): (&SearchTerms, &PreparedSearch<'_>),
    (folder, top): (ResultFolder, usize),
    plan: Option<(&SearchPlan, OtherProgram)>,
    context: &Context<'_>,
    act: impl FnOnce(&mut SweepContext<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
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
    act(&mut SweepContext {
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
    })
}

impl SweepContext<'_> {
    pub(super) fn report(&self, mut known: Vec<Record>) -> Result<Ended<SweepReport>, Failure> {
        let PreparedSearch { settings, space, sweep, candles, .. } = self.prepared;
        self.folder.bring(TRIALS)?;
        let opened = self.folder.journal(TRIALS, &self.identity);
        let (mut journal, own) = opened.map_err(|error| self.failure(error))?;
        known.extend(own);
        let resumed = known.len();
        let watch = Stopwatch::start();
        self.begin(resumed)?;
        let end = self.watched(|watcher| self.job.run(&mut journal, known, watcher))?;
        drop(journal);
        if let Some(notice) = self.folder.keep(TRIALS)? {
            self.context.say(&format!("note: {notice}"));
        }
        let (rows, ending) = match end {
            Watched::Done(rows) => (rows, None),
            Watched::Stopped(rows, ending) => (rows, Some(ending)),
        };
        let end = if ending.is_none() { LookEnd::Whole } else { LookEnd::Stopped };
        let counted = with_spinner("Counting variants", self.context.global, || {
            count_sweep((&self.noted, self.job), (&rows, end), self.context.registry)
        });
        if let Some(ending) = ending {
            return Ok(Ended::Stopped(ending));
        }
        self.check_refusals(&rows)?;
        // What a strategy declares is believed while it is searched; of what comes out, it is not.
        if let Some(best) = ranked(&rows).first().filter(|best| best.score.is_some()) {
            let checked = self.runner.check(&best.candidate, self.job.balance);
            checked.map_err(|error| self.failure(error))?;
            verify_set(self.prepared, &best.candidate)?;
        }
        let simulation = &settings.simulation;
        let bot = settings.session.bots.first();
        let payout = bot.map_or(simulation.payout_percent, |bot| simulation.payout_of(bot.symbol));
        let luck = Luck::of(&rows, payout.to_fraction(), sweep.search.seed);
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
        Ok(Ended::Done(SweepReport::of(&tried, (&candles.hash, &notices), self.top)))
    }

    /// Fails if the strategy rejected every set, since there is no result then.
    fn check_refusals(&self, rows: &[TrialRow]) -> Result<(), Failure> {
        let refusals = Refusals::of(rows);
        let Some(problem) = refusals.first.filter(|_| refusals.count == rows.len()) else { return Ok(()) };
        let PreparedSearch { entry, .. } = self.prepared;
        let sets =
            if rows.len() == 1 { "the only set".to_owned() } else { format!("all {} sets", rows.len()) };
        let problem = format!("strategy \"{}\" refuses {sets}: {problem}", entry.name);
        Err(Failure::configuration(problem).help(
            "search other values: --where keeps to sets that it takes, such as --where \"fast < slow\"",
        ))
    }

    /// Records the planned sets before any of them runs.
    pub(super) fn begin(&self, known: usize) -> Result<(), Failure> {
        let PreparedSearch { space, sweep, .. } = self.prepared;
        let sets = sweep.search.most_sets(space).map_err(|error| self.failure(error))?;
        self.noted.begin(sets.saturating_sub(known as u64));
        Ok(())
    }

    /// Writes the results: the same bytes, however often the sweep was stopped.
    fn write(&self, rows: &[TrialRow], luck: Option<&Luck>) -> Result<Vec<PathBuf>, Failure> {
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
        if let Some(best) = ranked(rows).into_iter().find(|row| row.score.is_some()) {
            let text = best_bot(self.prepared, &space.bot(&best.candidate))?;
            files.push(folder.put("best.toml", |bytes| bytes.write_all(text.as_bytes()))?);
        }
        Ok(files)
    }

    pub(super) fn watched(
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
        let folder = self.folder.shown();
        self.context.say(&format!("stopped; the same command goes on where it was ({})", folder.display()));
        Ok(Watched::Stopped(rows, sign.get().copied().unwrap_or(Ending::Interrupted)))
    }

    pub(super) fn failure(&self, error: SearchError) -> Failure {
        self.error_of(error).into()
    }

    pub(super) fn error_of(&self, error: SearchError) -> AppError {
        error_of_search(error, &self.prepared.loaded)
    }
}
