//! Holds the chains of ruin against trials, many of them; it fails when one is farther from its trials than three standard
//! errors and the error that the chain states.
//!
//! `cargo run --release -p candlewick-statistics --example ruin_trials [PATHS]`
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use candlewick_statistics::{RuinQuestion, StakePlan, ruin, simulate_ruin};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths = std::env::args().nth(1).map_or(Ok(400_000), |text| text.parse())?;
    println!("{paths} paths of 1000 trades at payout 85, smallest stake 1.00\n");
    println!(
        "| plan | balance | wins | chain | its error | trials | standard errors |\n|---|---|---|---|---|---|---|"
    );
    let mut strangers = Vec::new();
    for (name, plan, balance) in plans() {
        for (wins, win_probability) in [("50 %", 0.5), ("p*", 1.0 / 1.85)] {
            let question = RuinQuestion {
                balance,
                minimum_stake: 100,
                win_probability,
                payout_fraction: 0.85,
                draw_share: 0.02,
                horizon_trades: 1_000,
            };
            let chain = ruin(&question, &plan)?;
            let trials = simulate_ruin(&question, &plan, 20_261_121, paths)?;
            let probability = chain.probability();
            let allowed = chain.error() + 3.0 * (probability * (1.0 - probability) / paths as f64).sqrt();
            if (probability - trials.share()).abs() > allowed {
                strangers.push(format!("{name} at {wins}"));
            }
            println!(
                "| {name} | {} | {wins} | {:.5} | {:.1e} | {:.5} | {:.2} |",
                balance / 100,
                chain.probability(),
                chain.error(),
                trials.share(),
                trials.standard_errors_from(chain.probability()),
            );
        }
    }
    if strangers.is_empty() { Ok(()) } else { Err(strangers.join(", ").into()) }
}

fn plans() -> [(&'static str, StakePlan, u64); 7] {
    let martingale = |factor, levels| StakePlan::Martingale {
        base: 1_000,
        factor,
        levels,
        most_stake: 1_000_000,
        step: 1,
    };
    let kelly = StakePlan::Kelly { fraction: 0.5, believed_win_probability: 0.6, step: 1 };
    [
        ("flat 10", StakePlan::Flat { stake: 1_000 }, 30_000),
        ("share 5 %", StakePlan::Share { fraction: 0.05, step: 1 }, 50_000),
        ("half Kelly for 60 %", kelly, 20_000),
        ("doubling 10, 6 levels", martingale(2.0, 6), 200_000),
        ("recovering all from 10, 6 levels", martingale(2.176, 6), 200_000),
        ("factor 1.85 from 10, 6 levels", martingale(1.85, 6), 200_000),
        ("soros 10, 3 wins", StakePlan::Soros { base: 1_000, wins: 3, step: 1 }, 40_000),
    ]
}
