//! `edge plan`: how many trades it takes to show an edge.

use super::{load, parse_payout, parse_rate, percent};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{print, print_json, table};
use crate::progress::Progress;
use candlewick_statistics::{StatisticsError, TradePlan, VerdictPlan};
use clap::Args;
use serde::Serialize;

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
    /// Edges in percentage points of the win rate above break-even
    #[arg(long, value_name = "POINTS", value_delimiter = ',', default_values_t = [2.0, 3.0, 5.0, 10.0])]
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

#[derive(Debug, Serialize)]
struct Answer {
    payout: f64,
    break_even: f64,
    alpha: f64,
    power: f64,
    /// The edge that the verdict looks for, as a return per unit of stake.
    delta: f64,
    paths: u64,
    most_trades: u64,
    seed: u64,
    edges: Vec<Line>,
}

/// The trades that one edge takes.
#[derive(Debug, Serialize)]
struct Line {
    points: f64,
    win_rate: f64,
    by_normal: u64,
    /// Nothing when it is more than can be looked through.
    by_exact_binomial: Option<u64>,
    by_verdict: VerdictTrades,
}

/// When the verdict shows an edge; nothing where too few runs show it.
#[derive(Debug, Serialize)]
struct VerdictTrades {
    /// Trades by which half of all runs show it.
    half: Option<u64>,
    /// Trades by which so many runs show it as the power asks for.
    trades: Option<u64>,
    /// One standard error below and above.
    low: Option<u64>,
    high: Option<u64>,
    /// The share of runs that show it within the most trades, and its standard error.
    shown: f64,
    shown_standard_error: f64,
    rejected: f64,
}

pub(super) fn run(arguments: &PlanArguments, context: &Context<'_>) -> Result<(), Failure> {
    let loaded = load(context)?;
    let payout = arguments.payout.unwrap_or(loaded.config.simulation.payout_percent.to_fraction());
    let usual = loaded.config.risk.verdict.to_plan()?;
    let verdict = VerdictPlan::new(arguments.alpha.unwrap_or(usual.alpha()), usual.beta(), usual.delta())?;
    let mut progress = Progress::new("Simulating verdicts", context.global);
    let mut edges = Vec::new();
    for (done, points) in (0..).zip(&arguments.points) {
        progress.update(done, arguments.points.len() as u64);
        edges.push(line(payout, *points, verdict, arguments)?);
    }
    drop(progress);
    let answer = Answer {
        payout,
        break_even: candlewick_statistics::break_even(payout)?,
        alpha: verdict.alpha(),
        power: arguments.power,
        delta: verdict.delta(),
        paths: arguments.paths,
        most_trades: arguments.most_trades,
        seed: arguments.seed,
        edges,
    };
    if context.global.json { print_json(&answer) } else { print(&answer.to_table()) }
}

fn line(payout: f64, points: f64, verdict: VerdictPlan, wanted: &PlanArguments) -> Result<Line, Failure> {
    let plan = TradePlan::new(payout, points, verdict.alpha(), wanted.power).map_err(|error| {
        Failure::from(error).context(format!("--points {points}")).help("name points above 0, such as 2,5")
    })?;
    let by_exact_binomial = match plan.by_exact_binomial() {
        Ok(trades) => Some(trades),
        Err(StatisticsError::TooManyTrades { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let rates = plan.by_verdict(verdict, wanted.seed, wanted.paths, wanted.most_trades)?;
    let (low, high) = rates.trades_to_show_range(wanted.power);
    Ok(Line {
        points,
        win_rate: plan.win_probability(),
        by_normal: plan.by_normal(),
        by_exact_binomial,
        by_verdict: VerdictTrades {
            half: rates.trades_to_show(0.5),
            trades: rates.trades_to_show(wanted.power),
            low,
            high,
            shown: rates.shown(),
            shown_standard_error: rates.standard_error(rates.shown()),
            rejected: rates.rejected(),
        },
    })
}

impl Answer {
    fn to_table(&self) -> String {
        let power = format!("verdict, {:.0} % of runs", self.power * 100.0);
        let mut lines =
            table(["edge", "win rate", "normal", "exact", "verdict, half of runs", power.as_str(), "shown"]);
        let told = |trades: Option<u64>| trades.map_or("more".to_owned(), |trades| trades.to_string());
        for Line { points, win_rate, by_normal, by_exact_binomial, by_verdict } in &self.edges {
            let VerdictTrades { half, trades, low, high, shown, shown_standard_error, .. } = by_verdict;
            let range = trades.map_or_else(String::new, |_| format!(" ({} to {})", told(*low), told(*high)));
            lines.add_row([
                format!("+{points}"),
                percent(*win_rate),
                by_normal.to_string(),
                told(*by_exact_binomial),
                told(*half),
                format!("{}{range}", told(*trades)),
                format!("{:.1} % +- {:.1}", shown * 100.0, shown_standard_error * 100.0),
            ]);
        }
        format!(
            "Trades to show an edge at payout {} (break-even {}), alpha {}, power {}\n\n{}\n\nnormal and exact: one look, at \
             the end, independent trades. verdict: looked at after every trade, looking for {} of the stake; {} runs of at \
             most {} trades, seed {}, one standard error.",
            percent(self.payout),
            percent(self.break_even),
            percent(self.alpha),
            percent(self.power),
            lines.trim_fmt(),
            percent(self.delta),
            self.paths,
            self.most_trades,
            self.seed,
        )
    }
}
