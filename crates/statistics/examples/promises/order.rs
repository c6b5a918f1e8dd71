//! False positive rate of the runs test on random orders of wins and losses.

use crate::measured::{Bound, Measured, Scale, settled};
use candlewick_statistics::{StatisticsError, StreamDependence, TradeOutcome, TradeStream, runs_test};

/// Share of independent runs that the order test rejects, nominally 1 %.
pub(crate) fn errors(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let kinds = [(100, 0.0), (500, 0.0), (500, 5.0), (5_000, 0.0)];
    let measured = kinds.map(|(trades, points)| {
        let promise = format!("{trades} trades of chance in regimes, edge {points} points");
        Measured::share((promise, Bound::About(0.005), 0.01), scale.trials, |path| {
            let stream = TradeStream::new(StreamDependence::Independent, &[0.85], points, 0.0)?;
            let settled = settled(&stream, path, trades);
            let outcomes: Vec<bool> =
                settled.into_iter().map(|(outcome, _)| outcome == TradeOutcome::Won).collect();
            Ok(runs_test([&outcomes[..]]).is_some_and(|test| test.p_value <= 0.01))
        })
    });
    measured.into_iter().collect()
}
