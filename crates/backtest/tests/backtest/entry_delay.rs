//! Trades ordered some seconds after their decisions.

use crate::lines::Counter;
use crate::stage::{Extremes, Scripted, bot, closing, minute, run, series, settings};
use candlewick_backtest::BacktestResult;
use candlewick_engine::IntentState;
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{CandleSeries, Millis};

#[test]
fn delayed_trade_opens_inside_the_next_candle_at_its_price() {
    let place = series("BTCUSDT", "1m");
    let candles = closing("BTCUSDT", "1m", &[100.0, 103.0, 109.0, 109.0]);
    let mut delayed = bot("a", place);
    delayed.entry_delay_s = 20;
    let strategy = Scripted::on(place, &[1]);
    let settings = settings(vec![delayed]);
    let run = run(&settings, vec![Box::new(strategy)], &[candles], &[], &mut Counter::default()).unwrap();
    let [row] = run.book.rows() else { panic!("one trade") };
    assert_eq!((row.state, row.approved.decision_time()), (IntentState::Settled, minute(1)));
    let after = |minutes: i64| Some(minute(minutes) + Millis::from_seconds(20));
    assert_eq!((row.open_time, row.close_time), (after(1), after(2)));
    // One third of the way from 100 to 103, and from 103 to 109.
    assert_eq!((row.open_price, row.close_price), (Some(101.0), Some(105.0)));
}

fn trades(delay_s: i64, latency_ms: i64) -> BacktestResult {
    let place = series("BTCUSDT", "1m");
    let candles = CandleSeries::new(place, random_walk(7, 3_000)).unwrap();
    let mut delayed = bot("a", place);
    delayed.entry_delay_s = delay_s;
    let mut settings = settings(vec![delayed]);
    settings.session.risk.max_trades_per_day = 0;
    settings.simulation.latency_ms = Millis::new(latency_ms);
    run(&settings, vec![Box::new(Extremes::new())], &[candles], &[], &mut Counter::default()).unwrap()
}

#[test]
fn delay_has_the_effect_of_an_equal_latency() {
    let rows = |finished: &BacktestResult| {
        let row = |row: &candlewick_engine::IntentRow| {
            (row.approved.decision_time(), row.open_time, row.close_time, row.open_price, row.profit)
        };
        finished.book.rows().iter().map(row).collect::<Vec<_>>()
    };
    let [delayed, late, at_once] = [(20, 1_500), (0, 21_500), (0, 1_500)].map(|(s, ms)| trades(s, ms));
    assert!(rows(&delayed).len() > 20, "{}", rows(&delayed).len());
    assert_eq!(rows(&delayed), rows(&late));
    assert_ne!(rows(&delayed), rows(&at_once));
}
