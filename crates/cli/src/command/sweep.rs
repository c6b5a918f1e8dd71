//! `sweep`: many backtests of one bot, to see what its parameters do.

use super::Context;
use crate::crew::failure_of_backtest;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::sweep::{Prepared, ResultFolder, SearchArguments, SweepReport, Tried, notes_of};
use candlewick_api::clock::Stopwatch;
use candlewick_backtest::sweep::{
    BlackBox, Replay, Shared, Standing, Sweep, SweepEnd, TrialRow, Wish, ranked,
};
use candlewick_backtest::variants::VariantCount;
use clap::Args;
use std::io;
use std::path::PathBuf;

/// What to search.
#[derive(Debug, Args)]
#[command(
    after_help = "VALUES are a range 5..30 (either end may be left out: the strategy's own), with a step 5..30:5, on \
                  the log scale 2..500:log or so many of it 2..500:log/9, or a list 5,9,14. close_type and \
                  expiration_type of the bot are searched by list.\n\nStopped or killed, the same command goes on \
                  where it was: every trial that ran stands in trials.jsonl of the folder.\n\nExamples:\n  candlewick \
                  sweep --bot btc-rsi --param period=5..30:5 --param oversold=20..40:5\n  candlewick sweep --config \
                  my.toml --param fast=2..50 --param slow=5..200:log --where \"slow > 2 * fast\" --search tpe \
                  --trials 500 --objective sharpe"
)]
pub(crate) struct SweepArguments {
    #[command(flatten)]
    search: SearchArguments,
    /// The folder of the journal and the results
    #[arg(long, value_name = "DIR", default_value = "sweep")]
    out: PathBuf,
    /// How many of the best sets are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
}

pub(super) fn run(arguments: &SweepArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let prepared = arguments.search.prepare(context)?;
    let Prepared { loaded, written, entry, settings, space, sweep, candles } = &prepared;
    let told = |error| failure_of_backtest(error, loaded);
    let folder = ResultFolder::open(&arguments.out)?;
    let (mut journal, known) =
        folder.journal("trials.jsonl", &arguments.search.identity(&prepared).to_json()).map_err(told)?;
    let resumed = known.len();
    let replay = Replay { settings, entry, space, candles: &candles.series, markets: &candles.markets };
    let ground = Shared::new(replay, BlackBox::WhatIsNotDeclared);
    let balance = loaded.initial_balance()?;
    let threads = arguments.search.threads();
    let job = Sweep { space, settings: sweep, ground: &ground, balance, threads };
    let sign = interrupt::sign()?;
    let mut progress = Progress::new("Sweeping", context.global);
    let watch = Stopwatch::start();
    let mut watcher = |standing: &Standing<'_>| {
        progress.update(standing.done, standing.total);
        if let Some((best, score)) = standing.best.and_then(|best| Some((best, best.score?))) {
            progress.say(&format!("best {} {score:.4} of trial {}", sweep.objective, best.trial));
        }
        if sign.get().is_some() { Wish::Stop } else { Wish::GoOn }
    };
    let end = job.run(&mut journal, known, &mut watcher).map_err(told)?;
    drop(progress);
    let SweepEnd::Done(rows) = end else {
        if !context.global.quiet {
            anstream::eprintln!(
                "stopped; the same command goes on where it was ({})",
                folder.path().display()
            );
        }
        return Ok(sign.get().copied().unwrap_or(Ending::Interrupted));
    };
    // What a strategy declares is believed while it is searched; of what comes out, it is not.
    if let Some(best) = ranked(&rows).first().filter(|best| best.score.is_some()) {
        ground.check(&best.candidate, balance).map_err(told)?;
    }
    let elapsed = watch.elapsed();
    let files = folder.write_sweep(&rows, space, sweep.objective, written)?;
    let counted = count_variants(&prepared, &rows, context);
    let tried = Tried { rows: &rows, space, sweep, resumed, elapsed, files, counted };
    let report = SweepReport::of(&tried, candles, arguments.top);
    if context.global.json {
        print_json(&report)?;
    } else {
        print(&report.to_string())?;
    }
    Ok(Ending::Done)
}

/// Notes every trial that ran as a variant of its idea; how many variants of it there are by now.
fn count_variants(
    prepared: &Prepared<'_>,
    rows: &[TrialRow],
    context: &Context<'_>,
) -> Option<io::Result<u64>> {
    let ledger = prepared.loaded.config.variants.ledger()?;
    let tried = rows.iter().filter_map(|row| Some((&row.candidate, row.figures()?)));
    let notes = notes_of(tried, prepared, context.registry);
    let span = prepared.candles.span();
    Some(ledger.note(&notes, &span).map(|known| VariantCount::of(&known, &notes, &span).count))
}
