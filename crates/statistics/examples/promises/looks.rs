//! Coverage after every trade, and widths, of the anytime-valid and the Wilson interval.
#![allow(clippy::print_stdout, reason = "the tables are what it is for")]

use crate::measured::{Bound, Measured, SEED, Scale};
use crate::verdict::MIXED;
use candlewick_statistics::{
    ConfidenceSequence, OpenTrade, StatisticsError, StreamDependence, StreamEvent, TradeOutcome, TradeStream,
    WinRate, wilson_interval,
};
use std::fmt::Write as _;
use std::ops::ControlFlow;

const CONFIDENCE: f64 = 0.95;

type Kind = (&'static str, StreamDependence, &'static [f64], f64, f64);

/// Name, dependence, payouts, points above break-even, and share of draws.
const KINDS: [Kind; 12] = [
    ("independent trades at p*", StreamDependence::Independent, &[0.85], 0.0, 0.0),
    ("independent trades, +5 points", StreamDependence::Independent, &[0.85], 5.0, 0.0),
    ("independent trades, -4 points", StreamDependence::Independent, &[0.85], -4.0, 0.0),
    ("three bots in step", StreamDependence::SameTrade(3), &[0.85], 0.0, 0.0),
    ("five bots in step", StreamDependence::SameTrade(5), &[0.85], 0.0, 0.0),
    ("fifty bots in step", StreamDependence::SameTrade(50), &[0.85], 0.0, 0.0),
    ("chain, two open at once", StreamDependence::Overlapping(2), &[0.85], 0.0, 0.0),
    ("chain, five open at once", StreamDependence::Overlapping(5), &[0.85], 0.0, 0.0),
    ("mixed payouts 60 to 92 at p*", StreamDependence::Independent, &MIXED, 0.0, 0.0),
    ("5 % draws", StreamDependence::Independent, &[0.85], 0.0, 0.05),
    ("20 % draws", StreamDependence::Independent, &[0.85], 0.0, 0.2),
    ("mixed payouts, 5 % draws, three in step", StreamDependence::SameTrade(3), &MIXED, 0.0, 0.05),
];

/// Coverage of the sequence after each trade, and of Wilson's interval checked from trade 30 on.
pub(crate) fn coverage(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let mut covered = Vec::new();
    for (name, dependence, payouts, points, draws) in KINDS {
        let stream = TradeStream::new(dependence, payouts, points, draws)?;
        // Win rate x (payout + 1) - 1, which does not depend on the payout if no points are added.
        let mean = points / 100.0 * 1.85 * (1.0 - draws);
        let promise = format!("the sequence contains the edge after every trade: {name}");
        covered.push(Measured::share((promise, Bound::AtLeast, CONFIDENCE), scale.trials, |path| {
            Ok(!sequence_of(&stream, path, scale.trades).0.excludes_edge(mean, CONFIDENCE)?)
        })?);
    }
    for (known_late, name) in [(1, "settled in another order"), (40, "settled up to 40 trades late")] {
        let stream = TradeStream::new(StreamDependence::Independent, &[0.85], 0.0, 0.0)?;
        let promise = format!("the sequence contains the edge after every trade: independent trades, {name}");
        covered.push(Measured::share((promise, Bound::AtLeast, CONFIDENCE), scale.trials, |path| {
            Ok(!late_sequence(&stream, path, scale.trades, known_late).excludes_edge(0.0, CONFIDENCE)?)
        })?);
    }
    let stream = TradeStream::new(StreamDependence::Independent, &[0.85], 0.0, 0.0)?;
    let promise = "Wilson's interval contains the win rate after every trade from trade 30 on";
    covered.push(Measured::share((promise, Bound::Unpromised, CONFIDENCE), scale.trials, |path| {
        wilson_always_covers(&stream, path, scale.trades)
    })?);
    Ok(covered)
}

/// Prints the half-widths of both intervals for the edge, two points above break-even.
pub(crate) fn print_widths(scale: Scale) -> Result<(), StatisticsError> {
    println!("\n| half the width, edge per unit | 100 trades | 1,000 | 10,000 |\n|---|---|---|---|");
    let mut wilson = String::new();
    for (name, dependence) in [
        ("independent trades", StreamDependence::Independent),
        ("three bots in step", StreamDependence::SameTrade(3)),
        ("chain, five open at once", StreamDependence::Overlapping(5)),
    ] {
        let stream = TradeStream::new(dependence, &[0.85], 2.0, 0.0)?;
        let (mut ours, mut theirs) = (String::new(), String::new());
        for trades in [100, 1_000, 10_000] {
            let paths = (scale.trials / 100).clamp(1, 100);
            let mut widths = (0.0, 0.0);
            for path in 0..paths {
                let (sequence, rate) = sequence_of(&stream, path, trades);
                let (edge, once) = (sequence.edge(CONFIDENCE)?, wilson_interval(rate?, CONFIDENCE)?);
                widths.0 += (edge.upper - edge.lower) / 2.0 / paths as f64;
                widths.1 += (once.upper - once.lower) / 2.0 * 1.85 / paths as f64;
            }
            let _ = write!(ours, " {:.3} |", widths.0);
            let _ = write!(theirs, " {:.3} |", widths.1);
        }
        println!("| sequence, {name} |{ours}");
        if wilson.is_empty() {
            wilson = theirs;
        }
    }
    println!("| Wilson, looked at once, if trades are independent |{wilson}");
    Ok(())
}

/// Returns the sequence of a path, and its number of wins.
fn sequence_of(
    stream: &TradeStream,
    path: u64,
    trades: u64,
) -> (ConfidenceSequence, Result<WinRate, StatisticsError>) {
    let mut sequence = ConfidenceSequence::new();
    let mut open: Vec<Option<OpenTrade>> = (0..stream.max_open_trades()).map(|_| None).collect();
    let (mut won, mut lost) = (0, 0);
    stream.play(SEED, path, trades, |event| {
        match event {
            StreamEvent::Opened { slot, .. } => open[slot] = Some(sequence.on_open()),
            StreamEvent::Settled { slot, payout_fraction, outcome } => {
                won += u64::from(outcome == TradeOutcome::Won);
                lost += u64::from(outcome == TradeOutcome::Lost);
                if let Some(trade) = open[slot].take() {
                    sequence.on_settled(trade, outcome, payout_fraction);
                }
            }
        }
        ControlFlow::Continue(())
    });
    (sequence, WinRate::new(won, lost))
}

/// Returns the sequence for trades whose losses become known `late` trades after their wins.
fn late_sequence(stream: &TradeStream, path: u64, trades: u64, late: usize) -> ConfidenceSequence {
    let mut sequence = ConfidenceSequence::new();
    let mut waiting: Vec<(usize, OpenTrade, TradeOutcome)> = Vec::new();
    let (mut next, mut count) = (None, 0);
    stream.play(SEED, path, trades, |event| {
        match event {
            StreamEvent::Opened { .. } => next = Some(sequence.on_open()),
            StreamEvent::Settled { outcome, .. } => {
                count += 1;
                let known_at = if outcome == TradeOutcome::Won { count + 1 } else { count + late };
                waiting.extend(next.take().map(|trade| (known_at, trade, outcome)));
                waiting.sort_by_key(|(at, ..)| *at);
                while waiting.first().is_some_and(|(at, ..)| *at <= count) {
                    let (_, trade, outcome) = waiting.remove(0);
                    sequence.on_settled(trade, outcome, 0.85);
                }
            }
        }
        ControlFlow::Continue(())
    });
    sequence
}

fn wilson_always_covers(stream: &TradeStream, path: u64, trades: u64) -> Result<bool, StatisticsError> {
    let (mut won, mut decided, mut covers) = (0, 0, Ok(true));
    stream.play(SEED, path, trades, |event| {
        if let StreamEvent::Settled { outcome, .. } = event {
            decided += 1;
            won += u64::from(outcome == TradeOutcome::Won);
            if decided >= 30 {
                let interval =
                    WinRate::new(won, decided - won).and_then(|rate| wilson_interval(rate, CONFIDENCE));
                covers = interval.map(|found| (found.lower..=found.upper).contains(&(1.0 / 1.85)));
            }
        }
        if covers == Ok(true) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    covers
}
