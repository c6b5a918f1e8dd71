//! Power of confirmations and of live trading, so that the guarantee is not kept by showing nothing.
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use crate::life::Result;
use candlewick_search::evidence::share_plan;
use candlewick_statistics::{EdgeTestPlan, PathBatch, StreamDependence, TradeStream, VerdictRates};
use rayon::prelude::*;

/// Edges in points, with the number of trades until half of the live runs show them.
const LIVE_MEDIANS: [(f64, u64); 5] = [(2.0, 3_508), (3.0, 1_596), (5.0, 554), (8.0, 218), (12.0, 102)];

/// Prints the table, and returns whether all rows pass.
pub(crate) fn print() -> Result<bool> {
    println!("\n| power at payout 85 | measured | required | |\n|---|---|---|---|");
    let mut all_pass = true;
    let mut print = |name: String, found: f64, required: f64, passes: bool| {
        println!("| {name} | {found:.1} | {required:.1} | {} |", if passes { "pass" } else { "FAIL" });
        all_pass &= passes;
    };
    for (number, least) in [(1, 68.0), (2, 41.0)] {
        let found = 100.0 * simulate(Some(number), 5.0, 1_000)?.edge_shown_share();
        let name = format!("share of tests {number} that show +5 points in 1,000 trades (%), at least");
        print(name, found, least, found >= least);
    }
    for (points, known) in LIVE_MEDIANS {
        let (live, first) = (simulate(None, points, 5 * known)?, simulate(Some(1), points, 5 * known)?);
        // Medians may be too high by two standard errors.
        let median = |rates: &VerdictRates, errors: f64| {
            let trades = rates.trades_until_edge_shown(0.5 - errors * rates.standard_error(0.5));
            trades.map_or(f64::INFINITY, |trades| trades as f64)
        };
        let first_most = 1.1 * median(&live, 0.0);
        for (name, rates, most) in [("live", &live, known as f64), ("test 1", &first, first_most)] {
            let name = format!("{name}: median trades until +{points} points are shown, at most");
            print(name, median(rates, 0.0), most, median(rates, 2.0) <= most);
        }
    }
    Ok(all_pass)
}

/// Simulates a test of a ledger, or a live run if there is no number. All have the same paths.
fn simulate(number: Option<usize>, points: f64, trades: u64) -> Result<VerdictRates> {
    let whole = EdgeTestPlan::default();
    let plan = number.map_or(whole, |number| share_plan(whole, number, 1));
    let stream = TradeStream::new(StreamDependence::Independent, &[0.85], points, 0.0)?;
    let batch = |index: u64| PathBatch { seed: 17, first_path: 1_000 * index, paths: 1_000, trades };
    let rates = (0..10).into_par_iter().map(|index| VerdictRates::simulate(plan, &stream, batch(index)));
    Ok(rates.reduce_with(VerdictRates::join).ok_or("no paths")?)
}
