//! Compares nominal with measured rates and prints the standard error of each measurement.
//! Fails if a promise is broken.
//!
//! `cargo run --release -p candlewick-statistics --example promises [TRIALS]`
#![allow(clippy::print_stdout, reason = "the tables are what it is for")]

mod budget;
mod change;
mod families;
mod intervals;
mod kelly;
mod looks;
mod measured;
mod naive;
mod order;
mod payouts;
mod power;
mod verdict;

use candlewick_statistics::EdgeTestPlan;
use measured::{Measured, Scale};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trials: u64 = std::env::args().nth(1).map_or(Ok(20_000), |text| text.parse())?;
    let scale = Scale { trials, trades: 5_000, plan: EdgeTestPlan::default() };
    println!(
        "The verdict, looked at after each of {} trades, on {trials} paths of each kind\n",
        scale.trades
    );
    let mut all = Vec::new();
    let mut print = |measured: Vec<Measured>| {
        for one in measured {
            println!("{one}");
            all.push(one);
        }
    };
    println!("{}", Measured::HEADER);
    print(verdict::errors(scale)?);
    print(payouts::errors(scale)?);
    println!("\nMany bots of one journal\n\n{}", Measured::HEADER);
    print(budget::errors(scale)?);
    payouts::print_regimes(scale)?;
    naive::print(scale)?;
    power::print(Scale { trades: 4 * scale.trades, ..scale })?;
    println!("\nIntervals that may be looked at, and the watch over a shown edge\n\n{}", Measured::HEADER);
    print(looks::coverage(scale)?);
    print(payouts::coverage(scale)?);
    print(change::errors(Scale { trials: trials / 10, ..scale }, 1_000)?);
    looks::print_widths(scale)?;
    change::print(scale)?;
    kelly::print(scale)?;
    println!("\nFigures that are looked at once\n\n{}", Measured::HEADER);
    print(intervals::coverage(scale)?);
    print(intervals::errors(scale)?);
    print(families::errors(scale)?);
    print(order::errors(scale)?);
    let broken: Vec<String> = all.iter().filter(|one| !one.is_kept()).map(ToString::to_string).collect();
    if broken.is_empty() { Ok(()) } else { Err(format!("broken: {}", broken.join("; ")).into()) }
}
