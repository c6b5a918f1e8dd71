//! Money at the end of a run.

use crate::lines::Counter;
use crate::stage::{Extremes, Scripted, bot, closing, minute, run, series, settings};
use candlewick_backtest::Summary;
use candlewick_engine::IntentState;
use candlewick_sdk::testkit::{gappy, random_walk};
use candlewick_sdk::{CandleSeries, Money, Outcome};
use std::collections::BTreeMap;

/// Checks a bot that buys at these minutes of five rising ones: states of its intents, final balance,
/// and unsettled stakes. Money is in cents.
fn check(buys: &[i64], states: &[IntentState], balance: i64, unsettled: i64) {
    let place = series("BTCUSDT", "1m");
    let candles = closing("BTCUSDT", "1m", &[1.0, 2.0, 3.0, 4.0, 5.0]);
    let settings = settings(vec![bot("a", place)]);
    let finished =
        run(&settings, vec![Box::new(Scripted::on(place, buys))], &[candles], &[], &mut Counter::default())
            .unwrap();
    let found: Vec<_> = finished.book.rows().iter().map(|row| row.state).collect();
    assert_eq!(found, states, "{buys:?}");
    let money = [finished.final_balance, finished.unsettled_stakes].map(Money::minor);
    assert_eq!(money, [balance, unsettled], "{buys:?}");
    let summary = Summary::new(&finished.book, Money::from_minor(100_000));
    let unfinished = states.iter().filter(|state| **state != IntentState::Settled).count() as u64;
    assert_eq!((summary.unsettled, finished.candles), (unfinished, 5));
}

#[test]
fn stakes_of_unsettled_trades_are_returned() {
    use IntentState::{Open, Settled};
    check(&[], &[], 100_000, 0);
    check(&[1], &[Settled], 100_800, 0);
    check(&[1, 3], &[Settled, Settled], 101_600, 0);
    check(&[4], &[Settled], 100_800, 0);
    // The trade would open at the end of the data.
    check(&[5], &[Open], 100_000, 1_000);
    check(&[4, 5], &[Settled, Open], 100_800, 1_000);
}

#[test]
fn trade_without_open_price_is_declined_and_without_close_price_cancelled() {
    let place = series("BTCUSDT", "1m");
    let all = closing("BTCUSDT", "1m", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let kept: Vec<_> = all.candles().iter().filter(|candle| candle.time() != minute(2)).copied().collect();
    let candles = CandleSeries::new(place, kept).unwrap();
    for (buys, outcome, refused) in
        [(2, None, BTreeMap::from([("NoPrice", 1)])), (1, Some(Outcome::Won), BTreeMap::new())]
    {
        let settings = settings(vec![bot("a", place)]);
        let strategy = Scripted::on(place, &[buys]);
        let candles = std::slice::from_ref(&candles);
        let done = run(&settings, vec![Box::new(strategy)], candles, &[], &mut Counter::default()).unwrap();
        let row = done.book.rows()[0];
        assert_eq!(row.outcome, outcome, "minute {buys}");
        assert_eq!(done.book.refusal_counts(), refused);
    }
    let mut settings = settings(vec![bot("a", place)]);
    settings.session.bots[0].close_type = "02:00".parse().unwrap();
    let strategy = Scripted::on(place, &[1]);
    let done = run(&settings, vec![Box::new(strategy)], &[candles], &[], &mut Counter::default()).unwrap();
    let row = done.book.rows()[0];
    assert_eq!((row.outcome, row.profit), (Some(Outcome::Cancelled), Money::ZERO));
    assert_eq!(done.final_balance, Money::from_minor(100_000));
}

#[test]
fn final_balance_is_initial_balance_plus_profits() {
    for seed in 0..20 {
        let place = series("BTCUSDT", "1m");
        let candles = if seed % 2 == 0 { random_walk(seed, 2_000) } else { gappy(seed, 2_000) };
        let candles = CandleSeries::new(place, candles).unwrap();
        let mut settings = settings(vec![bot("a", place), bot("b", place)]);
        settings.session.risk.max_open_trades_per_symbol = 0;
        settings.simulation.latency_ms = candlewick_sdk::Millis::new(1_500);
        let strategies: Vec<Box<dyn candlewick_sdk::Strategy>> =
            vec![Box::new(Extremes::new()), Box::new(Extremes::new())];
        let finished = run(&settings, strategies, &[candles], &[], &mut Counter::default()).unwrap();
        let summary = Summary::new(&finished.book, Money::from_minor(100_000));
        assert!(summary.trades > 10, "seed {seed}: {} trades", summary.trades);
        assert_eq!(finished.final_balance, Money::from_minor(100_000) + summary.pnl, "seed {seed}");
        assert_eq!(summary.trades, summary.won + summary.lost + summary.draw + summary.cancelled);
    }
}
