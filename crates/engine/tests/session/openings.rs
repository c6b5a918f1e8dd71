//! Signals that become trades, and the bots that trade them.

use crate::event::{at, backfilled, candle, candle_kind, lost, opened, price, series_id, won};
use crate::script::Script;
use crate::test_session::TestSession;
use candlewick_engine::Origin;

#[test]
fn warmup_of_a_series_is_the_longest_of_its_bots() {
    let scripts = [
        Script::new("a").warm_after(3),
        Script::new("b").warm_after(7),
        Script::new("c").on("ETHUSDT").warm_after(9),
    ];
    let session = TestSession::new(&scripts, |_| {});
    assert_eq!([0, 1, 2].map(|series| session.session.warmup(series_id(series))), [7, 9, 0]);
}

#[test]
fn backfilled_candles_warm_up_but_never_open() {
    let mut session = TestSession::new(&[Script::new("a").warm_after(2).buys(&[1, 2, 3])], |_| {});
    session.check(&[
        (backfilled(0, 1), ""),
        (backfilled(0, 2), "a LateSignal"),
        (candle(0, 3), "#1 a BUY 10.00"),
    ]);
}

#[test]
fn bots_of_a_series_decide_in_their_order() {
    let scripts = [
        Script::new("c").sells(&[1]),
        Script::new("other").on("ETHUSDT").buys(&[1]),
        Script::new("a").buys(&[1, 3]),
        Script::new("b").buys(&[1, 3]),
    ];
    let mut session = TestSession::new(&scripts, |_| {});
    session.check(&[
        (candle(0, 1), "#1 c SELL 10.00, a InFlight, b InFlight"),
        (at(62, opened(1)), ""),
        (at(125, won(1, 800)), ""),
        (candle(0, 3), "#2 a BUY 10.00, b InFlight"),
    ]);
}

#[test]
fn candles_reach_only_bots_of_their_series_and_shorter_ones_come_first() {
    let five = candle_kind(0, "5m".parse().unwrap(), 5, Origin::Live);
    let scripts = [Script::new("five").every("5m").buys(&[5]), Script::new("one").buys(&[5])];
    let mut session = TestSession::new(&scripts, |_| {});
    assert_eq!(session.session.series_order(), [series_id(1), series_id(0)]);
    session.check(&[(candle(1, 5), "#1 one BUY 10.00"), (at(300, five), "five InFlight")]);
}

#[test]
fn two_symbols_share_one_wallet() {
    let scripts = [Script::new("a").buys(&[1, 3]), Script::new("e").on("ETHUSDT").buys(&[1, 2])];
    let mut session = TestSession::with_balance(15, &scripts, |risk| risk.max_drawdown_percent = 0.0);
    session.check_money(&[
        (candle(0, 1), "#1 a BUY 10.00", [500, 1_000]),
        (candle(1, 1), "e InsufficientBalance", [500, 1_000]),
        (at(62, opened(1)), "", [500, 1_000]),
        (at(119, won(1, 800)), "", [2_300, 0]),
        (candle(1, 2), "#2 e BUY 10.00 opened", [1_300, 1_000]),
        (candle(0, 3), "#3 a BUY 10.00", [300, 2_000]),
    ]);
}

#[test]
fn prices_reach_only_bots_of_their_symbol() {
    let scripts = [
        Script::new("a").buys(&[2, 3]),
        Script::new("e").on("ETHUSDT").sells(&[2, 3]),
        Script::new("cold").warm_after(9).buys(&[2]),
    ];
    let mut session = TestSession::new(&scripts, |_| {});
    session.check(&[
        (candle(0, 1), ""),
        (candle(1, 1), ""),
        (price(0, 120), "#1 a BUY 10.00"),
        (price(1, 120), "#2 e SELL 10.00"),
        (price(0, 180), "a InFlight"),
    ]);
}

#[test]
fn price_before_any_candle_counts_as_stale_data() {
    let mut session = TestSession::new(&[Script::new("a").buys(&[2])], |_| {});
    session.check(&[(price(0, 120), "a StaleData")]);
}

#[test]
fn settlement_reaches_only_the_strategy_of_the_trade() {
    let scripts = [
        Script::new("a").buys(&[1]),
        Script::new("b").sells(&[2]),
        Script::new("e").on("ETHUSDT").sells(&[1]),
    ];
    let seen = scripts.each_ref().map(Script::seen);
    let mut session = TestSession::new(&scripts, |risk| {
        risk.max_open_trades_per_symbol = 2;
        risk.allow_opposite = true;
    });
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00"),
        (candle(1, 1), "#2 e SELL 10.00"),
        (at(62, opened(1)), ""),
        (at(62, opened(2)), ""),
        (candle(0, 2), "#3 b SELL 10.00 opened"),
        (at(125, lost(2, 1_000)), ""),
        (at(185, won(3, 800)), ""),
        (at(186, won(1, 801)), ""),
    ]);
    let seen = seen.map(|seen| seen.lock().unwrap().clone());
    let ends = [["BUY of minute 1 WON 801"], ["SELL of minute 2 WON 800"], ["SELL of minute 1 LOST -1000"]];
    assert_eq!(seen, ends);
}

#[test]
fn ignores_events_of_unknown_bots_symbols_and_series() {
    let mut session = TestSession::new(&[Script::new("a").buys(&[1, 2])], |_| {});
    session.check(&[(candle(7, 1), ""), (price(7, 60), "")]);
}
