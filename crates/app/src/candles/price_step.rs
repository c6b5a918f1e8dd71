//! Price step derived from candles, as no file states that of the venue.

use crate::configuration::Loaded;
use candlewick_sdk::{Candle, Symbol};
use candlewick_simulator::Market;
use std::collections::{BTreeMap, BTreeSet};

/// Number of newest candles to inspect; older ones may show an outdated step.
const LOOKED_AT: usize = 1_000;

/// Returns the step of the most decimals in the prices: 5 decimals are 0.00001.
///
/// Digits after the 15th are floating-point noise: 1.0832100000000002 is 1.08321.
pub fn price_step(candles: &[Candle]) -> Option<String> {
    Some(step_of(newest_prices(candles).map(decimals).max()?))
}

pub fn has_tails(candles: &[Candle]) -> bool {
    newest_prices(candles).any(|price| without_tail(price) != price)
}

fn newest_prices(candles: &[Candle]) -> impl Iterator<Item = f64> {
    let newest = &candles[candles.len().saturating_sub(LOOKED_AT)..];
    newest.iter().flat_map(|candle| [candle.open(), candle.high(), candle.low(), candle.close()])
}

pub fn step_of(decimals: usize) -> String {
    if decimals == 0 { "1".to_owned() } else { format!("0.{}1", "0".repeat(decimals - 1)) }
}

pub fn unset_price_steps(markets: &[Market], set: &BTreeMap<Symbol, f64>) -> BTreeMap<Symbol, f64> {
    let unset = markets.iter().filter(|market| !set.contains_key(&market.symbol()));
    let step = |market: &Market| Some((market.symbol(), price_step(market.prices.candles())?.parse().ok()?));
    unset.filter_map(step).collect()
}

pub(super) fn unset_steps(markets: &[Market], set: &BTreeMap<Symbol, f64>) -> Option<String> {
    let unset = markets.iter().filter(|market| !set.contains_key(&market.symbol()));
    let suggested: Vec<String> = unset
        .filter_map(|market| Some(format!("{} = {}", market.symbol(), price_step(market.prices.candles())?)))
        .collect();
    (!suggested.is_empty()).then(|| {
        format!(
            "no price step is assumed: prices inside of a candle are not rounded, so that hardly a trade draws; by the last decimal of \
             these candles [simulation.ticks] would say {}",
            suggested.join(", ")
        )
    })
}

/// Returns the built-in steps that apply because no configuration is named.
///
/// Formatted as lines of `[simulation.ticks]`; empty for the built-in bots.
pub(crate) fn built_in_steps(loaded: &Loaded) -> Vec<String> {
    let symbols: BTreeSet<Symbol> = loaded.config.bots.iter().map(|bot| bot.symbol).collect();
    let step = |symbol: Symbol| {
        let step = loaded.config.simulation.ticks.get(&symbol)?;
        loaded.is_built_in(&format!("simulation.ticks.{symbol}")).then(|| format!("{symbol} = {step}"))
    };
    if loaded.has_built_in_bots() { Vec::new() } else { symbols.into_iter().filter_map(step).collect() }
}

pub(super) fn built_in_steps_note(loaded: &Loaded) -> Option<String> {
    let steps = built_in_steps(loaded);
    (!steps.is_empty()).then(|| {
        format!(
            "without --config prices inside of a candle are rounded to the built-in price steps: in a configuration write [simulation.ticks] \
             {} for the same figures",
            steps.join(", ")
        )
    })
}

fn decimals(price: f64) -> usize {
    // The shortest text that is this number.
    without_tail(price).to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// Rounds to 15 digits, the precision at which a double preserves any decimal.
fn without_tail(price: f64) -> f64 {
    format!("{price:.14e}").parse().unwrap_or(price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{CandleSeries, Interval, Millis, Ohlcv, Series};

    fn candle(prices: [f64; 4]) -> Candle {
        let [open, high, low, close] = prices;
        Candle::new(Millis::ZERO, Interval::MINUTE, Ohlcv { open, high, low, close, volume: 1.0 }).unwrap()
    }

    #[test]
    fn the_step_is_the_last_decimal_that_any_price_has() {
        for (prices, expected) in [
            ([1.1, 1.13, 1.09, 1.1], "0.01"),
            ([1.08, 1.08123, 1.07, 1.08], "0.00001"),
            ([94_000.0, 94_001.0, 93_999.0, 94_000.0], "1"),
            ([94_000.0, 94_000.5, 94_000.0, 94_000.0], "0.1"),
            // As 1.0833 - 0.00009 and 0.1 + 0.2 are in binary fractions.
            ([1.08, 1.083_210_000_000_000_2, 1.07, 1.08], "0.00001"),
            ([1.0, 1.0, 0.300_000_000_000_000_04, 1.0], "0.1"),
            ([0.000_001_23, 0.000_001_24, 0.000_001_2, 0.000_001_23], "0.00000001"),
        ] {
            assert_eq!(price_step(&[candle([1.0; 4]), candle(prices)]).as_deref(), Some(expected));
        }
        assert_eq!(price_step(&[]), None);
    }

    #[test]
    fn only_symbols_without_a_step_are_named() {
        let market = |symbol: &str, price: f64| {
            let candles = vec![candle([price; 4])];
            let series = Series { symbol: symbol.parse().unwrap(), interval: Interval::MINUTE };
            Market { prices: CandleSeries::new(series, candles).unwrap(), detail: Vec::new() }
        };
        let markets = [market("EURUSD", 1.08123), market("BTCUSDT", 94_000.5)];
        let set = |symbols: &[&str]| symbols.iter().map(|symbol| (symbol.parse().unwrap(), 0.5)).collect();
        let said = |symbols: &[&str]| unset_steps(&markets, &set(symbols));
        assert!(said(&[]).unwrap().ends_with("would say EURUSD = 0.00001, BTCUSDT = 0.1"));
        assert!(said(&["EURUSD"]).unwrap().ends_with("would say BTCUSDT = 0.1"));
        assert_eq!(said(&["EURUSD", "BTCUSDT"]), None);
        let steps = unset_price_steps(&markets, &set(&["EURUSD"]));
        assert_eq!(steps.into_iter().collect::<Vec<_>>(), [("BTCUSDT".parse().unwrap(), 0.1)]);
    }
}
