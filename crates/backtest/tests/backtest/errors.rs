//! Errors that prevent or stop a run.

use crate::lines::{Counter, Full};
use crate::stage::{Scripted, bot, closing, markets, run, series, settings};
use candlewick_backtest::{Backtest, BacktestSettings};
use candlewick_sdk::{CandleSeries, Millis, Strategy};

/// Returns the error of a run of two bots on `BTCUSDT 1m` and `ETHUSDT 5m`.
fn refusal(
    candles: &[CandleSeries],
    details: &[CandleSeries],
    wants_prices: [bool; 2],
    change: impl FnOnce(&mut BacktestSettings),
) -> String {
    let places = [series("BTCUSDT", "1m"), series("ETHUSDT", "5m")];
    let mut settings = settings(vec![bot("a", places[0]), bot("e", places[1])]);
    change(&mut settings);
    let strategies = places.map(|place| -> Box<dyn Strategy> { Box::new(Scripted::on(place, &[])) }).into();
    let made = Backtest::new(&settings, strategies, &wants_prices, candles, markets(candles, details));
    made.err().map(|error| error.to_string()).unwrap_or_default()
}

fn both() -> [CandleSeries; 2] {
    [closing("BTCUSDT", "1m", &[1.0; 10]), closing("ETHUSDT", "5m", &[1.0; 2])]
}

fn fine(interval: &str) -> [CandleSeries; 2] {
    [closing("BTCUSDT", interval, &[1.0; 120]), closing("ETHUSDT", interval, &[1.0; 120])]
}

#[test]
fn missing_candles_are_reported_with_series_and_bot() {
    let [one, other] = both();
    assert_eq!(refusal(&[one], &[], [false; 2], |_| {}), "no candles of ETHUSDT 5m for bot \"e\"");
    let wrong = closing("BTCUSDT", "5m", &[1.0; 2]);
    assert_eq!(refusal(&[wrong, other], &[], [false; 2], |_| {}), "no candles of BTCUSDT 1m for bot \"a\"");
}

#[test]
fn prices_between_candles_need_candles_that_end_on_their_grid() {
    let give = |bot: &str, series: &str, every| {
        format!(
            "bot \"{bot}\" uses prices between candle closes; add candles finer than {series}, with an interval that divides {every} ms"
        )
    };
    let [btc, eth] = fine("5s");
    assert_eq!(refusal(&both(), &[], [false; 2], |_| {}), "");
    assert_eq!(refusal(&both(), &[], [false, true], |_| {}), give("e", "ETHUSDT 5m", 5_000));
    assert_eq!(refusal(&both(), std::slice::from_ref(&btc), [true, false], |_| {}), "");
    let found = refusal(&both(), std::slice::from_ref(&btc), [true; 2], |_| {});
    assert_eq!(found, give("e", "ETHUSDT 5m", 5_000));
    assert_eq!(refusal(&both(), &[btc, eth], [true; 2], |_| {}), "");
    let uneven = |settings: &mut BacktestSettings| settings.price_every_ms = Millis::new(7_000);
    assert_eq!(refusal(&both(), &fine("5s"), [true; 2], uneven), give("a", "BTCUSDT 1m", 7_000));
}

#[test]
fn price_interval_must_be_positive() {
    for pace in [0, -5_000] {
        let still = |settings: &mut BacktestSettings| settings.price_every_ms = Millis::new(pace);
        let message = refusal(&both(), &fine("5s"), [true; 2], still);
        assert!(message.starts_with(&format!("runtime.price_every_ms: {pace} ms is too short")), "{message}");
        let still = |settings: &mut BacktestSettings| settings.price_every_ms = Millis::new(pace);
        assert_eq!(refusal(&both(), &fine("5s"), [false; 2], still), "");
    }
}

#[test]
fn reports_errors_of_engine_and_simulator() {
    let negative = |settings: &mut BacktestSettings| settings.simulation.latency_ms = Millis::new(-1);
    assert!(refusal(&both(), &[], [false; 2], negative).contains("latency_ms"));
    let nameless = |settings: &mut BacktestSettings| settings.session.bots[1].name = "a".to_owned();
    assert!(refusal(&both(), &[], [false; 2], nameless).starts_with("bots[1].name: \"a\""));
}

#[test]
fn full_journal_stops_the_run() {
    let place = series("BTCUSDT", "1m");
    let candles = [closing("BTCUSDT", "1m", &[1.0; 10])];
    let start =
        || (settings(vec![bot("a", place)]), vec![Box::new(Scripted::on(place, &[1])) as Box<dyn Strategy>]);
    let mut counter = Counter::default();
    let (settings, strategies) = start();
    run(&settings, strategies, &candles, &[], &mut counter).unwrap();
    let entries = counter.entries;
    for room in 0..entries {
        let (settings, strategies) = start();
        let stopped = run(&settings, strategies, &candles, &[], &mut Full(room));
        let problem = stopped.err().map(|error| error.to_string());
        assert_eq!(problem.as_deref(), Some("the journal cannot be written"));
    }
    let (settings, strategies) = start();
    assert!(run(&settings, strategies, &candles, &[], &mut Full(entries)).is_ok());
}
