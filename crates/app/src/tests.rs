//! Bots and candles for the tests of this crate.

use crate::configuration::Problem;
use candlewick_engine::BotSettings;
use candlewick_sdk::{Candle, CandleSeries, Ohlcv, Series};
use serde_json::json;
use std::path::PathBuf;
use tempfile::TempDir;

pub(crate) fn bot(symbol: &str, interval: &str) -> BotSettings {
    let bot = json!({ "name": "a", "symbol": symbol, "interval": interval, "strategy": "x", "close_type": "01:00" });
    serde_json::from_value(bot).unwrap()
}

/// Builds candles at the given multiples of the interval, all with a price of 1.
pub(crate) fn flat_candles(symbol: &str, interval: &str, at: impl IntoIterator<Item = i64>) -> CandleSeries {
    let series = Series { symbol: symbol.parse().unwrap(), interval: interval.parse().unwrap() };
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
    let candle = |place| Candle::new(series.interval.length() * place, series.interval, numbers).unwrap();
    CandleSeries::new(series, at.into_iter().map(candle).collect::<Vec<_>>()).unwrap()
}

pub(crate) fn webhook_secret() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("hook.secret");
    std::fs::write(&secret, "0123456789abcdef\n").unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    (folder, secret)
}

#[track_caller]
pub(crate) fn assert_problems(problems: &[Problem], expected: &[&str]) {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    for (problem, part) in problems.iter().zip(expected) {
        assert!(problem.contains(part), "{problem}");
    }
}
