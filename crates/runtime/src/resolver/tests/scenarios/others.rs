use super::{Scenario, trade, twin};
use crate::resolver::OrderAttempt;
use crate::resolver::testing::{doubt, listing};
use candlewick_broker::{ReportedValue, TradeListing, TradeProgress, TradeReport};
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
fn wallet_decides_two_doubts_or_neither() {
    absent(2_000, &["1 is nothing, 321 s", "2 is nothing, 321 s"]);
    absent(1_000, &[]).look(391, &[], &["1? wallet", "2? wallet"]);
    absent(0, &[]).look(391, &[], &["1? wallet", "2? wallet"]);
}

#[test]
fn ambiguous_stake_proves_nothing() {
    let mut flying = Scenario::with_stake(&[doubt(1)]);
    flying.in_flight.push(OrderAttempt { ended: Millis::MAX, ..twin(2, 260) });
    flying.silent(&[261, 271], &[]);
    flying.in_flight.clear();
    flying.look(275, &[], &["1 is nothing, 321 s"]);
}

#[test]
fn manually_unopened_stake_counts_until_released_or_listed() {
    let closes = |second| TradeReport { close_time: Some(Millis::from_seconds(second)), ..trade("a", 101) };
    let (late, nothing) = ("1 is a after all", "2 is nothing, 321 s");
    for (stake, wallet, is_reserved, listed, expected) in [
        (10, 2_000, true, None, vec![nothing]),
        (10, 1_000, true, None, vec![]),
        (10, 1_000, false, None, vec![nothing]),
        (10, 2_000, false, None, vec![]),
        (20, 2_000, true, None, vec![]),
        (20, 2_000, true, Some(closes(300)), vec![late, nothing]),
        (20, 2_000, true, Some(closes(280)), vec![late]),
    ] {
        let mut other = twin(2, 110);
        (other.order.amount, other.stake) = (stake.into(), Money::from_minor(stake * 100));
        let mut scenario = Scenario::new(&[twin(1, 100), other]);
        scenario.take_for_nothing(1);
        if is_reserved {
            scenario.reserved.insert(IntentId::new(1), Millis::HOUR);
        }
        scenario.wallet = Some(wallet);
        let listed = Vec::from_iter(listed);
        scenario.look(271, &listed, &[]);
        scenario.look(281, &listed, &expected);
    }
}

#[test]
fn listed_stake_has_left_and_may_return_after_the_close() {
    for (close_s, progress, is_back) in [
        (Some(400), TradeProgress::Running, false),
        (Some(280), TradeProgress::Running, true),
        (None, TradeProgress::Running, true),
        (Some(400), TradeProgress::Over(Outcome::Cancelled), true),
    ] {
        let mut sale = twin(2, 110);
        sale.order.direction = Direction::Sell;
        let mut scenario = Scenario::with_stake(&[twin(1, 100), sale]);
        let close_time = close_s.map(Millis::from_seconds);
        let sold = [TradeReport { expiration_type: None, close_time, progress, ..sold("a", 115) }];
        scenario.look(271, &sold, &[]);
        let expected = if is_back { &["2? unclear"][..] } else { &["1 is nothing, 321 s", "2? unclear"] };
        scenario.look(281, &sold, expected);
    }
}

#[test]
fn escalates_trades_that_times_cannot_pair() {
    let first = OrderAttempt { ended: Millis::from_seconds(400), ..twin(1, 100) };
    let mut scenario = Scenario::new(&[first, twin(2, 110)]);
    let trades = [trade("a", 115), trade("b", 300)];
    scenario.look(410, &trades, &[]);
    scenario.look(415, &trades, &["1? too many", "2? too many"]);
}

#[test]
fn stake_shown_as_taken_stays_taken() {
    for (lowest, has_stood, expected) in [
        (0, true, "1? taken"),
        (999, true, "1? taken"),
        (1_000, true, "1 is nothing, 321 s"),
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
fn pairs_twins_by_time_and_number() {
    for (sent, requested, expected) in
        [([110, 100], [101, 111], ["1 is b", "2 is a"]), ([100, 100], [102, 101], ["1 is a", "2 is b"])]
    {
        let mut scenario = Scenario::new(&[twin(2, sent[0]), twin(1, sent[1])]);
        let trades = [trade("b", requested[0]), trade("a", requested[1])];
        scenario.look(125, &trades, &[]);
        scenario.look(130, &trades, &expected);
    }
}

#[test]
fn finds_late_trades_of_earlier_runs() {
    let mut scenario = Scenario::new(&[]);
    for _ in 0..2 {
        scenario.resolver.begin_late_search(doubt(1), Millis::from_seconds(300));
    }
    scenario.look(400, &[trade("a", 105)], &[]);
    scenario.look(405, &[trade("a", 105)], &["1 is a after all"]);
    assert_eq!(scenario.resolver.next_poll(), None);
}

#[test]
fn accepts_changed_terms_that_list_and_record_state() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    let broken = TradeListing { is_complete: false, ..listing(381_000, vec![sold("a", 102)]) };
    assert_eq!(scenario.look_at(&broken), ["1? list a"], "a list that is never whole names it");
    let may_be = |number: u64, report: &TradeReport| {
        scenario.resolver.may_have_other_terms(IntentId::new(number), report, Millis::ZERO)
    };
    assert!(may_be(1, &sold("a", 102)));
    assert!(!may_be(1, &sold("b", 102)));
    assert!(!may_be(1, &TradeReport { is_opened_with_token: Some(false), ..sold("a", 102) }));
    assert!(!may_be(2, &sold("a", 102)));
}

#[test]
fn record_may_complete_but_not_contradict_the_list() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    let half = TradeReport { direction: None, ..trade("half", 102) };
    scenario.look(115, &[half, trade("whole", 103)], &[]);
    let may_be =
        |id: &str| scenario.resolver.may_have_other_terms(IntentId::new(1), &sold(id, 102), Millis::ZERO);
    assert_eq!([may_be("half"), may_be("whole")], [true, false]);
}

#[test]
fn requests_matter_from_a_minute_before_the_first_doubt() {
    let since = |doubts: &[OrderAttempt]| Scenario::new(doubts).resolver.earliest_relevant_time();
    assert_eq!(since(&[]), None);
    assert_eq!(since(&[twin(1, 300), twin(2, 200)]), Some(Millis::from_seconds(140)));
    let mut scenario = Scenario::new(&[twin(1, 300), twin(2, 200)]);
    scenario.take_for_nothing(2);
    assert_eq!(scenario.resolver.earliest_relevant_time(), Some(Millis::from_seconds(240)));
}

#[test]
fn doubt_is_near_by_symbol_and_time() {
    // The request is sent at 100 s and ends at 110 s. Its trade may have opened until 260.999 s.
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
        let found = resolver.has_doubt_near(symbols, (Millis::new(from), Millis::new(until)));
        assert_eq!(found, expected, "{symbols:?} from {from} to {until}");
    }
    assert!(!Scenario::new(&[]).resolver.has_doubt_near([own, own], (Millis::ZERO, Millis::MAX)));
}

fn sold(id: &str, second: i64) -> TradeReport {
    TradeReport { direction: Some(ReportedValue::Known(Direction::Sell)), ..trade(id, second) }
}

#[test]
fn adopts_an_unambiguous_changed_trade() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    scenario.silent(&[115, 120, 262, 271], &[sold("a", 102)]);
    scenario.look(272, &[sold("a", 102)], &["1 is a"]);
    assert_eq!(scenario.resolver.next_poll(), None);
    assert_eq!(scenario.resolver.lag.allowance(), Millis::from_seconds(120));
}

#[test]
fn exact_match_precedes_changed_trades() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    scenario.look(262, &[sold("a", 102)], &[]);
    let both = [sold("a", 102), trade("b", 103)];
    scenario.look(271, &both, &[]);
    scenario.look(276, &both, &["1 is b"]);
    scenario.look(300, &both, &["whose is a?"]);
}

#[test]
fn escalates_a_changed_trade_if_others_trade_the_account() {
    let mut two = Scenario::new(&[doubt(1)]);
    let both = [sold("a", 102), sold("b", 103)];
    for (second, expected) in [(262, &[][..]), (272, &["1? others a b"]), (452, &[])] {
        two.look(second, &both, expected);
    }
    // An intent that was resolved as not opened owns no trade.
    two.take_for_nothing(1);
    two.look(632, &both, &["whose is a?", "whose is b?"]);

    let mut known = Scenario::new(&[doubt(1)]);
    known.resolver.reported.extend(["before".to_owned()]);
    known.look(262, &[sold("a", 102)], &[]);
    known.look(272, &[sold("a", 102)], &["1? others a"]);

    let mut unclear = Scenario::new(&[doubt(1)]);
    let half = TradeReport { direction: None, amount: Some(50.into()), ..trade("a", 102) };
    unclear.look(262, std::slice::from_ref(&half), &[]);
    unclear.look(272, &[half], &["1? others a"]);

    let mut shared = Scenario::new(&[doubt(1), twin(2, 105)]);
    shared.look(267, &[sold("a", 107)], &[]);
    shared.look(277, &[sold("a", 107)], &["1? others a", "2? others a"]);

    let mut answered = Scenario::new(&[doubt(1)]);
    let mut other = twin(2, 101);
    other.order.direction = Direction::Sell;
    answered.answered.push(other.clone());
    answered.wallet = Some(1_000);
    answered.look(262, &[sold("a", 102)], &["whose is a?"]);
    answered.look(272, &[sold("a", 102)], &["1 is nothing, 321 s"]);

    let mut apart = Scenario::new(&[doubt(1)]);
    apart.answered.push(twin(2, 101));
    apart.look(262, &[sold("a", 102)], &[]);
    apart.look(272, &[sold("a", 102)], &["1 is a"]);

    // A trade may be assigned to an order in flight.
    let mut flying = Scenario::new(&[doubt(1)]);
    flying.in_flight.push(OrderAttempt { ended: Millis::MAX, ..twin(2, 101) });
    flying.wallet = Some(1_000);
    flying.look(262, &[sold("a", 102)], &[]);
}
