//! Measures what intervals and tests promise: nominal against measured, with the standard error of the measurement.
//!
//! `cargo run --release -p candlewick-statistics --example promises [TRIALS]`
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use candlewick_statistics::{
    Arrangement, Bootstrap, ConfidenceInterval, DirectedTrade, Split, StatisticsError, StreamEvent,
    TradeOutcome, TradeSide, TradeStream, VariantReturns, WinRate, benjamini_hochberg, best_of_many,
    binomial_p_value, break_even, clopper_pearson_interval, direction_baseline, probability_of_overfitting,
    wilson_interval,
};
use std::ops::ControlFlow;

const SEED: u64 = 20_261_122;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trials: u64 = std::env::args().nth(1).map_or(Ok(20_000), |text| text.parse())?;
    println!("| promise | nominal | measured | s.e. | trials |\n|---|---|---|---|---|");
    for trades in [50, 1_000] {
        print_coverage("Wilson", trades, trials, wilson_interval)?;
        print_coverage("Clopper-Pearson", trades, trials, clopper_pearson_interval)?;
    }
    let few = trials / 10;
    print_rates("one binomial test of 500 trades at payout 85, errs at most", "5 %", trials, |path| {
        Ok(p_value(path, 500, 0.0)? <= 0.05)
    })?;
    print_false_discoveries(few)?;
    for (variants, together, block_periods) in [(1, 1, 1), (20, 1, 1), (20, 4, 1), (20, 4, 12)] {
        let name = format!(
            "best of {variants}, 240 periods, {together} in step, drawn in blocks of {block_periods}"
        );
        print_rates(&name, "10 %", few, |path| {
            let returns = worthless(path, variants, 240, together)?;
            let bootstrap = Bootstrap { block_periods, runs: 199, seed: path };
            Ok(best_of_many(&returns, bootstrap)?.p_value <= 0.1)
        })?;
    }
    print_rates("shifted directions, three symbols of 60 trades", "10 %", few, |path| {
        Ok(direction_baseline(&chance_directions(path)?, 199, path)?.p_value.is_some_and(|p| p <= 0.1))
    })?;
    let split = Split { blocks: 10, purged_periods: 1 };
    let sum: f64 = (0..few / 10)
        .map(|path| Ok(probability_of_overfitting(&worthless(path, 20, 240, 1)?, split)?.probability))
        .sum::<Result<f64, StatisticsError>>()?;
    println!(
        "| overfitting of 20 worthless variants, mean | 50 % | {:.1} % | - | {} |",
        1_000.0 * sum / few as f64,
        few / 10
    );
    Ok(())
}

/// How many of so many independent trades were won, `points` above the break-even of payout 85.
fn won(path: u64, trades: u64, points: f64) -> Result<u64, StatisticsError> {
    let mut won = 0;
    let stream = TradeStream::new(Arrangement::OneAfterAnother, &[0.85], points, 0.0)?;
    stream.play(SEED, path, trades, |event| {
        if let StreamEvent::Settled { outcome, .. } = event {
            won += u64::from(outcome == TradeOutcome::Won);
        }
        ControlFlow::Continue(())
    });
    Ok(won)
}

fn p_value(path: u64, trades: u64, points: f64) -> Result<f64, StatisticsError> {
    let won = won(path, trades, points)?;
    binomial_p_value(WinRate::new(won, trades - won)?, break_even(0.85)?)
}

type Interval = fn(WinRate, f64) -> Result<ConfidenceInterval, StatisticsError>;

fn print_coverage(name: &str, trades: u64, trials: u64, interval: Interval) -> Result<(), StatisticsError> {
    let truth = break_even(0.85)?;
    print_rates(&format!("{name} interval of {trades} trades covers"), "95 %", trials, |path| {
        let won = won(path, trades, 0.0)?;
        let found = interval(WinRate::new(won, trades - won)?, 0.95)?;
        Ok((found.lower..=found.upper).contains(&truth))
    })
}

/// Prints the share of trials of which `is_counted` says so.
fn print_rates(
    name: &str,
    nominal: &str,
    trials: u64,
    is_counted: impl Fn(u64) -> Result<bool, StatisticsError>,
) -> Result<(), StatisticsError> {
    let mut counted = 0_u64;
    for path in 0..trials {
        counted += u64::from(is_counted(path)?);
    }
    let share = counted as f64 / trials as f64;
    let error = (share * (1.0 - share) / trials as f64).sqrt();
    println!("| {name} | {nominal} | {:.2} % | {:.2} % | {trials} |", 100.0 * share, 100.0 * error);
    Ok(())
}

/// Twenty bots of 500 trades each, fifteen of them worthless.
fn print_false_discoveries(trials: u64) -> Result<(), StatisticsError> {
    let (mut sum, mut squares) = (0.0, 0.0);
    for trial in 0..trials {
        let points = |bot| if bot < 15 { 0.0 } else { 7.0 };
        let p_values = (0..20).map(|bot| p_value(20 * trial + bot, 500, points(bot)));
        let adjusted = benjamini_hochberg(&p_values.collect::<Result<Vec<_>, _>>()?)?;
        let found = adjusted.iter().filter(|p| **p <= 0.1).count();
        let wrong = adjusted[..15].iter().filter(|p| **p <= 0.1).count();
        let share = wrong as f64 / found.max(1) as f64;
        sum += share;
        squares += share * share;
    }
    let mean = sum / trials as f64;
    let error = ((squares / trials as f64 - mean * mean) / trials as f64).sqrt();
    println!(
        "| false among discoveries at 10 %, 15 of 20 bots worthless, at most | 7.5 % | {:.2} % | {:.2} % | {trials} |",
        100.0 * mean,
        100.0 * error
    );
    Ok(())
}

/// Returns of variants that win exactly their break-even; so many periods at a time have the same one.
fn worthless(
    path: u64,
    variants: u64,
    periods: u64,
    together: usize,
) -> Result<VariantReturns, StatisticsError> {
    let stream = TradeStream::new(Arrangement::InStep(together), &[0.85], 0.0, 0.0)?;
    let variant = |variant| {
        let mut returns = Vec::new();
        stream.play(SEED, path * variants + variant, periods, |event| {
            if let StreamEvent::Settled { outcome, payout_fraction, .. } = event {
                returns.push(outcome.to_return(payout_fraction));
            }
            ControlFlow::Continue(())
        });
        returns
    };
    VariantReturns::new(&(0..variants).map(variant).collect::<Vec<_>>())
}

/// Trades whose directions and prices know nothing of each other.
fn chance_directions(path: u64) -> Result<Vec<Vec<DirectedTrade>>, StatisticsError> {
    let coin = TradeStream::new(Arrangement::OneAfterAnother, &[1.0], 0.0, 0.0)?;
    let sides = |path| {
        let mut sides = Vec::new();
        coin.play(SEED, path, 60, |event| {
            if let StreamEvent::Settled { outcome, .. } = event {
                sides.push(if outcome == TradeOutcome::Won { TradeSide::Buy } else { TradeSide::Sell });
            }
            ControlFlow::Continue(())
        });
        sides
    };
    let trade = |(side, went)| {
        let (buy_return, sell_return) = if went == TradeSide::Buy { (0.85, -1.0) } else { (-1.0, 0.85) };
        DirectedTrade { side, buy_return, sell_return }
    };
    let symbol =
        |symbol| sides(6 * path + symbol).into_iter().zip(sides(6 * path + 3 + symbol)).map(trade).collect();
    Ok((0..3).map(symbol).collect())
}
