//! Error rates of the verdict, checked after every trade, with independent and dependent trades.

use crate::measured::{Bound, Measured, SEED, Scale, on_cores};
use candlewick_statistics::{PathBatch, StatisticsError, StreamDependence, TradeStream, VerdictRates};

pub(crate) const MIXED: [f64; 5] = [0.60, 0.70, 0.80, 0.85, 0.92];

pub(crate) type Null = (&'static str, StreamDependence, &'static [f64], f64);

/// Trades that win at exactly break-even: dependence, payouts, share of draws.
pub(crate) const NULLS: [Null; 10] = [
    ("independent trades", StreamDependence::Independent, &[0.85], 0.0),
    ("three bots in step", StreamDependence::SameTrade(3), &[0.85], 0.0),
    ("five bots in step", StreamDependence::SameTrade(5), &[0.85], 0.0),
    ("fifty bots in step", StreamDependence::SameTrade(50), &[0.85], 0.0),
    ("chain, two open at once", StreamDependence::Overlapping(2), &[0.85], 0.0),
    ("chain, five open at once", StreamDependence::Overlapping(5), &[0.85], 0.0),
    ("mixed payouts 60 to 92", StreamDependence::Independent, &MIXED, 0.0),
    ("5 % draws", StreamDependence::Independent, &[0.85], 0.05),
    ("20 % draws", StreamDependence::Independent, &[0.85], 0.2),
    ("mixed payouts, 5 % draws, three in step", StreamDependence::SameTrade(3), &MIXED, 0.05),
];

/// Error rates on each null, and on edges of exactly delta.
pub(crate) fn errors(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let mut errors = Vec::new();
    for (name, dependence, payouts, draws) in NULLS {
        let rates = rates(&TradeStream::new(dependence, payouts, 0.0, draws)?, scale);
        let nominal = scale.plan.alpha();
        errors.push(wrong(
            format!("edge shown: {name} that win exactly p*"),
            nominal,
            rates.edge_shown_share(),
            scale,
        ));
    }
    for (name, dependence) in [
        ("independent trades", StreamDependence::Independent),
        ("three bots in step", StreamDependence::SameTrade(3)),
        ("chain, three open at once", StreamDependence::Overlapping(3)),
    ] {
        let points = 100.0 * scale.plan.delta() / 1.85;
        let rates = rates(&TradeStream::new(dependence, &[0.85], points, 0.0)?, scale);
        let nominal = scale.plan.beta();
        errors.push(wrong(
            format!("no edge: {name} with exactly delta"),
            nominal,
            rates.edge_rejected_share(),
            scale,
        ));
    }
    Ok(errors)
}

pub(crate) fn wrong(promise: String, nominal: f64, found: f64, scale: Scale) -> Measured {
    let standard_error = (found * (1.0 - found) / scale.trials as f64).sqrt();
    Measured { promise, bound: Bound::AtMost, nominal, found, standard_error, trials: scale.trials }
}

/// Simulates verdicts on paths of a stream.
pub(crate) fn rates(stream: &TradeStream, scale: Scale) -> VerdictRates {
    let parts = on_cores(scale.trials, |first_path, end| {
        let range = PathBatch { seed: SEED, first_path, paths: end - first_path, trades: scale.trades };
        VerdictRates::simulate(scale.plan, stream, range)
    });
    parts.into_iter().reduce(VerdictRates::join).expect("there is at least one core")
}
