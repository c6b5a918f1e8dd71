//! Tests on many variants: false discoveries, the best of worthless ones, overfitting, directions.

use crate::intervals::p_value;
use crate::measured::{Bound, Measured, Scale, settled};
use candlewick_statistics::{
    Bootstrap, DirectedTrade, Split, StatisticsError, StreamDependence, TradeOutcome, TradeSide, TradeStream,
    VariantReturns, benjamini_hochberg, best_of_many, direction_baseline, probability_of_overfitting,
};

pub(crate) fn errors(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let mut errors = vec![false_discoveries(scale)?];
    for (variants, together, block_periods) in [(1, 1, 1), (20, 1, 1), (20, 4, 12), (20, 4, 1)] {
        let promise = format!(
            "best of {variants} worthless variants over 240 periods significant, {together} in step, blocks of {block_periods}"
        );
        // Nothing is promised for blocks shorter than the dependence.
        let bound = if together > block_periods { Bound::Unpromised } else { Bound::About(0.015) };
        errors.push(Measured::share((promise, bound, 0.1), scale.trials, |path| {
            let returns = worthless(path, variants, 240, together)?;
            let bootstrap = Bootstrap { block_periods, draws: 199, seed: path };
            Ok(best_of_many(&returns, bootstrap)?.p_value <= 0.1)
        })?);
    }
    let directions = "directions of chance significant, three symbols of 60 trades";
    errors.push(Measured::share((directions, Bound::AtMost, 0.1), scale.trials, |path| {
        Ok(direction_baseline(&chance_directions(path)?, 199, path)?.p_value.is_some_and(|p| p <= 0.1))
    })?);
    let split = Split { blocks: 10, purged_periods: 1 };
    let overfitting = "probability of overfitting of 20 worthless variants, mean";
    errors.push(Measured::mean((overfitting, Bound::About(0.02), 0.5), scale.trials, |path| {
        Ok(probability_of_overfitting(&worthless(path, 20, 240, 1)?, split)?.probability)
    })?);
    Ok(errors)
}

/// Share of worthless bots among those called good. 15 of 20 bots are worthless, with 500 trades each.
fn false_discoveries(scale: Scale) -> Result<Measured, StatisticsError> {
    let promise = "false among discoveries at 10 %, 15 of 20 bots worthless";
    Measured::mean((promise, Bound::AtMost, 0.075), scale.trials, |trial| {
        let points = |bot| if bot < 15 { 0.0 } else { 7.0 };
        let p_values = (0..20).map(|bot| p_value(20 * trial + bot, 500, points(bot)));
        let adjusted = benjamini_hochberg(&p_values.collect::<Result<Vec<_>, _>>()?)?;
        let found = adjusted.iter().filter(|p| **p <= 0.1).count();
        let wrong = adjusted[..15].iter().filter(|p| **p <= 0.1).count();
        Ok(wrong as f64 / found.max(1) as f64)
    })
}

/// Returns of variants that win at exactly break-even. Groups of periods share the same return.
fn worthless(
    path: u64,
    variants: u64,
    periods: u64,
    together: usize,
) -> Result<VariantReturns, StatisticsError> {
    let stream = TradeStream::new(StreamDependence::SameTrade(together), &[0.85], 0.0, 0.0)?;
    let variant = |variant| {
        let settled = settled(&stream, path * variants + variant, periods).into_iter();
        settled.map(|(outcome, payout_fraction)| outcome.unit_return(payout_fraction)).collect()
    };
    VariantReturns::new(&(0..variants).map(variant).collect::<Vec<_>>())
}

/// Trades whose directions are independent of the prices.
fn chance_directions(path: u64) -> Result<Vec<Vec<DirectedTrade>>, StatisticsError> {
    let coin = TradeStream::new(StreamDependence::Independent, &[1.0], 0.0, 0.0)?;
    let sides = |path| {
        settled(&coin, path, 60)
            .into_iter()
            .map(|(outcome, _)| if outcome == TradeOutcome::Won { TradeSide::Buy } else { TradeSide::Sell })
    };
    let trade = |(side, went)| {
        let (buy_return, sell_return) = if went == TradeSide::Buy { (0.85, -1.0) } else { (-1.0, 0.85) };
        DirectedTrade { side, buy_return, sell_return }
    };
    let symbol = |symbol| sides(6 * path + symbol).zip(sides(6 * path + 3 + symbol)).map(trade).collect();
    Ok((0..3).map(symbol).collect())
}
