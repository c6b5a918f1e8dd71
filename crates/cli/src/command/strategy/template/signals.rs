//! What the strategy answers to candles, and what every strategy must hold.

use candlewick_sdk::testkit::{assert_signals, bot, conformance, random_walk};

use my_strategy::*;

#[test]
fn a_candle_that_moved_far_is_followed() {
    assert_signals::<MyStrategy>(
        &Params { move_fraction: 0.01 },
        "close  signal
         100
         102    BUY rose
         102.5
         100    SELL fell",
    );
}

#[test]
fn it_holds_what_every_strategy_must() {
    let (bot, candles) = (bot("BTCUSDT"), random_walk(1, 2_000));
    let signals = conformance::<MyStrategy>(&Params::default(), &bot, &candles);
    assert!(signals.expect("every check passes") > 0);
}
