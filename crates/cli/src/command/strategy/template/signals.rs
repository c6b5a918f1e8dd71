//! Tests of the strategy's signals, and the checks that every strategy must pass.

use candlewick_sdk::testkit::{assert_built_from_folder, assert_passes_checks, assert_signals};

use my_strategy::*;

#[test]
fn follows_large_moves() {
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
fn passes_all_checks() {
    assert_built_from_folder(env!("CARGO_MANIFEST_DIR"));
    assert_passes_checks::<MyStrategy>(&Params::default());
}
