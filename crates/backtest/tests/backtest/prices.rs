//! Strategies that react to prices between candle closes.

use crate::lines::Words;
use crate::stage::{START, Scripted, SeenPrices, bot, closing, run, series, settings};
use candlewick_sdk::{CandleSeries, Millis};
use std::sync::Arc;

/// Three minutes that start at 101 and rise by 1 every 5 s.
fn minutes_and_steps() -> (CandleSeries, CandleSeries) {
    let closes: Vec<f64> = (1..=36).map(|step| 100.0 + f64::from(step)).collect();
    let minutes: Vec<f64> = closes.iter().skip(11).step_by(12).copied().collect();
    (closing("BTCUSDT", "1m", &minutes), closing("BTCUSDT", "5s", &closes))
}

#[test]
fn prices_are_closes_of_detail_candles_and_follow_the_candles() {
    let (minutes, steps) = minutes_and_steps();
    let mut settings = settings(vec![bot("a", series("BTCUSDT", "1m"))]);
    settings.price_every_ms = Millis::from_seconds(30);
    let strategy = Scripted::on(series("BTCUSDT", "1m"), &[]);
    let seen: SeenPrices = Arc::clone(&strategy.seen);
    let mut words = Words::default();
    run(&settings, vec![Box::new(strategy)], &[minutes], &[steps], &mut words).unwrap();
    let expected = [(30, 106.0), (60, 112.0), (90, 118.0), (120, 124.0), (150, 130.0), (180, 136.0)];
    assert_eq!(*seen.lock().unwrap(), expected);
    let order =
        ["30 price 106", "60 candle of series 0", "60 price 112", "90 price 118", "120 candle of series 0"];
    assert_eq!(words.0[..5], order);
}

#[test]
fn trade_on_a_price_opens_on_the_detail_path() {
    let (minutes, steps) = minutes_and_steps();
    let settings = settings(vec![bot("a", series("BTCUSDT", "1m"))]);
    let mut strategy = Scripted::on(series("BTCUSDT", "1m"), &[]);
    let decided = START + Millis::from_seconds(75);
    strategy.buys = vec![decided];
    let done = run(&settings, vec![Box::new(strategy)], &[minutes], &[steps], &mut Words::default()).unwrap();
    let row = done.book.rows()[0];
    assert_eq!((row.approved.decision_time(), row.open_time), (decided, Some(decided)));
    // The step at 75 s opens at the previous close, 15 steps above 100. The trade closes 12 steps later.
    assert_eq!((row.open_price, row.close_price), (Some(115.0), Some(127.0)));
    assert_eq!(row.settled_at, Some(decided + Millis::MINUTE));
}

#[test]
fn candle_and_price_of_an_instant_can_both_signal() {
    let (minutes, steps) = minutes_and_steps();
    let settings = settings(vec![bot("a", series("BTCUSDT", "1m"))]);
    let strategy = Scripted::on(series("BTCUSDT", "1m"), &[1]);
    let mut words = Words::default();
    run(&settings, vec![Box::new(strategy)], &[minutes], &[steps], &mut words).unwrap();
    let start = words.0.iter().position(|line| line == "60 candle of series 0").unwrap();
    let expected = [
        "60 candle of series 0",
        "  open #1 bot 0",
        "60 price 112",
        "  refuse bot 0 InFlight",
        "60 opened #1",
    ];
    assert_eq!(words.0[start..start + 5], expected);
}
