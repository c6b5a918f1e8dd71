//! An edge that was shown and then is not there any more.

use crate::candlewick::Folder;
use crate::excerpt::{MINUTE, MONDAY};
use serde_json::Value;
use std::fmt::Write as _;

/// Trades at 60 %, and how many there are before the edge is gone.
const GOOD: i64 = 1_200;

/// So many trades of a minute each, one after another: at payout 85 60 % of the first are won, and 48 % of the others.
fn trades(count: i64) -> String {
    let mut text = String::from("bot,symbol,decision_time,close_time,payout,result\n");
    let mut state = 1_u64;
    for place in 0..count {
        // Knuth's generator (MMIX): its upper bits are even.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wins = if place < GOOD { 60 } else { 48 };
        let result = if (state >> 33) % 100 < wins { "WON" } else { "LOST" };
        let decided = MONDAY + place * MINUTE;
        let _ = writeln!(text, "coin,BTCUSDT,{decided},{},85,{result}", decided + MINUTE);
    }
    text
}

#[test]
fn an_edge_that_was_shown_and_has_gone_is_no_longer_held_since_about_then() {
    let folder = Folder::new().with("good.csv", &trades(GOOD)).with("gone.csv", &trades(GOOD + 20_000));
    let verdict = |file: &str| folder.run(&["edge", "verdict", "--json", "--trades", file]).json();
    assert_eq!(verdict("good.csv")["all"]["verdict"], "edge_shown");
    let gone: &Value = &verdict("gone.csv")["all"];
    assert_eq!(
        (&gone["verdict"], gone["lost"].as_u64() > Some(10_000)),
        (&"edge_no_longer_held".into(), true)
    );
    let since = gone["no_longer_held_since"].as_i64().unwrap();
    let place = (since - MONDAY) / MINUTE;
    assert!((GOOD - 100..=GOOD + 100).contains(&place), "since trade {place}");
    let printed = folder.run(&["edge", "verdict", "--trades", "gone.csv"]).stdout;
    let words = ["edge no longer held since 2026-01-0", "it ended, or was smaller all along"];
    assert!(words.iter().all(|words| printed.replace('\n', " ").contains(words)), "{printed}");
}
