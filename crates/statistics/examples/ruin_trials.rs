//! Compares computed ruin probabilities with many simulated paths.
//! Fails if one differs by more than three standard errors plus its stated error.
//!
//! `cargo run --release -p candlewick-statistics --example ruin_trials [PATHS]`
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use candlewick_statistics::{
    MAX_MONEY, RuinParameters, RuinTrials, StakePlan, StatisticsError, required_balance, ruin, simulate_ruin,
};

const SEED: u64 = 20_261_121;
const THREADS: u64 = 2;
/// Numbers of trades at which probability and time of ruin are compared.
const HORIZONS: [u32; 3] = [100, 300, 1_000];
/// Maximum probability of ruin at the required balance.
const MAX_RUIN: f64 = 0.05;
const RATES: [(&str, f64); 2] = [("50 %", 0.5), ("p*", 1.0 / 1.85)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths = std::env::args().nth(1).map_or(Ok(400_000), |text| text.parse())?;
    println!("{paths} paths at payout 85, 2 % draws, smallest stake 1.00\n");
    println!("| plan | balance | wins | within | chain | its error | trials | standard errors |");
    println!("|---|---|---|---|---|---|---|---|");
    let (mut strangers, mut farthest, mut seed) = (Vec::new(), 0.0_f64, SEED);
    let mut compare = |name: &str, wins: &str, question: &RuinParameters, plan: &StakePlan| {
        let chain = ruin(question, plan)?;
        // Every comparison uses different random numbers.
        seed += THREADS;
        let trials = on_threads((question, plan), seed, paths)?;
        let probability = chain.probability();
        let allowed = chain.error() + 3.0 * (probability * (1.0 - probability) / paths as f64).sqrt();
        let away = trials.standard_errors_from(probability);
        farthest = farthest.max(away);
        let RuinParameters { balance, horizon_trades, .. } = question;
        if (probability - trials.ruined_share()).abs() > allowed {
            strangers.push(format!("{name} at {wins} within {horizon_trades}"));
        }
        let (money, error, share) = (balance / 100, chain.error(), trials.ruined_share());
        println!(
            "| {name} | {money} | {wins} | {horizon_trades} | {probability:.5} | {error:.1e} | {share:.5} | {away:.2} |"
        );
        Ok::<(), StatisticsError>(())
    };
    for (name, plan, balance) in plans() {
        for (wins, rate) in RATES {
            for horizon_trades in HORIZONS {
                compare(name, wins, &question(balance, rate, horizon_trades), &plan)?;
            }
        }
    }
    println!("\nWith the balance that keeps ruin within 300 trades to 5 %:\n");
    println!("| plan | balance | wins | within | chain | its error | trials | standard errors |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, plan, _) in plans() {
        for (wins, rate) in RATES {
            let asked = question(0, rate, 300);
            let Some(balance) = required_balance(&asked, &plan, MAX_RUIN)?.filter(|one| *one < MAX_MONEY)
            else {
                println!("| {name} | none is enough | {wins} | 300 | | | | |");
                continue;
            };
            compare(name, wins, &RuinParameters { balance, ..asked }, &plan)?;
        }
    }
    println!("\nfarthest: {farthest:.2} standard errors");
    if strangers.is_empty() { Ok(()) } else { Err(strangers.join(", ").into()) }
}

const fn question(balance: u64, win_probability: f64, horizon_trades: u32) -> RuinParameters {
    RuinParameters {
        balance,
        minimum_stake: 100,
        win_probability,
        payout_fraction: 0.85,
        draw_share: 0.02,
        horizon_trades,
    }
}

/// Runs the simulation on several threads, each with its own seed.
fn on_threads(
    (question, plan): (&RuinParameters, &StakePlan),
    seed: u64,
    paths: u64,
) -> Result<RuinTrials, StatisticsError> {
    std::thread::scope(|scope| {
        let part = |thread| {
            let own = (thread + 1) * paths / THREADS - thread * paths / THREADS;
            scope.spawn(move || simulate_ruin(question, plan, seed + thread, own))
        };
        let started: Vec<_> = (0..THREADS).map(part).collect();
        let mut all = RuinTrials { paths, ruined: 0, stopped: 0, reached_target: 0, halved: 0 };
        for thread in started {
            let own = thread.join().expect("a simulation does not panic")?;
            (all.ruined, all.stopped) = (all.ruined + own.ruined, all.stopped + own.stopped);
            (all.reached_target, all.halved) =
                (all.reached_target + own.reached_target, all.halved + own.halved);
        }
        Ok(all)
    })
}

fn plans() -> [(&'static str, StakePlan, u64); 8] {
    let martingale = |factor, levels, most_stake| StakePlan::Martingale {
        base: 1_000,
        factor,
        levels,
        most_stake,
        step: 1,
    };
    let kelly = StakePlan::Kelly { fraction: 0.5, believed_win_probability: 0.6, step: 1 };
    [
        ("flat 10", StakePlan::Flat { stake: 1_000 }, 30_000),
        ("share 5 %", StakePlan::Share { fraction: 0.05, step: 1 }, 50_000),
        ("half Kelly for 60 %", kelly, 20_000),
        ("doubling 10, 6 levels", martingale(2.0, 6, 1_000_000), 200_000),
        ("doubling 10, 8 levels, at most 100", martingale(2.0, 8, 10_000), 100_000),
        ("recovering all from 10, 6 levels", martingale(2.176, 6, 1_000_000), 200_000),
        ("factor 1.85 from 10, 6 levels", martingale(1.85, 6, 1_000_000), 200_000),
        (
            "soros 10, 3 wins",
            StakePlan::Soros { base: 1_000, wins: 3, most_stake: MAX_MONEY, step: 1 },
            40_000,
        ),
    ]
}
