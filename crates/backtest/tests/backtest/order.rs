//! Order of simultaneous events.

use crate::lines::Words;
use crate::stage::{Scripted, bot, closing, run, series, settings};
use candlewick_sdk::{CandleSeries, Strategy};

fn check(bots: &[(&str, &str, &[i64])], candles: &[CandleSeries], from: &str, expected: &[&str]) {
    let places: Vec<_> = bots.iter().map(|(symbol, interval, _)| series(symbol, interval)).collect();
    let settings =
        settings(places.iter().enumerate().map(|(index, place)| bot(&format!("{index}"), *place)).collect());
    let strategy = |(place, (_, _, buys)): (_, &(&str, &str, &[i64]))| -> Box<dyn Strategy> {
        Box::new(Scripted::on(place, buys))
    };
    let strategies = places.into_iter().zip(bots).map(strategy).collect();
    let mut words = Words::default();
    run(&settings, strategies, candles, &[], &mut words).unwrap();
    let start = words.0.iter().position(|line| line == from).unwrap();
    assert_eq!(words.0[start..], *expected);
}

fn rising(symbol: &str) -> [CandleSeries; 2] {
    let closes: Vec<f64> = (1..=10).map(f64::from).collect();
    [closing(symbol, "1m", &closes), closing(symbol, "5m", &[5.0, 10.0])]
}

#[test]
fn settlements_precede_candles_and_shorter_candles_longer_ones() {
    check(
        &[("BTCUSDT", "5m", &[5]), ("BTCUSDT", "1m", &[4, 5])],
        &rising("BTCUSDT"),
        "240 candle of series 1",
        &[
            "240 candle of series 1",
            "  open #1 bot 1",
            "240 opened #1",
            "300 settled #1",
            "300 candle of series 1",
            "  open #2 bot 1",
            "300 candle of series 0",
            "  refuse bot 0 InFlight",
            "300 opened #2",
            "360 settled #2",
            "360 candle of series 1",
            "420 candle of series 1",
            "480 candle of series 1",
            "540 candle of series 1",
            "600 candle of series 1",
            "600 candle of series 0",
        ],
    );
}

#[test]
fn series_of_equal_interval_keep_the_order_of_the_bots() {
    let [one, _] = rising("BTCUSDT");
    let [other, _] = rising("AAA");
    check(
        &[("BTCUSDT", "1m", &[8]), ("AAA", "1m", &[8]), ("BTCUSDT", "1m", &[8])],
        &[other, one],
        "480 candle of series 0",
        &[
            "480 candle of series 0",
            "  open #1 bot 0",
            "  refuse bot 2 InFlight",
            "480 candle of series 1",
            "  open #2 bot 1",
            "480 opened #1",
            "480 opened #2",
            "540 settled #1",
            "540 settled #2",
            "540 candle of series 0",
            "540 candle of series 1",
            "600 candle of series 0",
            "600 candle of series 1",
        ],
    );
}
