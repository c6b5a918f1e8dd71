//! Scenarios of what the resolver reports between two listings.

use super::super::testing::{doubt, listing};
use super::super::{Accepted, Decision, Doubt};
use super::{Scenario, trade, twin};
use candlewick_broker::{Reported, TradeListing, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Direction, Millis};

#[test]
fn what_an_earlier_run_took_as_not_opened_is_looked_for_once_and_found_late() {
    let mut scenario = Scenario::new(&[]);
    for _ in 0..2 {
        scenario.resolver.recall_not_opened(doubt(1), Millis::from_seconds(300));
    }
    scenario.look(400, &[trade("a", 105)], &[]);
    scenario.look(405, &[trade("a", 105)], &["1 is a after all"]);
    assert_eq!(scenario.resolver.next_look(), None);
}

#[test]
fn the_venue_may_have_taken_what_list_and_record_say_it_made_of_the_request() {
    let sold = |id: &str| TradeReport { direction: Some(Reported::Known(Direction::Sell)), ..trade(id, 102) };
    let mut scenario = Scenario::new(&[doubt(1)]);
    let broken = TradeListing { is_complete: false, ..listing(120_000, vec![sold("a")]) };
    assert!(scenario.look_at(&broken).is_empty());
    let may_be = |number: u64, report: &TradeReport| {
        scenario.resolver.may_have_taken(IntentId::new(number), report, Millis::ZERO)
    };
    assert!(may_be(1, &sold("a")));
    // The list did not show it; its record says that it is not; it is of no intent that is looked for.
    assert!(!may_be(1, &sold("b")));
    assert!(!may_be(1, &TradeReport { from_token: Some(false), ..sold("a") }));
    assert!(!may_be(2, &sold("a")));
}

#[test]
fn what_the_list_did_not_say_in_full_may_be_another_bet_by_its_record_and_what_it_did_may_not() {
    let record =
        |id: &str| TradeReport { direction: Some(Reported::Known(Direction::Sell)), ..trade(id, 102) };
    let mut scenario = Scenario::new(&[doubt(1)]);
    let half = TradeReport { direction: None, ..trade("half", 102) };
    scenario.look(115, &[half, trade("whole", 103)], &[]);
    let may_be = |id: &str| scenario.resolver.may_have_taken(IntentId::new(1), &record(id), Millis::ZERO);
    assert_eq!([may_be("half"), may_be("whole")], [true, false]);
}

#[test]
fn a_trade_that_was_answered_and_is_not_listed_measures_the_lists_lag() {
    let mut scenario = Scenario::new(&[]);
    let accepted = Accepted { id: "a", at: Millis::from_seconds(100), is_settled: true };
    scenario.resolver.measure_lag(&listing(300_000, Vec::new()), [accepted]);
    assert_eq!(scenario.resolver.list_lag(), Millis::from_seconds(400));
}

#[test]
fn requests_matter_from_a_minute_before_the_first_that_is_in_doubt() {
    let since = |doubts: &[Doubt]| Scenario::new(doubts).resolver.looks_since();
    assert_eq!(since(&[]), None);
    assert_eq!(since(&[twin(1, 300), twin(2, 200)]), Some(Millis::from_seconds(140)));
    // What is taken as not opened is in doubt no more.
    let mut scenario = Scenario::new(&[twin(1, 300), twin(2, 200)]);
    let claimed = scenario.claimed.clone();
    let decided = scenario.resolver.resolve_by_person(IntentId::new(2), Decision::NotOpened, &claimed);
    assert!(decided.is_ok());
    assert_eq!(scenario.resolver.looks_since(), Some(Millis::from_seconds(240)));
}

#[test]
fn beside_a_doubt_lies_what_is_on_its_symbol_and_of_the_time_in_which_its_trade_may_be() {
    // Sent at 100 s, ended at 110 s; its trade may be of a time up to 260.999 s.
    let resolver = Scenario::new(&[doubt(1)]).resolver;
    let [own, other] = ["BTCUSDT", "ETHUSDT"].map(|symbol| symbol.parse().unwrap());
    for (symbols, from, until, expected) in [
        ([own, own], 0, 99_999, false),
        ([own, own], 0, 100_000, true),
        ([own, own], 260_999, 300_000, true),
        ([own, own], 261_000, 300_000, false),
        ([other, own], 0, 300_000, true),
        ([own, other], 0, 300_000, true),
        ([other, other], 0, 300_000, false),
    ] {
        let found = resolver.has_beside(symbols, (Millis::new(from), Millis::new(until)));
        assert_eq!(found, expected, "{symbols:?} from {from} to {until}");
    }
    assert!(!Scenario::new(&[]).resolver.has_beside([own, own], (Millis::ZERO, Millis::MAX)));
}

#[test]
fn a_doubt_is_searched_until_a_person_is_asked() {
    assert!(!Scenario::new(&[]).resolver.is_searching());
    let mut scenario = Scenario::new(&[doubt(1)]);
    assert!(scenario.resolver.is_searching());
    scenario.look(115, &[trade("a", 101), trade("b", 102)], &[]);
    assert!(scenario.resolver.is_searching());
    scenario.look(120, &[trade("a", 101), trade("b", 102)], &["1? too many"]);
    assert!(!scenario.resolver.is_searching());
}
