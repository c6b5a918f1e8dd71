//! Trades of signal lists, compared with a calculation that shares no code with the program.

use crate::agreement::{Ground, variations};
use crate::excerpt::{DAY, HOUR, MONDAY, shipped, with_holes};
use std::collections::BTreeSet;

const LATENCIES_MS: [i64; 5] = [0, 1_500, 29_999, 30_000, 61_000];
const DURATIONS: [(&str, i64); 2] = [("01:00", 60_000), ("05:00", 300_000)];

#[test]
fn trades_match_the_oracle_around_missing_candles() {
    let candles = with_holes(130);
    let ground = Ground { series: "BTCUSDT@1m", interval_ms: 60_000, candles, pace: 1, durations: DURATIONS };
    let met: BTreeSet<_> = variations(&LATENCIES_MS).into_iter().flat_map(|one| ground.check(one)).collect();
    let all = ["CANCELLED", "DRAW", "LOST", "NoPrice", "WON", "unsettled"];
    assert_eq!(met, BTreeSet::from(all), "the candles are too easy");
}

#[test]
fn trades_match_the_oracle_around_a_weekend() {
    let friday = MONDAY + 4 * DAY;
    let candles = shipped("EURUSD_1m.csv", friday + 16 * HOUR, friday + 3 * DAY);
    let ground = Ground { series: "EURUSD@1m", interval_ms: 60_000, candles, pace: 1, durations: DURATIONS };
    for variation in variations(&LATENCIES_MS) {
        ground.check(variation);
    }
}
