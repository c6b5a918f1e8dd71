//! Number of trades until the verdict finds a planted edge.
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use crate::measured::{SEED, Scale, on_cores};
use crate::verdict::{MIXED, rates};
use candlewick_statistics::{StatisticsError, StreamDependence, StreamEvent, TradeStream};
use std::ops::ControlFlow;

const INDEPENDENT: StreamDependence = StreamDependence::Independent;
const ONE: [f64; 1] = [0.85];

/// Prints the power for each planted edge.
pub(crate) fn print(scale: Scale) -> Result<(), StatisticsError> {
    println!("\nPower at payout 85: {} paths of {} trades\n", scale.trials, scale.trades);
    println!(
        "| true edge | shown | rejected | trades to show, half of all paths | 80 % | who knows the edge, half | \
         to reject, half |\n|---|---|---|---|---|---|---|"
    );
    for (name, dependence, points, payouts, draws) in [
        ("+1 point", INDEPENDENT, 1.0, &ONE[..], 0.0),
        ("+2 points", INDEPENDENT, 2.0, &ONE, 0.0),
        ("+2.16 points: exactly delta", INDEPENDENT, 4.0 / 1.85, &ONE, 0.0),
        ("+3 points", INDEPENDENT, 3.0, &ONE, 0.0),
        ("+5 points", INDEPENDENT, 5.0, &ONE, 0.0),
        ("+8 points", INDEPENDENT, 8.0, &ONE, 0.0),
        ("+12 points", INDEPENDENT, 12.0, &ONE, 0.0),
        ("none", INDEPENDENT, 0.0, &ONE, 0.0),
        ("a coin: -4.05 points", INDEPENDENT, 50.0 - 100.0 / 1.85, &ONE, 0.0),
        ("+5 points, mixed payouts 60 to 92", INDEPENDENT, 5.0, &MIXED, 0.0),
        ("+5 points, 20 % draws", INDEPENDENT, 5.0, &ONE, 0.2),
        ("+5 points, three bots in step", StreamDependence::SameTrade(3), 5.0, &ONE, 0.0),
        ("+5 points, five bots in step", StreamDependence::SameTrade(5), 5.0, &ONE, 0.0),
        ("+8 points, fifty bots in step", StreamDependence::SameTrade(50), 8.0, &ONE, 0.0),
        ("+5 points, chain of three", StreamDependence::Overlapping(3), 5.0, &ONE, 0.0),
        ("+2 points, three bots in step", StreamDependence::SameTrade(3), 2.0, &ONE, 0.0),
        ("a coin, three bots in step", StreamDependence::SameTrade(3), 50.0 - 100.0 / 1.85, &ONE, 0.0),
    ] {
        let stream = TradeStream::new(dependence, payouts, points, draws)?;
        let rates = rates(&stream, scale);
        let or_none =
            |trades: Option<u64>| trades.map_or_else(|| "-".to_owned(), |trades| trades.to_string());
        let known =
            if points > 0.0 && dependence == INDEPENDENT { knowing(&stream, points, scale) } else { None };
        println!(
            "| {name} | {:.1} % | {:.1} % | {} | {} | {} | {} |",
            100.0 * rates.edge_shown_share(),
            100.0 * rates.edge_rejected_share(),
            or_none(rates.trades_until_edge_shown(0.5)),
            or_none(rates.trades_until_edge_shown(0.8)),
            or_none(known),
            or_none(rates.trades_until_edge_rejected(0.5)),
        );
    }
    Ok(())
}

/// Returns the median number of trades to show the edge with Kelly stakes for the known edge.
fn knowing(stream: &TradeStream, points: f64, scale: Scale) -> Option<u64> {
    let parts = on_cores(scale.trials, |first, end| {
        let after = |path| {
            let (mut account, mut trades, mut shown) = (1.0, 0, None);
            stream.play(SEED, path, scale.trades, |event| {
                if let StreamEvent::Settled { payout_fraction: b, outcome, .. } = event {
                    let edge = points / 100.0 * (1.0 + b);
                    account *= 1.0 + edge / b * outcome.unit_return(b);
                    trades += 1;
                    if account >= 1.0 / scale.plan.alpha() {
                        shown = Some(trades);
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            });
            shown
        };
        (first..end).filter_map(after).collect::<Vec<u64>>()
    });
    let mut shown = parts.concat();
    shown.sort_unstable();
    shown.get((scale.trials / 2) as usize).copied()
}
