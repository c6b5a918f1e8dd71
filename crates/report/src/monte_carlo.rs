//! Monte Carlo report: distribution of final balance and drawdown over resampled runs, and risk of ruin.

use crate::figure::{format_number, prefixed_lines};
use candlewick_records::table_text;
use candlewick_search::monte_carlo::PathRow;
use candlewick_statistics::{WinRate, wilson_interval};
use serde::Serialize;
use std::fmt;
use std::io;

const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];
const CONFIDENCE: f64 = 0.95;
const Z_95: f64 = 1.959_963_984_540_054;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonteCarloSettings {
    /// Resampled data: `candles` or `trades`.
    pub resampled: String,
    pub paths: u64,
    /// Mean length of the resampled blocks, in candles or trades.
    pub block: f64,
    pub seed: u64,
    pub balance: f64,
    pub data_hash: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonteCarloReport {
    #[serde(flatten)]
    pub terms: MonteCarloSettings,
    pub observed: PathRow,
    pub quantiles: Vec<QuantileRow>,
    /// Share of simulated paths that ended early because the balance no longer covered a stake.
    pub ruined: Share,
    pub lost: Share,
    pub assumes: Vec<&'static str>,
    pub notices: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QuantileRow {
    pub quantile: f64,
    pub final_balance: Quantile,
    pub max_drawdown_percent: Quantile,
}

/// Quantile over all simulated paths, with a 95 % confidence interval from order statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantile {
    pub value: f64,
    pub lower: f64,
    pub upper: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    pub paths: u64,
    pub share: f64,
    pub lower: f64,
    pub upper: f64,
}

impl MonteCarloReport {
    pub fn new(
        terms: MonteCarloSettings,
        (observed, rows): (PathRow, &[PathRow]),
        notices: Vec<String>,
    ) -> Option<Self> {
        let sorted = |figure: fn(&PathRow) -> f64| {
            let mut values: Vec<f64> = rows.iter().map(figure).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (balances, falls) = (sorted(|row| row.final_balance), sorted(|row| row.max_drawdown_percent));
        let row = |quantile: f64| {
            Some(QuantileRow {
                quantile,
                final_balance: Quantile::new(&balances, quantile)?,
                max_drawdown_percent: Quantile::new(&falls, quantile)?,
            })
        };
        let quantiles = QUANTILES.into_iter().map(row).collect::<Option<_>>()?;
        let share = |is: &dyn Fn(&PathRow) -> bool| {
            Share::new(rows.iter().filter(|row| is(row)).count() as u64, rows.len() as u64)
        };
        let (ruined, balance) = (share(&|row| row.is_ruined)?, terms.balance);
        let lost = share(&|row| row.final_balance < balance)?;
        let assumes = assumptions(terms.resampled == "candles");
        Some(Self { terms, observed, quantiles, ruined, lost, assumes, notices })
    }
}

fn assumptions(is_candles: bool) -> Vec<&'static str> {
    let mut assumes = vec![
        "the future resembles these candles; resampled candles do not prove an edge",
        "patterns longer than one or two blocks are lost",
    ];
    assumes.extend(if is_candles {
        [
            "blocks are joined at the previous close, so tick sizes, weekdays and hours no longer match the original",
            "trades are priced by the resampled candles only, with the venue settings of the backtest",
        ]
    } else {
        [
            "stakes and profits stay as recorded; stake rules and limits do not react to the balance of the path",
            "a path ends when its balance does not cover the next stake",
        ]
    });
    assumes
}

impl Quantile {
    /// Computes a quantile of values in ascending order; `None` if there are no values.
    fn new(sorted: &[f64], quantile: f64) -> Option<Self> {
        let count = sorted.len() as f64;
        let last = sorted.len().checked_sub(1)?;
        let spread = Z_95 * (count * quantile * (1.0 - quantile)).sqrt();
        // The ends of the confidence interval are the values at these 1-based ranks, which are binomial quantiles.
        let at = |rank: f64| sorted[(rank.max(1.0) as usize - 1).min(last)];
        let middle = count * quantile;
        Some(Self {
            value: at(middle.ceil()),
            lower: at((middle - spread).floor()),
            upper: at((middle + spread).ceil() + 1.0),
        })
    }
}

impl Share {
    fn new(paths: u64, all: u64) -> Option<Self> {
        let interval = wilson_interval(WinRate::new(paths, all - paths).ok()?, CONFIDENCE).ok()?;
        let (lower, upper) = (interval.lower, interval.upper);
        Some(Self { paths, share: paths as f64 / all as f64, lower, upper })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [share, lower, upper] = [self.share, self.lower, self.upper].map(|part| part * 100.0);
        write!(f, "{share:.2} % of paths (95 % interval: {lower:.2} to {upper:.2} %)")
    }
}

impl fmt::Display for MonteCarloReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MonteCarloSettings { resampled, paths, block, seed, balance, .. } = &self.terms;
        let text = |number: f64| format_number(format!("{number:.2}"));
        writeln!(
            f,
            "{} paths of resampled {resampled}, mean block length {block:.1} {resampled}, seed {seed}, initial balance {}\n",
            format_number(paths),
            text(*balance)
        )?;
        let header = ["quantile", "final balance", "95 % interval", "max drawdown, %", "95 % interval"];
        let cell =
            |value: Quantile| [text(value.value), format!("{} to {}", text(value.lower), text(value.upper))];
        let row = |row: &QuantileRow| {
            let [balance, balances] = cell(row.final_balance);
            let [fall, falls] = cell(row.max_drawdown_percent);
            [format!("{:.0} %", row.quantile * 100.0), balance, balances, fall, falls]
        };
        let PathRow { final_balance, max_drawdown_percent, .. } = &self.observed;
        let [balance, fall] = [final_balance, max_drawdown_percent].map(|figure| text(*figure));
        let observed = ["this run".to_owned(), balance, String::new(), fall, String::new()];
        writeln!(f, "{}\n", table_text(header, self.quantiles.iter().map(row).chain([observed])))?;
        writeln!(f, "ruined: {}\nended with a loss: {}", self.ruined, self.lost)?;
        write!(f, "\nAssumptions{}", prefixed_lines("- ", &self.assumes))?;
        f.write_str(&prefixed_lines("note: ", &self.notices))
    }
}

pub fn write_paths(rows: &[PathRow], to: &mut Vec<u8>) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    writer.write_record("path,trades,final_balance,max_drawdown,max_drawdown_percent,ruined".split(','))?;
    for row in rows {
        let PathRow { path, trades, final_balance, max_drawdown, max_drawdown_percent, is_ruined, .. } = row;
        writer.write_record([
            path.to_string(),
            trades.to_string(),
            final_balance.to_string(),
            max_drawdown.to_string(),
            max_drawdown_percent.to_string(),
            is_ruined.to_string(),
        ])?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_intervals_match_hand_computed_ranks() {
        let sorted: Vec<f64> = (1..=100).map(f64::from).collect();
        // The interval of the median spans ranks 40 to 61: 50 minus and plus 1.96 * 5, rounded outwards.
        let found = Quantile::new(&sorted, 0.5).unwrap();
        assert_eq!(found, Quantile { value: 50.0, lower: 40.0, upper: 61.0 });
        let found = Quantile::new(&sorted, 0.05).unwrap();
        assert_eq!((found.value, found.lower, found.upper), (5.0, 1.0, 11.0));
        assert_eq!(Quantile::new(&[], 0.5), None);
        assert_eq!(Quantile::new(&[7.0], 0.95), Some(Quantile { value: 7.0, lower: 7.0, upper: 7.0 }));
    }
}
