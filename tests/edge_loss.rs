//! Loss of a proven edge.

use crate::candlewick::Folder;
use crate::excerpt::{MINUTE, MONDAY};
use std::fmt::Write as _;

const GOOD: i64 = 1_200;

/// One-minute trades at payout 85: 60 % of the first [`GOOD`] are won, then 48 %.
fn trades(count: i64) -> String {
    let mut text = String::from("bot,symbol,decision_time,close_time,payout,result\n");
    let mut state = 1_u64;
    for index in 0..count {
        // Knuth's generator (MMIX): its upper bits are evenly distributed.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wins = if index < GOOD { 60 } else { 48 };
        let result = if (state >> 33) % 100 < wins { "WON" } else { "LOST" };
        let decided = MONDAY + index * MINUTE;
        let _ = writeln!(text, "coin,BTCUSDT,{decided},{},85,{result}", decided + MINUTE);
    }
    text
}

#[test]
fn dates_the_loss_of_an_edge_to_within_a_hundred_trades() {
    let folder = Folder::new().with("good.csv", &trades(GOOD)).with("gone.csv", &trades(GOOD + 20_000));
    let verdict = |file| folder.run(&["edge", "verdict", "--json", "--trades", file]).json()["all"].take();
    let good = verdict("good.csv");
    assert!(good["shown"].is_object() && good["no_longer_held_since"].is_null(), "{good}");
    let gone = verdict("gone.csv");
    // A file cannot show an edge.
    assert_eq!((&good["verdict"], &gone["verdict"]), (&"exploratory".into(), &"exploratory".into()));
    assert!(gone["lost"].as_u64() > Some(10_000));
    let trade = (gone["no_longer_held_since"].as_i64().unwrap() - MONDAY) / MINUTE;
    assert!((GOOD - 100..=GOOD + 100).contains(&trade), "since trade {trade}");
}
