//! Bots and candles for the tests of this crate.

use candlewick_engine::BotSettings;
use candlewick_sdk::{Candle, CandleSeries, Ohlcv, Series};
use serde_json::json;

pub(crate) fn bot(symbol: &str, interval: &str) -> BotSettings {
    let bot = json!({ "name": "a", "symbol": symbol, "interval": interval, "strategy": "x", "close_type": "01:00" });
    serde_json::from_value(bot).unwrap()
}

/// Candles at these multiples of their interval, all at the price 1.
pub(crate) fn flat_candles(
    symbol: &str,
    interval: &str,
    places: impl IntoIterator<Item = i64>,
) -> CandleSeries {
    let series = Series { symbol: symbol.parse().unwrap(), interval: interval.parse().unwrap() };
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
    let candle = |place| Candle::new(series.interval.length() * place, series.interval, numbers).unwrap();
    CandleSeries::new(series, places.into_iter().map(candle).collect::<Vec<_>>()).unwrap()
}
