//! How many trades it takes to show an edge.

use super::percent;
use candlewick_records::table;
use candlewick_statistics::{EdgeTestPlan, StatisticsError, TradePlan, break_even};
use serde::Serialize;
use std::fmt;

/// What is asked of every edge.
#[derive(Clone, Copy, Debug)]
pub struct TradesNeededTerms {
    /// As a fraction of the stake.
    pub payout: f64,
    /// How the verdict is set.
    pub verdict: EdgeTestPlan,
    /// How probable it has to be to find an edge that is there, from 0 to 1.
    pub power: f64,
    /// Simulated runs for the verdict's own figure.
    pub paths: u64,
    /// Trades after which a simulated run is given up.
    pub most_trades: u64,
    /// Seed of the simulated runs.
    pub seed: u64,
}

/// How many trades it takes to show each of some edges.
#[derive(Debug, Serialize)]
pub struct TradesNeeded {
    /// As a fraction of the stake.
    pub payout: f64,
    /// The win rate at which it earns nothing.
    pub break_even: f64,
    /// How probable it may be to find an edge that is not there.
    pub alpha: f64,
    /// How probable it has to be to find one that is.
    pub power: f64,
    /// The edge that the verdict looks for, as a return per unit of stake.
    pub delta: f64,
    /// Simulated runs.
    pub paths: u64,
    /// Trades after which a simulated run is given up.
    pub most_trades: u64,
    /// Seed of the simulated runs.
    pub seed: u64,
    /// Each edge.
    pub edges: Vec<EdgeRequirement>,
}

/// The trades that one edge takes.
#[derive(Debug, Serialize)]
pub struct EdgeRequirement {
    /// Percentage points of the win rate above break-even.
    pub points: f64,
    /// The edge that they are: what a trade returns on average, as a fraction of the stake.
    pub edge: f64,
    /// The win rate with this edge.
    pub win_rate: f64,
    /// By the normal approximation.
    pub by_normal: u64,
    /// By the exact binomial test; nothing when it is more than can be looked through.
    pub by_exact_binomial: Option<u64>,
    /// By the verdict.
    pub by_verdict: VerdictTrades,
}

/// When the verdict shows an edge; nothing where too few runs show it.
#[derive(Debug, Serialize)]
pub struct VerdictTrades {
    /// Trades by which half of all runs show it.
    pub half: Option<u64>,
    /// Trades by which so many runs show it as the power asks for.
    pub trades: Option<u64>,
    /// One standard error below.
    pub low: Option<u64>,
    /// One standard error above.
    pub high: Option<u64>,
    /// The share of runs that show it within the most trades.
    pub shown: f64,
    /// Its standard error.
    pub shown_standard_error: f64,
    /// The share of runs that rule it out.
    pub rejected: f64,
}

impl TradesNeeded {
    /// Nothing yet: edges are added one by one, for each takes its time.
    ///
    /// # Errors
    /// A payout that is none.
    pub fn new(terms: TradesNeededTerms) -> Result<Self, StatisticsError> {
        let TradesNeededTerms { payout, verdict, power, paths, most_trades, seed } = terms;
        Ok(Self {
            payout,
            break_even: break_even(payout)?,
            alpha: verdict.alpha(),
            power,
            delta: verdict.delta(),
            paths,
            most_trades,
            seed,
            edges: Vec::new(),
        })
    }
}

impl EdgeRequirement {
    /// Of so many percentage points above break-even.
    ///
    /// # Errors
    /// Points that leave no win rate between 0 and 1.
    pub fn of(points: f64, terms: TradesNeededTerms) -> Result<Self, StatisticsError> {
        let TradesNeededTerms { payout, verdict, power, paths, most_trades, seed } = terms;
        let plan = TradePlan::new(payout, points, verdict.alpha(), power)?;
        let by_exact_binomial = match plan.by_exact_binomial() {
            Ok(trades) => Some(trades),
            Err(StatisticsError::TooManyTrades { .. }) => None,
            Err(error) => return Err(error),
        };
        let rates = plan.by_verdict(verdict, seed, paths, most_trades)?;
        let (low, high) = rates.trades_to_show_range(power);
        Ok(Self {
            points,
            edge: points / 100.0 * (1.0 + payout),
            win_rate: plan.win_probability(),
            by_normal: plan.by_normal(),
            by_exact_binomial,
            by_verdict: VerdictTrades {
                half: rates.trades_to_show(0.5),
                trades: rates.trades_to_show(power),
                low,
                high,
                shown: rates.shown(),
                shown_standard_error: rates.standard_error(rates.shown()),
                rejected: rates.rejected(),
            },
        })
    }

    fn cells(&self) -> [String; 8] {
        let count = |trades: Option<u64>| trades.map_or("more".to_owned(), |trades| trades.to_string());
        let VerdictTrades { half, trades, low, high, shown, shown_standard_error, .. } = self.by_verdict;
        let range = trades.map_or_else(String::new, |_| format!(" ({} to {})", count(low), count(high)));
        [
            format!("+{}", self.points),
            format!("{:+.2} %", self.edge * 100.0),
            percent(self.win_rate),
            self.by_normal.to_string(),
            count(self.by_exact_binomial),
            count(half),
            format!("{}{range}", count(trades)),
            format!("{:.1} % +- {:.1}", shown * 100.0, shown_standard_error * 100.0),
        ]
    }
}

impl fmt::Display for TradesNeeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = format!("verdict, {:.0} % of runs", self.power * 100.0);
        let mut lines = table([
            "points",
            "edge",
            "win rate",
            "normal",
            "exact",
            "verdict, half of runs",
            power.as_str(),
            "shown",
        ]);
        self.edges.iter().for_each(|edge| {
            lines.add_row(edge.cells());
        });
        write!(
            f,
            "Trades to show an edge at payout {} (break-even {}), alpha {}, power {}\n\n{}\n\nnormal and exact: one look, at \
             the end, independent trades. verdict: looked at after every trade, looking for {} of the stake; {} runs of at \
             most {} trades, seed {}, one standard error. points: of the win rate above break-even; edge: what a trade returns on \
             average then, of the stake.",
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
