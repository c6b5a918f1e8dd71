//! `selftest`: tests the whole pipeline on markets with a known edge.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::show_as;
use crate::progress::Progress;
use candlewick_app::selftest::{MarketResult, SelftestPlan, document, run_all, text};
use candlewick_broker::clock::Stopwatch;
use clap::Args;

/// How much is tried.
#[derive(Debug, Args)]
#[command(
    after_help = "Each path is two days of minutes with a planted chance, traded at payout 85 with the usual latency. What is \
                  promised: no edge is shown more often than alpha where trades win exactly break-even, none of delta is \
                  rejected more often than beta, and five points are found as often as the verdict alone finds them; always \
                  within three standard errors. A broken promise exits with 5.\n\nExamples:\n  candlewick selftest\n  candlewick \
                  selftest --paths 5000 --seed 7 --json"
)]
pub(crate) struct SelftestArguments {
    /// Paths of each market
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    paths: u64,
    /// The first path's seed; the next ones follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(arguments: &SelftestArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let plan = SelftestPlan { seed: arguments.seed, paths: arguments.paths };
    let watch = Stopwatch::start();
    let mut progress = Progress::new("Following paths", context.global);
    let tried = run_all(plan, &mut |done, total| progress.update(done, total));
    let tried = tried.map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
    drop(progress);
    let took = watch.elapsed();
    show_as(&document(&tried, plan, took), || text(&tried, plan, took), context.global)?;
    judge(&tried)
}

fn judge(tried: &[MarketResult]) -> Result<Ending, Failure> {
    let broken: Vec<String> = tried
        .iter()
        .flat_map(|tried| tried.kept.iter().map(move |kept| (tried, kept)))
        .filter(|(_, kept)| !kept.is_kept())
        .map(|(tried, kept)| format!("{}: {}", tried.market.name, kept.promise))
        .collect();
    if broken.is_empty() {
        return Ok(Ending::Done);
    }
    let problem = format!("broken promises: {}", broken.join("; "));
    let help = "more --paths and another --seed show whether it is chance or a fault";
    Err(Failure::new(FailureKind::Check, anyhow::Error::msg(problem)).help(help))
}
