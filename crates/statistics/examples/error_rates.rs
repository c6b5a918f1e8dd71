//! Measures how often the verdict and the naive figures err, and how soon the verdict finds a planted edge.
//!
//! `cargo run --release -p candlewick-statistics --example error_rates [PATHS] [TRADES]`
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use candlewick_statistics::{
    Arrangement, PathRange, Sprt, SprtAnswer, StatisticsError, StreamEvent, TradeOutcome, TradeStream,
    VerdictPlan, VerdictRates, WinRate, binomial_p_value, break_even,
};
use std::ops::ControlFlow;

const SEED: u64 = 20_261_121;
const THREADS: u64 = 2;
const MIXED: [f64; 5] = [0.60, 0.70, 0.80, 0.85, 0.92];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let paths: u64 = arguments.next().map_or(Ok(20_000), |text| text.parse())?;
    let trades: u64 = arguments.next().map_or(Ok(5_000), |text| text.parse())?;
    let range = PathRange { seed: SEED, first_path: 0, paths, trades };
    println!("{paths} paths of {trades} trades, each looked at after every trade, nominal error 5 %\n");
    print_nulls(range)?;
    print_power(range)
}

fn print_nulls(range: PathRange) -> Result<(), Box<dyn std::error::Error>> {
    let naive = Naive::new(range.trades)?;
    println!("| trades that win exactly p* | edge shown | s.e. | SPRT | repeated binomial |");
    println!("|---|---|---|---|---|");
    for (name, arrangement, payouts, draws) in nulls() {
        let stream = TradeStream::new(arrangement, payouts, 0.0, draws)?;
        let shown =
            on_threads(range, &|part| VerdictRates::simulate(VerdictPlan::default(), &stream, part)).shown();
        let (sprt, binomial) = naive.error_rates(&stream, range)?;
        let error = (shown * (1.0 - shown) / range.paths as f64).sqrt();
        println!(
            "| {name} | {:.2} % | {:.2} % | {:.1} % | {:.1} % |",
            100.0 * shown,
            100.0 * error,
            100.0 * sprt,
            100.0 * binomial
        );
    }
    Ok(())
}

fn nulls() -> [(&'static str, Arrangement, &'static [f64], f64); 9] {
    [
        ("independent", Arrangement::OneAfterAnother, &[0.85], 0.0),
        ("three bots in step", Arrangement::InStep(3), &[0.85], 0.0),
        ("five bots in step", Arrangement::InStep(5), &[0.85], 0.0),
        ("chain, two open at once", Arrangement::Chain(2), &[0.85], 0.0),
        ("chain, five open at once", Arrangement::Chain(5), &[0.85], 0.0),
        ("mixed payouts 60 to 92", Arrangement::OneAfterAnother, &MIXED, 0.0),
        ("5 % draws", Arrangement::OneAfterAnother, &[0.85], 0.05),
        ("20 % draws", Arrangement::OneAfterAnother, &[0.85], 0.2),
        ("mixed payouts, 5 % draws, three in step", Arrangement::InStep(3), &MIXED, 0.05),
    ]
}

fn print_power(range: PathRange) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "\n| true edge | shown | rejected | trades to show, half of the paths | 80 % | to reject, half |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, arrangement, points) in [
        ("+5 points", Arrangement::OneAfterAnother, 5.0),
        ("+2 points", Arrangement::OneAfterAnother, 2.0),
        ("+2.16 points: exactly delta", Arrangement::OneAfterAnother, 4.0 / 1.85),
        ("none", Arrangement::OneAfterAnother, 0.0),
        ("a coin at payout 85", Arrangement::OneAfterAnother, 50.0 - 100.0 / 1.85),
        ("+5 points, three bots in step", Arrangement::InStep(3), 5.0),
        ("+5 points, chain of three", Arrangement::Chain(3), 5.0),
        ("+2 points, three bots in step", Arrangement::InStep(3), 2.0),
    ] {
        let stream = TradeStream::new(arrangement, &[0.85], points, 0.0)?;
        let long = PathRange { trades: 4 * range.trades, paths: range.paths / 4, ..range };
        let rates = on_threads(long, &|part| VerdictRates::simulate(VerdictPlan::default(), &stream, part));
        println!(
            "| {name} | {:.1} % | {:.1} % | {} | {} | {} |",
            100.0 * rates.shown(),
            100.0 * rates.rejected(),
            count(rates.trades_to_show(0.5)),
            count(rates.trades_to_show(0.8)),
            count(rates.trades_to_reject(0.5)),
        );
    }
    Ok(())
}

fn count(trades: Option<u64>) -> String {
    trades.map_or_else(|| "-".to_owned(), |trades| trades.to_string())
}

/// Splits the paths among threads; the answer does not depend on how.
fn on_threads(range: PathRange, simulate: &(impl Fn(PathRange) -> VerdictRates + Sync)) -> VerdictRates {
    std::thread::scope(|scope| {
        let part = |thread| {
            let (first, end) = (thread * range.paths / THREADS, (thread + 1) * range.paths / THREADS);
            PathRange { first_path: range.first_path + first, paths: end - first, ..range }
        };
        let started: Vec<_> =
            (0..THREADS).map(part).map(|part| scope.spawn(move || simulate(part))).collect();
        let rates = started.into_iter().map(|thread| thread.join().expect("a simulation does not panic"));
        rates.reduce(VerdictRates::join).expect("there is at least one thread")
    })
}

/// The figures that assume independent trades.
struct Naive {
    /// The fewest wins of so many decided trades whose one-sided p-value is at most 5 %.
    critical: Vec<u64>,
}

impl Naive {
    fn new(trades: u64) -> Result<Self, StatisticsError> {
        let null = break_even(0.85)?;
        let (mut critical, mut won) = (vec![u64::MAX], 0);
        for decided in 1..=trades {
            // All won may still be too probable: then no count is enough.
            while won <= decided && binomial_p_value(WinRate::new(won, decided - won)?, null)? > 0.05 {
                won += 1;
            }
            critical.push(won);
        }
        Ok(Self { critical })
    }

    /// The shares of paths on which the SPRT and the binomial test, repeated after every trade, claim an edge. With
    /// mixed payouts the binomial test takes the break-even of payout 85 moved by the mean of the trades' own.
    fn error_rates(&self, stream: &TradeStream, range: PathRange) -> Result<(f64, f64), StatisticsError> {
        let (mut sprt_shown, mut binomial_shown) = (0_u64, 0_u64);
        for path in 0..range.paths {
            let mut sprt = Sprt::new(VerdictPlan::default());
            let (mut won, mut decided, mut shift, mut is_shown) = (0_u64, 0_usize, 0.0, false);
            let mut failed = None;
            stream.play(range.seed, path, range.trades, |event| {
                let StreamEvent::Settled { payout_fraction: b, outcome, .. } = event else {
                    return ControlFlow::Continue(());
                };
                let told = match outcome {
                    TradeOutcome::Won => sprt.on_won(b),
                    TradeOutcome::Lost => sprt.on_lost(b),
                    TradeOutcome::Draw | TradeOutcome::Cancelled => return ControlFlow::Continue(()),
                };
                failed = told.err();
                won += u64::from(outcome == TradeOutcome::Won);
                decided += 1;
                shift += 1.0 / (1.0 + b) - 1.0 / 1.85;
                is_shown |= won as f64 - shift >= self.critical[decided] as f64;
                ControlFlow::Continue(())
            });
            failed.map_or(Ok(()), Err)?;
            sprt_shown += u64::from(sprt.answer() == SprtAnswer::Edge);
            binomial_shown += u64::from(is_shown);
        }
        let share = |count| count as f64 / range.paths as f64;
        Ok((share(sprt_shown), share(binomial_shown)))
    }
}
