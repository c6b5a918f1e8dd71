//! Number of trades needed to show an edge.

use crate::figure::{format_number, format_percent};
use candlewick_records::table_text;
use candlewick_statistics::{EdgeTestPlan, StatisticsError, TradePlan, break_even};
use serde::Serialize;
use std::fmt;

#[derive(Clone, Copy, Debug)]
pub struct TradesNeededTerms {
    /// Payout as a fraction of the stake.
    pub payout: f64,
    pub verdict: EdgeTestPlan,
    /// Required probability that an existing edge is detected, from 0 to 1.
    pub power: f64,
    pub paths: u64,
    pub max_trades: u64,
    pub seed: u64,
}

#[derive(Debug, Serialize)]
pub struct TradesNeeded {
    pub payout: f64,
    pub break_even: f64,
    pub alpha: f64,
    pub power: f64,
    pub delta: f64,
    pub paths: u64,
    pub most_trades: u64,
    pub seed: u64,
    pub edges: Vec<EdgeRequirement>,
}

#[derive(Debug, Serialize)]
pub struct EdgeRequirement {
    pub points: f64,
    /// Mean return per trade, as a fraction of the stake.
    pub edge: f64,
    pub win_rate: f64,
    #[serde(rename = "by_normal")]
    pub normal_trades: u64,
    /// Exact number of trades; `None` if the number is too large to compute.
    #[serde(rename = "by_exact_binomial")]
    pub exact_trades: Option<u64>,
    pub by_verdict: VerdictTrades,
}

/// Trades needed until the verdict shows an edge. Values are `None` if too few simulated runs show the edge.
#[derive(Debug, Serialize)]
pub struct VerdictTrades {
    /// Number of trades after which the verdict shows the edge in half of the runs.
    pub half: Option<u64>,
    pub trades: Option<u64>,
    /// The value of `trades` minus one standard error.
    pub low: Option<u64>,
    pub high: Option<u64>,
    pub shown: f64,
    pub shown_standard_error: f64,
    pub rejected: f64,
}

impl TradesNeeded {
    /// Creates a report without edges. Add each edge separately, because each takes long to compute.
    pub fn new(terms: TradesNeededTerms) -> Result<Self, StatisticsError> {
        let TradesNeededTerms { payout, verdict, power, paths, max_trades: most_trades, seed } = terms;
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
    pub fn new(points: f64, terms: TradesNeededTerms) -> Result<Self, StatisticsError> {
        let TradesNeededTerms { payout, verdict, power, paths, max_trades: most_trades, seed } = terms;
        let plan = TradePlan::new(payout, points, verdict.alpha(), power)?;
        let exact_trades = match plan.exact_trades_needed() {
            Ok(trades) => Some(trades),
            Err(StatisticsError::TooManyTrades { .. }) => None,
            Err(error) => return Err(error),
        };
        let rates = plan.simulate_verdicts(verdict, seed, paths, most_trades)?;
        let (low, high) = rates.trades_until_edge_shown_with_error(power);
        Ok(Self {
            points,
            edge: points / 100.0 * (1.0 + payout),
            win_rate: plan.win_probability(),
            normal_trades: plan.approximate_trades_needed(),
            exact_trades,
            by_verdict: VerdictTrades {
                half: rates.trades_until_edge_shown(0.5),
                trades: rates.trades_until_edge_shown(power),
                low,
                high,
                shown: rates.edge_shown_share(),
                shown_standard_error: rates.standard_error(rates.edge_shown_share()),
                rejected: rates.edge_rejected_share(),
            },
        })
    }

    fn cells(&self) -> [String; 8] {
        let count = |trades: Option<u64>| trades.map_or("more".to_owned(), format_number);
        let VerdictTrades { half, trades, low, high, shown, shown_standard_error, .. } = self.by_verdict;
        let range = trades.map_or_else(String::new, |_| format!(" ({} to {})", count(low), count(high)));
        [
            format!("+{}", self.points),
            format!("{:+.2} %", self.edge * 100.0),
            format_percent(self.win_rate),
            format_number(self.normal_trades),
            count(self.exact_trades),
            count(half),
            format!("{}{range}", count(trades)),
            format!("{:.1} % +- {:.1}", shown * 100.0, shown_standard_error * 100.0),
        ]
    }
}

impl fmt::Display for TradesNeeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = self.power * 100.0;
        let header = "points|edge|win rate|normal|exact|verdict, 50 % of runs";
        let header = format!("{header}|verdict, {power:.0} % of runs|shown");
        write!(
            f,
            "Trades needed to show an edge at payout {} (break-even {}), alpha {}, power {}\n\n{}\n\n\
             normal, exact: independent trades, tested once at the end.\n\
             verdict: tested after every trade, for an edge of {} of the stake; {} runs of up to {} trades, seed {}, \
             +- one standard error.\n\
             points: win rate above break-even. edge: mean return of a trade, % of stake.",
            format_percent(self.payout),
            format_percent(self.break_even),
            format_percent(self.alpha),
            format_percent(self.power),
            table_text(header.split('|'), self.edges.iter().map(EdgeRequirement::cells)),
            format_percent(self.delta),
            format_number(self.paths),
            format_number(self.most_trades),
            self.seed,
        )
    }
}
