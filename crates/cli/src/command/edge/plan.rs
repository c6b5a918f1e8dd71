//! `edge plan`: the number of trades needed to show an edge.

use super::{load, parse_payout, parse_rate};
use crate::arguments::parse_percent;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::show;
use crate::progress::Progress;
use candlewick_report::edge::{EdgeRequirement, TradesNeeded, TradesNeededTerms};
use candlewick_statistics::EdgeTestPlan;
use clap::Args;

/// Which edges, and how surely they are to be found.
#[derive(Debug, Args)]
#[command(
    after_help = "Three answers for trades one after another, all at one payout. The normal approximation and the exact \
                  binomial test look once, at the end, and assume independent trades; looked at earlier they err far more \
                  often than alpha. The verdict may be looked at after every trade and decides in every run: its figures \
                  come from simulated runs, one standard error each way, and are the same for the same seed.\n\nExamples:\n  \
                  candlewick edge plan --payout 85\n  candlewick edge plan --payout 85 --points 2,5 --power 90\n  \
                  candlewick edge plan --payout 80 --points 3 --paths 20000 --json"
)]
pub(crate) struct PlanArguments {
    /// Payout in percent; simulation.payout_percent of the configuration when left out
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout)]
    payout: Option<f64>,
    /// How far the win rate lies above break-even, in percentage points; each is worth 1 + payout points of edge
    #[arg(long, value_name = "POINTS", value_delimiter = ',', value_parser = parse_points, default_values_t = [2.0, 3.0, 5.0, 10.0])]
    points: Vec<f64>,
    /// How probable it may be to find an edge that is not there; risk.verdict.alpha when left out
    #[arg(long, value_name = "PERCENT", value_parser = parse_rate)]
    alpha: Option<f64>,
    /// How probable it has to be to find one that is
    #[arg(long, value_name = "PERCENT", value_parser = parse_rate, default_value = "80")]
    power: f64,
    /// Simulated runs for the verdict's own figure
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    paths: u64,
    /// Trades after which a simulated run is given up
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    most_trades: u64,
    /// Seed of the simulated runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(arguments: &PlanArguments, context: &Context<'_>) -> Result<(), Failure> {
    let loaded = load(context)?;
    let usual = loaded.config.risk.verdict.to_plan()?;
    let alpha = arguments.alpha.unwrap_or(usual.alpha());
    let terms = TradesNeededTerms {
        payout: arguments.payout.unwrap_or(loaded.config.simulation.payout_percent.to_fraction()),
        verdict: EdgeTestPlan::new(alpha, usual.beta(), usual.delta())?,
        power: arguments.power,
        paths: arguments.paths,
        most_trades: arguments.most_trades,
        seed: arguments.seed,
    };
    let mut needed = TradesNeeded::new(terms)?;
    let mut progress = Progress::new("Simulating verdicts", context.global);
    for (done, points) in (0..).zip(&arguments.points) {
        progress.update(done, arguments.points.len() as u64);
        let edge = EdgeRequirement::of(*points, terms).map_err(|error| {
            let failure = Failure::from(error).context(format!("--points {points}"));
            failure.help("name points above 0, such as 2,5")
        })?;
        needed.edges.push(edge);
    }
    drop(progress);
    show(&needed, context.global)
}

fn parse_points(text: &str) -> Result<f64, String> {
    parse_percent(text).ok_or_else(|| "use percentage points, such as 2,5".to_owned())
}
