//! Scenarios of trades that depart from the order they may belong to.

use super::super::testing::{doubt, listing};
use super::super::{Decision, Doubt};
use super::{Scenario, trade, twin};
use candlewick_broker::{Reported, TradeListing, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Direction, Millis};

fn sold(id: &str, second: i64) -> TradeReport {
    TradeReport { direction: Some(Reported::Known(Direction::Sell)), ..trade(id, second) }
}

#[test]
fn what_the_venue_took_instead_is_adopted_when_nothing_else_can_be_meant() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    // The wallet shows its stake as well as ours would be shown.
    scenario.look(115, &[sold("a", 102)], &[]);
    scenario.look(120, &[sold("a", 102)], &[]);
    scenario.look(262, &[sold("a", 102)], &[]);
    scenario.look(271, &[sold("a", 102)], &[]);
    scenario.look(272, &[sold("a", 102)], &["1 is a"]);
    assert_eq!(scenario.resolver.next_look(), None);
    // It was there all the time: the list does not lag.
    assert_eq!(scenario.resolver.list_lag(), Millis::from_seconds(120));
}

#[test]
fn what_was_asked_for_goes_before_what_the_venue_may_have_taken() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    scenario.look(262, &[sold("a", 102)], &[]);
    // It is listed late: what differs is a stranger's then.
    let both = [sold("a", 102), trade("b", 103)];
    scenario.look(271, &both, &[]);
    scenario.look(276, &both, &["1 is b"]);
    scenario.look(300, &both, &["whose is a?"]);
}

#[test]
fn what_the_venue_may_have_taken_is_for_a_person_where_others_may_have_asked_for_it() {
    let mut two = Scenario::new(&[doubt(1)]);
    two.look(262, &[sold("a", 102), sold("b", 103)], &[]);
    two.look(272, &[sold("a", 102), sold("b", 103)], &["1? others a b"]);
    two.look(452, &[sold("a", 102), sold("b", 103)], &[]);
    // What the person takes for nothing is nobody's.
    let decided = two.resolver.resolve_by_person(IntentId::new(1), Decision::NotOpened, &two.claimed);
    assert!(decided.is_ok());
    two.look(632, &[sold("a", 102), sold("b", 103)], &["whose is a?", "whose is b?"]);

    // A program that is known trades again.
    let mut known = Scenario::new(&[doubt(1)]);
    known.resolver.recall_unexplained(["before".to_owned()]);
    known.look(262, &[sold("a", 102)], &[]);
    known.look(272, &[sold("a", 102)], &["1? others a"]);

    // The list does not say which way it goes.
    let mut unclear = Scenario::new(&[doubt(1)]);
    let half = TradeReport { direction: None, amount: Some(50.into()), ..trade("a", 102) };
    unclear.look(262, std::slice::from_ref(&half), &[]);
    unclear.look(272, &[half], &["1? others a"]);

    // Another intent may have asked for it as well.
    let mut shared = Scenario::new(&[doubt(1), twin(2, 105)]);
    shared.look(267, &[sold("a", 107)], &[]);
    shared.look(277, &[sold("a", 107)], &["1? others a", "2? others a"]);

    // An answered request may have made it: it is that one's second trade.
    let mut answered = Scenario::new(&[doubt(1)]);
    let mut other = twin(2, 101);
    other.order.direction = Direction::Sell;
    answered.answered.push(other.clone());
    answered.wallet = Some(1_000);
    answered.look(262, &[sold("a", 102)], &["whose is a?"]);
    answered.look(272, &[sold("a", 102)], &["1 is nothing, 321 s"]);

    // One that asked for the other direction cannot have made it, and explains nothing.
    let mut apart = Scenario::new(&[doubt(1)]);
    apart.answered.push(twin(2, 101));
    apart.look(262, &[sold("a", 102)], &[]);
    apart.look(272, &[sold("a", 102)], &["1 is a"]);

    // One that is in flight may be told that it is its own.
    let mut flying = Scenario::new(&[doubt(1)]);
    flying.in_flight.push(Doubt { ended: Millis::MAX, ..twin(2, 101) });
    flying.wallet = Some(1_000);
    flying.look(262, &[sold("a", 102)], &[]);
}

#[test]
fn a_list_that_is_never_whole_names_what_the_venue_may_have_taken() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    let broken = TradeListing { is_complete: false, ..listing(381_000, vec![sold("a", 102)]) };
    assert_eq!(scenario.look_at(&broken), ["1? list a"]);
}
