//! Scenarios of several doubts that compete for trades and wallet surplus.

use super::super::testing::{doubt, listing};
use super::super::{Decision, Doubt};
use super::{Scenario, trade, twin};
use candlewick_broker::{Progress, Reported, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Direction, Millis, Money, Outcome};

fn absent(wallet: i64, expected: &[&str]) -> Scenario {
    let mut scenario = Scenario::new(&[twin(1, 100), twin(2, 110)]);
    scenario.wallet = Some(wallet);
    scenario.look(271, &[], &[]);
    scenario.look(281, &[], expected);
    scenario
}

#[test]
fn the_wallet_speaks_for_two_doubts_or_for_neither() {
    absent(2_000, &["1 is nothing, 321 s", "2 is nothing, 321 s"]);
    // One of the two stakes is there: nobody knows whose.
    absent(1_000, &[]).look(391, &[], &["1? wallet", "2? wallet"]);
    absent(0, &[]).look(391, &[], &["1? wallet", "2? wallet"]);
}

#[test]
fn a_stake_that_may_be_another_requests_proves_nothing() {
    let mut flying = Scenario::new(&[doubt(1)]);
    flying.wallet = Some(1_000);
    flying.in_flight.push(Doubt { ended: Millis::MAX, ..twin(2, 260) });
    flying.look(261, &[], &[]);
    flying.look(271, &[], &[]);
    // It was opened, and the stake that is left is ours.
    flying.in_flight.clear();
    flying.look(275, &[], &["1 is nothing, 321 s"]);
}

#[test]
fn a_stake_that_a_person_took_for_nothing_is_in_the_wallet_until_it_is_given_back() {
    let decided = |wallet: i64, is_reserved: bool, expected: &[&str]| {
        let mut scenario = Scenario::new(&[twin(1, 100), twin(2, 110)]);
        let not_opened =
            scenario.resolver.resolve_by_person(IntentId::new(1), Decision::NotOpened, &scenario.claimed);
        assert!(not_opened.is_ok());
        if is_reserved {
            scenario.reserved.insert(IntentId::new(1), Millis::HOUR);
        }
        scenario.wallet = Some(wallet);
        scenario.look(271, &[], &[]);
        scenario.look(281, &[], expected);
    };
    decided(2_000, true, &["2 is nothing, 321 s"]);
    decided(1_000, true, &[]);
    // The ledger has it back already.
    decided(1_000, false, &["2 is nothing, 321 s"]);
    decided(2_000, false, &[]);
}

#[test]
fn a_stake_that_a_person_took_for_nothing_may_have_left_the_wallet_once_its_trade_is_listed() {
    let check = |listed: &[TradeReport], expected: &[&str]| {
        let mut double = twin(2, 110);
        (double.order.amount, double.stake) = (20.into(), Money::from_minor(2_000));
        let mut scenario = Scenario::new(&[twin(1, 100), double]);
        let not_opened =
            scenario.resolver.resolve_by_person(IntentId::new(1), Decision::NotOpened, &scenario.claimed);
        assert!(not_opened.is_ok());
        scenario.reserved.insert(IntentId::new(1), Millis::HOUR);
        scenario.wallet = Some(2_000);
        scenario.look(271, listed, &[]);
        scenario.look(281, listed, expected);
    };
    // 10.00 of it are the first one's, so that the second one's 20.00 are not there.
    check(&[], &[]);
    let closes = |second| TradeReport { close_time: Some(Millis::from_seconds(second)), ..trade("a", 101) };
    check(&[closes(300)], &["1 is a after all", "2 is nothing, 321 s"]);
    // It may be over, and paid.
    check(&[closes(280)], &["1 is a after all"]);
}

#[test]
fn a_stake_whose_trade_is_listed_has_left_the_wallet_and_may_be_back_once_that_may_be_over() {
    for (close_time, progress, is_back) in [
        (Some(400), Progress::Running, false),
        (Some(280), Progress::Running, true),
        // It closes after a minute, or was called off before that.
        (None, Progress::Running, true),
        (Some(400), Progress::Over(Outcome::Cancelled), true),
    ] {
        check_listed(close_time, progress, is_back);
    }
}

fn check_listed(close_s: Option<i64>, progress: Progress, is_back: bool) {
    let mut sale = twin(2, 110);
    sale.order.direction = Direction::Sell;
    let mut scenario = Scenario::new(&[twin(1, 100), sale]);
    scenario.wallet = Some(1_000);
    // It may be the sale and does not say all, so it is not adopted.
    let direction = Some(Reported::Known(Direction::Sell));
    let close_time = close_s.map(Millis::from_seconds);
    let sold = TradeReport { direction, expiration_type: None, close_time, progress, ..trade("a", 115) };
    let sold = [sold];
    scenario.look(271, &sold, &[]);
    let expected = if is_back { &["2? unclear"][..] } else { &["1 is nothing, 321 s", "2? unclear"] };
    scenario.look(281, &sold, expected);
}

#[test]
fn as_many_trades_that_time_does_not_pair_are_for_a_person_at_once() {
    // The second trade came too late for the second intent, whose request ended sooner than the first one's.
    let first = Doubt { ended: Millis::from_seconds(400), ..twin(1, 100) };
    let mut scenario = Scenario::new(&[first, twin(2, 110)]);
    let trades = [trade("a", 115), trade("b", 300)];
    scenario.look(410, &trades, &[]);
    scenario.look(415, &trades, &["1? too many", "2? too many"]);
}

#[test]
fn a_stake_that_the_wallet_has_shown_to_be_taken_was_taken() {
    for (lowest, has_stood, expected) in [
        (0, true, "1? taken"),
        (999, true, "1? taken"),
        (1_000, true, "1 is nothing, 321 s"),
        // It may lag, or cannot be.
        (0, false, "1 is nothing, 321 s"),
        (-1, true, "1 is nothing, 321 s"),
    ] {
        let mut scenario = Scenario::new(&[doubt(1)]);
        (scenario.wallet, scenario.has_stood) = (Some(lowest), has_stood);
        scenario.look(200, &[], &[]);
        scenario.wallet = Some(1_000);
        scenario.look(261, &[], &[]);
        let said: Vec<_> =
            [271, 381].map(|second| scenario.look_at(&listing(second * 1_000, Vec::new()))).concat();
        assert_eq!(said, [expected], "{lowest} were in the wallet");
    }
}

#[test]
fn twins_of_one_millisecond_are_paired_by_their_numbers() {
    let mut scenario = Scenario::new(&[twin(2, 100), twin(1, 100)]);
    let trades = [trade("b", 102), trade("a", 101)];
    scenario.look(125, &trades, &[]);
    scenario.look(130, &trades, &["1 is a", "2 is b"]);
}
