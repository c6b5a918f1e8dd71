//! Coverage of confidence intervals, and error rates of tests with a single look.

use crate::measured::{Bound, Measured, Scale, settled};
use candlewick_statistics::{
    ConfidenceInterval, StatisticsError, StreamDependence, TradeOutcome, TradeStream, WinRate,
    binomial_p_value, break_even, clopper_pearson_interval, poisson_binomial_p_value, wilson_interval,
};

type Interval = fn(WinRate, f64) -> Result<ConfidenceInterval, StatisticsError>;

/// Measures the coverage of two-sided 95 % intervals.
pub(crate) fn coverage(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let true_rate = break_even(0.85)?;
    let mut covered = Vec::new();
    for trades in [50, 1_000] {
        let intervals: [(&str, Bound, Interval); 2] = [
            ("Wilson", Bound::About(0.015), wilson_interval),
            ("Clopper-Pearson", Bound::AtLeast, clopper_pearson_interval),
        ];
        for (name, bound, interval) in intervals {
            let promise = format!("{name} interval of {trades} trades covers the rate");
            covered.push(Measured::share((promise, bound, 0.95), scale.trials, |path| {
                let won = won(path, trades, 0.0)?;
                let found = interval(WinRate::new(won, trades - won)?, 0.95)?;
                Ok((found.lower..=found.upper).contains(&true_rate))
            })?);
        }
    }
    Ok(covered)
}

/// Measures the errors of one-sided tests at 5 % on 500 trades that win at exactly break-even.
pub(crate) fn errors(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let binomial = Measured::share(
        ("one binomial test of 500 trades without an edge errs", Bound::AtMost, 0.05),
        scale.trials,
        |path| Ok(p_value(path, 500, 0.0)? <= 0.05),
    )?;
    let payouts = [0.7, 0.8, 0.92];
    let stream = TradeStream::new(StreamDependence::Independent, &payouts, 0.0, 0.0)?;
    let mixed = Measured::share(
        ("one Poisson-binomial test of 200 trades at mixed payouts errs", Bound::AtMost, 0.05),
        scale.trials / 10,
        |path| {
            let settled = settled(&stream, path, 200);
            let won = settled.iter().filter(|(outcome, _)| *outcome == TradeOutcome::Won).count() as u64;
            let nulls: Vec<f64> = settled.iter().map(|(_, payout)| 1.0 / (1.0 + payout)).collect();
            Ok(poisson_binomial_p_value(won, &nulls)? <= 0.05)
        },
    )?;
    Ok(vec![binomial, mixed])
}

/// Returns the number of wins among independent trades, `points` above the break-even of payout 85.
fn won(path: u64, trades: u64, points: f64) -> Result<u64, StatisticsError> {
    let stream = TradeStream::new(StreamDependence::Independent, &[0.85], points, 0.0)?;
    let settled = settled(&stream, path, trades);
    Ok(settled.iter().filter(|(outcome, _)| *outcome == TradeOutcome::Won).count() as u64)
}

/// Returns the p-value of a single look at these trades.
pub(crate) fn p_value(path: u64, trades: u64, points: f64) -> Result<f64, StatisticsError> {
    let won = won(path, trades, points)?;
    binomial_p_value(WinRate::new(won, trades - won)?, break_even(0.85)?)
}
