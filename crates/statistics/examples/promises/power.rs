//! How soon the verdict finds planted edges.
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use crate::measured::Scale;
use crate::verdict::rates;
use candlewick_statistics::{StatisticsError, TradeDependence, TradeStream};

/// What becomes of each planted edge.
pub(crate) fn print(scale: Scale) -> Result<(), StatisticsError> {
    println!("\nPower at payout 85: {} paths of {} trades\n", scale.trials, scale.trades);
    println!(
        "| true edge | shown | rejected | trades to show, half of all paths | 80 % | to reject, half |\n\
         |---|---|---|---|---|---|"
    );
    for (name, dependence, points) in [
        ("+5 points", TradeDependence::Independent, 5.0),
        ("+2 points", TradeDependence::Independent, 2.0),
        ("+2.16 points: exactly delta", TradeDependence::Independent, 4.0 / 1.85),
        ("none", TradeDependence::Independent, 0.0),
        ("a coin: -4.05 points", TradeDependence::Independent, 50.0 - 100.0 / 1.85),
        ("+5 points, three bots in step", TradeDependence::SameTrade(3), 5.0),
        ("+5 points, chain of three", TradeDependence::Overlapping(3), 5.0),
        ("+2 points, three bots in step", TradeDependence::SameTrade(3), 2.0),
    ] {
        let rates = rates(&TradeStream::new(dependence, &[0.85], points, 0.0)?, scale);
        let shown = |trades: Option<u64>| trades.map_or_else(|| "-".to_owned(), |trades| trades.to_string());
        println!(
            "| {name} | {:.1} % | {:.1} % | {} | {} | {} |",
            100.0 * rates.shown(),
            100.0 * rates.rejected(),
            shown(rates.trades_to_show(0.5)),
            shown(rates.trades_to_show(0.8)),
            shown(rates.trades_to_reject(0.5)),
        );
    }
    Ok(())
}
