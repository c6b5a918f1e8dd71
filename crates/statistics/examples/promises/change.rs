//! False alarm rate and detection delay of the change detector.
#![allow(clippy::print_stdout, reason = "the tables are what it is for")]

use crate::measured::{Bound, Measured, SEED, Scale, each};
use candlewick_statistics::{
    ChangeDetector, DetectorStake, EdgeTest, EdgeTestPlan, NotionalStake, StatisticsError, StreamDependence,
    StreamEvent, TradeOutcome, TradeStream,
};
use std::fmt::Write as _;
use std::ops::ControlFlow;

const KINDS: [(&str, StreamDependence); 4] = [
    ("independent trades", StreamDependence::Independent),
    ("three bots in step", StreamDependence::SameTrade(3)),
    ("fifty bots in step", StreamDependence::SameTrade(50)),
    ("chain, three open at once", StreamDependence::Overlapping(3)),
];
/// Number of trades with a steady edge before it ends, all seen by the detector.
const STEADY: u64 = 2_000;

/// A change detector, with the same overlap of trades as a verdict.
struct Watched {
    detector: ChangeDetector,
    test: EdgeTest,
    /// Whether every second intent turns out not to be a trade.
    cancels: bool,
    opened: u64,
    /// Number of trades won, lost or drawn.
    ended: u64,
}

impl Watched {
    fn new(plan: EdgeTestPlan, watch_trades: u64) -> Result<Self, StatisticsError> {
        let detector = ChangeDetector::new(plan.delta(), watch_trades)?;
        Ok(Self { detector, test: EdgeTest::new(plan), cancels: false, opened: 0, ended: 0 })
    }

    /// Plays up to `trades` trades. Returns the estimated end of the edge if there is an alarm.
    fn play(&mut self, stream: &TradeStream, seed: u64, path: u64, trades: u64) -> Option<i64> {
        let mut open: Vec<Option<(DetectorStake, NotionalStake)>> =
            (0..stream.max_open_trades()).map(|_| None).collect();
        stream.play(seed, path, trades, |event| {
            match event {
                StreamEvent::Opened { slot, payout_fraction } => {
                    let inflation = self.test.overlap().variance_inflation();
                    let stake = self.detector.on_open(self.opened as i64, inflation);
                    self.opened += 1;
                    open[slot] = self.test.on_open(payout_fraction).ok().map(|notional| (stake, notional));
                }
                StreamEvent::Settled { slot, payout_fraction, outcome } => {
                    let is_cancelled = self.cancels && self.opened.is_multiple_of(2);
                    let outcome = if is_cancelled { TradeOutcome::Cancelled } else { outcome };
                    self.ended += u64::from(!is_cancelled);
                    if let Some((stake, notional)) = open[slot].take() {
                        self.test.settle(notional, outcome, payout_fraction);
                        if self.detector.on_settled(stake, outcome, payout_fraction).is_some() {
                            return ControlFlow::Break(());
                        }
                    }
                }
            }
            ControlFlow::Continue(())
        });
        self.detector.alarm()
    }
}

/// Mean number of trades to a false alarm on an edge of exactly delta, as a fraction of the promised
/// `watch_trades`.
pub(crate) fn errors(scale: Scale, watch_trades: u64) -> Result<Vec<Measured>, StatisticsError> {
    let points = 100.0 * scale.plan.delta() / 1.85;
    let mut measured = Vec::new();
    let kinds = KINDS.map(|(name, dependence)| (name, dependence, false));
    let cancelled = ("independent trades, as many more cancelled", StreamDependence::Independent, true);
    for (name, dependence, cancels) in kinds.into_iter().chain([cancelled]) {
        let stream = TradeStream::new(dependence, &[0.85], points, 0.0)?;
        let promise =
            format!("trades to a false alarm, of {watch_trades} promised: {name} with exactly delta");
        measured.push(Measured::mean((promise, Bound::AtLeast, 1.0), scale.trials, |path| {
            let mut watched = Watched { cancels, ..Watched::new(scale.plan, watch_trades)? };
            // Twenty times as many trades are hardly ever needed. A longer path counts as if it had ended there.
            watched.play(&stream, SEED, path, 20 * watch_trades);
            Ok(watched.ended as f64 / watch_trades as f64)
        })?);
    }
    Ok(measured)
}

/// Prints false alarms on a steady edge, and the delay after it ends.
pub(crate) fn print(scale: Scale) -> Result<(), StatisticsError> {
    let watch_trades = scale.plan.watch_trades();
    let paths = (scale.trials / 20).max(10);
    println!("\n| steady edge | false alarms per 10,000 trades | | | |\n|---|---|---|---|---|");
    println!("| | {} |", KINDS.map(|(name, _)| name).join(" | "));
    for (name, points) in [
        ("+1 point", 1.0),
        ("+2.16 points: exactly delta", 100.0 * scale.plan.delta() / 1.85),
        ("+3 points", 3.0),
        ("+5 points", 5.0),
    ] {
        let mut row = String::new();
        for (_, dependence) in KINDS {
            let stream = TradeStream::new(dependence, &[0.85], points, 0.0)?;
            let watched = each(paths, |path| {
                let mut watched = Watched::new(scale.plan, watch_trades)?;
                let alarm = watched.play(&stream, SEED, path, 20_000);
                Ok((u64::from(alarm.is_some()), watched.ended))
            })?;
            let alarms: u64 = watched.iter().map(|(alarms, _)| alarms).sum();
            let trades: u64 = watched.iter().map(|(_, trades)| trades).sum();
            let _ = write!(row, " {:.2} |", alarms as f64 / trades as f64 * 10_000.0);
        }
        println!("| {name} |{row}");
    }
    println!(
        "\n| the edge ends after {STEADY} watched trades | trades to the alarm, half of all paths | 90 % | false before |"
    );
    println!("|---|---|---|---|");
    for (end, points) in [("-5 points", -5.0), ("48 % wins", 48.0 - 100.0 / 1.85), ("break-even", 0.0)] {
        for (name, dependence) in KINDS {
            print_delay((name, dependence), (end, points), (scale.plan, watch_trades), paths)?;
        }
    }
    Ok(())
}

fn print_delay(
    (name, dependence): (&str, StreamDependence),
    (end, points): (&str, f64),
    (plan, watch_trades): (EdgeTestPlan, u64),
    paths: u64,
) -> Result<(), StatisticsError> {
    let before = TradeStream::new(dependence, &[0.85], 5.0, 0.0)?;
    let after = TradeStream::new(dependence, &[0.85], points, 0.0)?;
    let mut delays = each(paths, |path| {
        let mut watched = Watched::new(plan, watch_trades)?;
        if watched.play(&before, SEED, path, STEADY).is_none() {
            watched.play(&after, SEED + 1, path, 40_000);
        }
        Ok(watched.ended as i64 - STEADY as i64)
    })?;
    let early = delays.iter().filter(|delay| **delay <= 0).count();
    delays.retain(|delay| *delay > 0);
    delays.sort_unstable();
    let at = |share: f64| delays.get((share * delays.len() as f64) as usize).copied().unwrap_or_default();
    println!(
        "| +5 points, then {end}: {name} | {} | {} | {:.2} % |",
        at(0.5),
        at(0.9),
        100.0 * early as f64 / paths as f64
    );
    Ok(())
}
