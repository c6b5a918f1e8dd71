//! `edge`: edge statistics from given numbers, a file of trades or a journal.

mod ruin;
mod verdict;

use crate::arguments::{parse_payout_percent, parse_percent};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::show;
use crate::progress::Progress;
use candlewick_app::configuration::{BaseLayer, LoadedConfig};
use candlewick_report::edge::{BreakEvenReport, EdgeRequirement, TradesNeeded, TradesNeededTerms};
use candlewick_statistics::{EdgeTestPlan, StakeWithPayout};
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  \
                  candlewick edge break-even 80 85 92\n  candlewick edge plan --payout 85\n  candlewick edge ruin --martingale 10 --balance 2000\n  candlewick edge verdict \
                  --won 580 --lost 420 --payout 85\n\nPayouts and win rates are percentages, but fractions from 0 to 1 with --json.")]
pub(crate) enum EdgeCommand {
    /// Compute the break-even win rate of a payout
    BreakEven(BreakEvenArguments),
    /// Measure whether a trade gate would have improved the trades of a backtest
    Gate(verdict::GateArguments),
    /// Compute the number of trades needed to show an edge
    Plan(PlanArguments),
    /// Compute the risk of ruin for given stakes, and the balance needed to limit it
    Ruin(ruin::RuinArguments),
    /// Decide whether trades from a file, a journal or given counts show an edge
    Verdict(verdict::VerdictArguments),
}

pub(super) fn run(command: &EdgeCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        EdgeCommand::BreakEven(arguments) => run_break_even(arguments, context),
        EdgeCommand::Gate(arguments) => verdict::run_gate(arguments, context),
        EdgeCommand::Plan(arguments) => run_plan(arguments, context),
        EdgeCommand::Ruin(arguments) => ruin::run(arguments, context),
        EdgeCommand::Verdict(arguments) => verdict::run_verdict(arguments, context),
    }
}

fn load_config(context: &Context<'_>) -> Result<LoadedConfig, Failure> {
    Ok(LoadedConfig::read(&context.global.config, BaseLayer::Bare, Vec::new())?)
}

fn parse_payout_fraction(text: &str) -> Result<f64, String> {
    parse_payout_percent(text).map(|percent| percent / 100.0)
}

fn parse_percent_fraction(text: &str) -> Result<f64, String> {
    let percent = parse_percent(text).filter(|percent| *percent > 0.0 && *percent < 100.0);
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "use a percentage between 0 and 100, such as 55".to_owned())
}

const DEFAULT_PAYOUTS: [f64; 8] = [0.60, 0.70, 0.75, 0.80, 0.85, 0.90, 0.92, 1.00];

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  candlewick edge break-even\n  candlewick \
                  edge break-even 80 85.5\n  candlewick edge break-even 80:10 90:30\n  candlewick edge break-even \
                  --win-rate 56\n\nA win earns the payout, a loss costs the stake, and a draw costs nothing: at payouts below 100 %, a coin \
                  toss loses money. Payouts with stakes (85:10) are also averaged; a verdict tests each trade against its own break-even.")]
pub(crate) struct BreakEvenArguments {
    /// Payouts in percent, optionally with stakes [default: common payouts from 60 to 100]
    #[arg(value_name = "PAYOUT[:STAKE]", value_parser = parse_payout_and_stake)]
    payouts: Vec<(f64, Option<f64>)>,
    /// Win rate, in percent, for which to compute the break-even payout
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction)]
    win_rate: Option<f64>,
}

fn run_break_even(arguments: &BreakEvenArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let named: Vec<f64> = match arguments.payouts.as_slice() {
        [] if arguments.win_rate.is_some() => Vec::new(),
        [] => DEFAULT_PAYOUTS.to_vec(),
        named => named.iter().map(|(payout, _)| *payout).collect(),
    };
    let stakes = collect_stakes(&arguments.payouts)?;
    show(&BreakEvenReport::new(&named, &stakes, arguments.win_rate)?, context.global)
}

fn collect_stakes(named: &[(f64, Option<f64>)]) -> Result<Vec<StakeWithPayout>, Failure> {
    let paid = |&(payout_fraction, stake): &(f64, Option<f64>)| {
        stake.map(|stake| StakeWithPayout { stake, payout_fraction })
    };
    let stakes: Vec<StakeWithPayout> = named.iter().filter_map(paid).collect();
    if !stakes.is_empty() && stakes.len() < named.len() {
        return Err(Failure::configuration("only some payouts have a stake")
            .hint("give every payout a stake (80:10 90:30), or none"));
    }
    Ok(stakes)
}

/// Parses a payout such as `85`, or a payout with a stake: `85:10` is a stake of 10 at a payout of 85.
fn parse_payout_and_stake(text: &str) -> Result<(f64, Option<f64>), String> {
    let Some((payout, stake)) = text.split_once(':') else { return Ok((parse_payout_fraction(text)?, None)) };
    let amount = stake.parse().ok().filter(|stake: &f64| stake.is_finite() && *stake > 0.0);
    let amount =
        amount.ok_or_else(|| format!("\"{stake}\" is not a stake: use PAYOUT:STAKE such as 85:10"))?;
    Ok((parse_payout_fraction(payout)?, Some(amount)))
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick edge plan --payout 85\n  candlewick edge plan --payout 85 --points 2,5 --power 90\n  \
                  candlewick edge plan --payout 80 --points 3 --paths 20000 --json\n\n\
                  Compares three methods for consecutive trades at one payout. The normal approximation and the exact \
                  binomial test assume independent trades and a single test at the end; earlier tests raise the error \
                  rate far above alpha. The verdict can be checked after every trade. The figures for the verdict come from \
                  simulated runs (plus or minus one standard error) and are reproducible by seed."
)]
pub(crate) struct PlanArguments {
    /// Payout in percent [default: simulation.payout_percent]
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout_fraction)]
    payout: Option<f64>,
    /// Edges to plan for, in percentage points above the break-even win rate. At a payout of 85 %, one point is an
    /// average profit of 1.85 % of the stake
    #[arg(long, value_name = "POINTS", value_delimiter = ',', value_parser = parse_percentage_points, default_values_t = [2.0, 3.0, 5.0, 10.0])]
    points: Vec<f64>,
    /// Error rate: probability of finding an edge that does not exist [default: risk.verdict.alpha]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction)]
    alpha: Option<f64>,
    /// Power: probability of finding an existing edge
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction, default_value = "80")]
    power: f64,
    /// Number of simulated runs for the verdict
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    paths: u64,
    /// Maximum number of trades per simulated run
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    most_trades: u64,
    /// Seed of the simulated runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn run_plan(arguments: &PlanArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let loaded = load_config(context)?;
    let usual = loaded.config.risk.verdict.to_plan()?;
    let alpha = arguments.alpha.unwrap_or(usual.alpha());
    let payout = arguments.payout.unwrap_or(loaded.config.simulation.payout_percent.to_fraction());
    let verdict = EdgeTestPlan::new(alpha, usual.beta(), usual.delta())?;
    let PlanArguments { power, paths, most_trades, seed, .. } = *arguments;
    let terms = TradesNeededTerms { payout, verdict, power, paths, max_trades: most_trades, seed };
    let mut needed = TradesNeeded::new(terms)?;
    let mut progress = Progress::new("Simulating verdicts", context.global);
    for (done, points) in (0..).zip(&arguments.points) {
        progress.update(done, arguments.points.len() as u64);
        let edge = EdgeRequirement::new(*points, terms).map_err(|error| {
            let failure = Failure::from(error).context(format!("--points {points}"));
            failure.hint("use percentage points above 0, separated by commas, such as 2,3,5")
        })?;
        needed.edges.push(edge);
    }
    drop(progress);
    show(&needed, context.global)
}

fn parse_percentage_points(text: &str) -> Result<f64, String> {
    parse_percent(text).ok_or_else(|| "use percentage points separated by commas, such as 2,3,5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_percentages_with_or_without_sign() {
        for (text, payout, rate) in [
            ("85%", Some(0.85), Some(0.85)),
            ("100", Some(1.0), None),
            ("0", None, None),
            ("-5", None, None),
            ("1e9", None, None),
        ] {
            let parsed = (parse_payout_fraction(text).ok(), parse_percent_fraction(text).ok());
            assert_eq!(parsed, (payout, rate), "{text}");
        }
    }

    #[test]
    fn parses_payouts_with_or_without_stakes() {
        assert_eq!(parse_payout_and_stake("85"), Ok((0.85, None)));
        assert_eq!(parse_payout_and_stake("85:10"), Ok((0.85, Some(10.0))));
        for wrong in ["85:", "85:0", "85:x", ":10", "0:10"] {
            assert!(parse_payout_and_stake(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rejects_stakes_for_some_payouts_only() {
        assert!(collect_stakes(&[(0.8, None), (0.9, None)]).unwrap().is_empty());
        assert_eq!(collect_stakes(&[(0.8, Some(10.0)), (0.9, Some(30.0))]).unwrap().len(), 2);
        assert!(collect_stakes(&[(0.8, Some(10.0)), (0.9, None)]).unwrap_err().render().contains("payout a"));
    }
}
