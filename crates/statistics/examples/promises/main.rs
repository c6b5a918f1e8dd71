//! Measures what this crate promises: nominal beside measured, with the standard error of the measurement; it fails when a
//! promise is broken.
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
    println!("{}", Measured::HEADER);
    let mut all = verdict::errors(scale)?;
    all.extend(payouts::errors(scale)?);
    for measured in &all {
        println!("{measured}");
    }
    println!("\nMany bots of one journal\n\n{}", Measured::HEADER);
    for measured in budget::errors(scale)? {
        println!("{measured}");
        all.push(measured);
    }
    payouts::print_regimes(scale)?;
    naive::print(scale)?;
    power::print(Scale { trades: 4 * scale.trades, ..scale })?;
    println!("\nIntervals that may be looked at, and the watch over a shown edge\n\n{}", Measured::HEADER);
    let watches = change::errors(Scale { trials: trials / 10, ..scale }, 1_000)?;
    for measured in looks::coverage(scale)?.into_iter().chain(payouts::coverage(scale)?).chain(watches) {
        println!("{measured}");
        all.push(measured);
    }
    looks::print_widths(scale)?;
    change::print(scale)?;
    kelly::print(scale)?;
    println!("\nFigures that are looked at once\n\n{}", Measured::HEADER);
    let others = [
        intervals::coverage(scale)?,
        intervals::errors(scale)?,
        families::errors(scale)?,
        order::errors(scale)?,
    ];
    for measured in others.into_iter().flatten() {
        println!("{measured}");
        all.push(measured);
    }
    let broken: Vec<String> = all.iter().filter(|one| !one.is_kept()).map(ToString::to_string).collect();
    if broken.is_empty() { Ok(()) } else { Err(format!("broken: {}", broken.join("; ")).into()) }
}
