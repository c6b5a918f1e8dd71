//! Candles of one instant, which wait for each other within bounds.

use crate::prelude::*;

/// ETHUSDT is the first series, BTCUSDT the second. Expected for minute 1: index of the series and delay.
async fn check(change: impl FnOnce(Stage) -> Stage, expected: &[(usize, i64)]) {
    let ran = change(Stage::paused().await.bot(eth(), &[]).bot(btc(), &[])).run_for(100_000).await;
    let handled: Vec<_> = ran.candles().iter().map(|(series, _, at, _)| (*series, at - MINUTE)).collect();
    assert_eq!(handled, expected);
}

fn slow(symbol: candlewick_sdk::Symbol, ms: i64) -> impl FnOnce(Stage) -> Stage {
    move |stage| stage.slow(Which::Candles(symbol), (1, 2 * MINUTE), ms)
}

#[tokio::test(start_paused = true)]
async fn delivers_candles_of_one_instant_in_order() {
    check(|stage| stage, &[(0, 0), (1, 0)]).await;
    check(slow(eth(), 400), &[(0, 400), (1, 400)]).await;
    check(slow(btc(), 400), &[(0, 400), (1, 400)]).await;
    let later = |stage: Stage| slow(eth(), 400)(stage.with(|stage| stage.settings.first_ask_ms = 300));
    check(later, &[(0, 700), (1, 700)]).await;
    check(|stage| stage.lag(eth(), MINUTE, 400), &[(0, 500), (1, 500)]).await;
}

#[tokio::test(start_paused = true)]
async fn no_candle_waits_longer_than_the_hold() {
    check(slow(eth(), 1_700), &[(1, 1_000), (0, 1_700)]).await;
    check(|stage| stage.lag(eth(), MINUTE, 1_700), &[(1, 1_000), (0, 2_000)]).await;
    for trouble in [Trouble::Hang, Trouble::Fail(unavailable())] {
        check(|stage| stage.trouble_during(Which::Candles(eth()), (1, 90_000), trouble), &[(1, 1_000)]).await;
    }
    let no_hold = |stage: Stage| slow(eth(), 1_700)(stage.with(|stage| stage.settings.hold_ms = 0));
    check(no_hold, &[(1, 1), (0, 1_700)]).await;
}

#[tokio::test(start_paused = true)]
async fn older_wait_does_not_change_the_hold_of_an_instant() {
    // A trade is requested half a second before the close of minute 2, without an answer.
    for (eth_after, expected) in [(900, [(0, 900), (1, 900)]), (0, [(0, 500), (1, 500)])] {
        let stage = Stage::paused().await.bot(eth(), &[MINUTE]).bot(btc(), &[]);
        let (open, close) = (stage.at(MINUTE + 999), stage.at(2 * MINUTE - 4_500));
        let stage = stage.open(OpenScript::accepted("trade-1", open, close));
        let stage = stage.with(|stage| stage.settings.stop_patience_s = 0);
        let stage = stage.hang(Which::Trades, (1, 3 * MINUTE));
        let stage = stage.slow(Which::Candles(eth()), (2 * MINUTE, 3 * MINUTE), eth_after);
        let handled = stage.run_for(2 * MINUTE + 5_000).await.candles().into_iter().skip(2);
        let handled: Vec<_> = handled.map(|(series, _, at, _)| (series, at - 2 * MINUTE)).collect();
        assert_eq!(handled, expected);
    }
}
