//! Reasons for the trades of a combination.
#![allow(clippy::unwrap_used, reason = "what cannot be built fails its test")]

mod parts;

use candlewick_rules::combine;
use candlewick_sdk::testkit::{bot, from_closes};
use candlewick_sdk::{Direction, Registry};
use parts::{part, with};
use serde_json::json;

fn registry() -> Registry {
    parts::registry([parts::script()])
}

#[test]
fn reasons_contain_the_votes_and_an_inverted_direction() {
    let turned = json!({ "invert": true });
    let heavy = json!({ "weight": 2.0, "invert": true });
    let inner = |invert: bool| json!({ "strategy": "combine", "params": { "first_of": [part("b")], "invert": invert } });
    for (params, direction, expected) in [
        (json!({ "first_of": [part("b")] }), Direction::Buy, ""),
        (json!({ "first_of": [part("b")], "invert": true }), Direction::Sell, "turned round: "),
        (json!({ "first_of": [with("b", &turned)] }), Direction::Sell, "turned round: "),
        // Two inversions cancel each other.
        (json!({ "first_of": [with("b", &turned)], "invert": true }), Direction::Buy, ""),
        (json!({ "first_of": [inner(true)], "invert": true }), Direction::Buy, ""),
        (json!({ "first_of": [inner(true)] }), Direction::Sell, "turned round: "),
        // Two of three votes are for the traded direction, and the deciding part itself is inverted.
        (json!({ "vote": [part("s"), part("b"), part("b")], "quorum": 2.0 }), Direction::Buy, "2 of 3: "),
        (
            json!({ "vote": [with("b", &heavy), part("s"), part(".")], "quorum": 3.0 }),
            Direction::Sell,
            "3 of 4: turned round: ",
        ),
        (
            json!({ "vote": [part("b"), part("b")], "invert": true }),
            Direction::Sell,
            "turned round: 2 of 2: ",
        ),
        (json!({ "vote": [part("b")] }), Direction::Buy, ""),
    ] {
        let mut strategy = combine::entry(registry()).build(&params, &bot("BTCUSDT")).unwrap();
        let given = strategy.on_candle(&from_closes(&[1.0])[0]).unwrap();
        let expected = format!("{expected}scripted number=0");
        assert_eq!((given.direction, given.reason.to_string()), (direction, expected), "{params}");
    }
}

#[test]
fn combinations_with_changed_reasons_have_a_new_version() {
    let combine = combine::entry(registry());
    for (params, expected) in [
        (json!({ "first_of": [part("b"), part("s")], "filters": [part("b")] }), "1.0.0"),
        (json!({ "vote": [part("b")] }), "1.0.0"),
        (json!({ "first_of": [part("b")], "filters": [with("b", &json!({ "invert": true }))] }), "1.0.0"),
        (json!({ "vote": [part("b"), part("s")] }), "1.1.0"),
        (json!({ "first_of": [part("b")], "invert": true }), "1.1.0"),
        (json!({ "first_of": [part("b"), with("b", &json!({ "invert": true }))] }), "1.1.0"),
    ] {
        let version = combine.for_params(&params).unwrap().version.clone();
        assert_eq!(version.split('+').next(), Some(expected), "{params}");
    }
}
