//! The reasons of trades that a combination makes of what its parts signal.
#![allow(clippy::unwrap_used, reason = "what cannot be built fails its test")]

mod parts;

use candlewick_rules::combine;
use candlewick_sdk::testkit::{bot, from_closes};
use candlewick_sdk::{Candle, Direction, Parameter, Registry, Signal, Strategy, StrategyEntry};
use parts::{part, with};
use serde_json::{Value, json};

/// Signals at every candle: `b` or `s`, else not at all.
struct Scripted(String);

impl Strategy for Scripted {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        match self.0.as_str() {
            "b" => Some(Signal::buy("scripted").with("number", 7.0)),
            "s" => Some(Signal::sell("scripted").with("number", 7.0)),
            _ => None,
        }
    }
}

fn registry() -> Registry {
    let script = StrategyEntry::new("script", "1.0.0", |values, _| {
        Ok(Box::new(Scripted(values["script"].as_str().unwrap().to_owned())))
    });
    Registry::default().with_entry(script.with_parameter(Parameter::new("script", ""))).unwrap()
}

#[test]
fn a_reason_says_how_a_vote_went_and_that_a_direction_is_turned_round() {
    let (own, turned) = (json!({}), json!({ "invert": true }));
    let heavy = json!({ "weight": 2.0, "invert": true });
    let inner = |invert: bool| json!({ "strategy": "combine", "params": { "first_of": [with("b", &own)], "invert": invert } });
    for (params, direction, expected) in [
        (json!({ "first_of": [with("b", &own)] }), Direction::Buy, "scripted number=7"),
        (
            json!({ "first_of": [with("b", &own)], "invert": true }),
            Direction::Sell,
            "turned round: scripted number=7",
        ),
        (json!({ "first_of": [with("b", &turned)] }), Direction::Sell, "turned round: scripted number=7"),
        // Twice is not at all.
        (json!({ "first_of": [with("b", &turned)], "invert": true }), Direction::Buy, "scripted number=7"),
        (json!({ "first_of": [inner(true)], "invert": true }), Direction::Buy, "scripted number=7"),
        (json!({ "first_of": [inner(true)] }), Direction::Sell, "turned round: scripted number=7"),
        // Two of three for the direction that is traded; the one that decides is turned round itself.
        (
            json!({ "vote": [with("s", &own), with("b", &own), with("b", &own)], "quorum": 2.0 }),
            Direction::Buy,
            "2 of 3: scripted number=7",
        ),
        (
            json!({ "vote": [with("b", &heavy), with("s", &own), with(".", &own)], "quorum": 3.0 }),
            Direction::Sell,
            "3 of 4: turned round: scripted number=7",
        ),
        (
            json!({ "vote": [with("b", &own), with("b", &own)], "invert": true }),
            Direction::Sell,
            "turned round: 2 of 2: scripted number=7",
        ),
        (json!({ "vote": [with("b", &own)] }), Direction::Buy, "scripted number=7"),
    ] {
        let mut strategy = combine::entry(registry()).build(&params, &bot("BTCUSDT")).unwrap();
        let given = strategy.on_candle(&from_closes(&[1.0])[0]).unwrap();
        assert_eq!((given.direction, given.reason.to_string().as_str()), (direction, expected), "{params}");
    }
}

/// Whoever reads an earlier journal is told that its reasons were others; what has the same reasons is the same strategy.
#[test]
fn combinations_whose_reasons_have_other_words_are_of_another_version() {
    let combine = combine::entry(registry());
    let version =
        |params: &Value| combine.for_params(params).unwrap().version.split('+').next().unwrap().to_owned();
    for (params, expected) in [
        (json!({ "first_of": [part("b"), part("s")], "filters": [part("b")] }), "1.0.0"),
        (json!({ "vote": [part("b")] }), "1.0.0"),
        (json!({ "first_of": [part("b")], "filters": [with("b", &json!({ "invert": true }))] }), "1.0.0"),
        (json!({ "vote": [part("b"), part("s")] }), "1.1.0"),
        (json!({ "first_of": [part("b")], "invert": true }), "1.1.0"),
        (json!({ "first_of": [part("b"), with("b", &json!({ "invert": true }))] }), "1.1.0"),
    ] {
        assert_eq!(version(&params), expected, "{params}");
    }
}
