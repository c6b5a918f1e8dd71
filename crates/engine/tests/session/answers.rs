//! Effects of replies and settlements on the money and later signals.

use crate::event::{
    adopted, at, bare, cancelled, candle, deposit, drew, in_doubt, lost, not_sent, opened, opened_paying,
    rejected, second_trade, second_trade_settled, won,
};
use crate::script::{Script, ladder};
use crate::test_session::TestSession;
use candlewick_engine::{
    Action, EventKind, IfRefused, IntentState, LadderEntry, OpenedTrade, StakeSettings, VenueSymbol,
    VenueTerms, judge,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Direction, Money};
use candlewick_statistics::{EdgeTest, TradeOutcome};

fn bot() -> Script {
    Script::new("a").buys(&[1, 2, 3, 4, 5, 6])
}

#[test]
fn stake_is_reserved_at_approval_and_returns_with_exact_profit() {
    let stake = StakeSettings::Fixed { amount: Decimal::new(333, 2) };
    let mut session = TestSession::new(&[bot().staking(stake)], |_| {});
    session.check_money(&[
        (candle(0, 1), "#1 a BUY 3.33 opened", [999_667, 333]),
        (at(119, won(1, 210)), "", [1_000_210, 0]), // 3.33 x 63 % = 2.0979
        (candle(0, 2), "#2 a BUY 3.33 opened", [999_877, 333]),
        (at(179, lost(2, 333)), "", [999_877, 0]),
        (candle(0, 3), "#3 a BUY 3.33 opened", [999_544, 333]),
        (at(239, drew(3)), "", [999_877, 0]),
        (candle(0, 4), "#4 a BUY 3.33 opened", [999_544, 333]),
        (at(299, cancelled(4)), "", [999_877, 0]),
    ]);
    let ledger = session.session.ledger();
    assert_eq!(
        (ledger.day_profit(), ledger.peak_equity()),
        (Money::from_minor(-123), Money::from_minor(1_000_210))
    );
}

#[test]
fn unopened_intent_returns_its_stake_and_does_not_count() {
    for answer in [rejected, not_sent] {
        let ladder = ladder(LadderEntry::NextSignal, IfRefused::Wait);
        let mut session = TestSession::new(&[bot().staking(ladder)], |risk| {
            (risk.max_trades_per_hour, risk.max_trades_per_day) = (2, 2);
        });
        session.check_money(&[
            (candle(0, 1), "#1 a BUY 10.00 opened", [999_000, 1_000]),
            (at(119, lost(1, 1_000)), "", [999_000, 0]),
            (candle(0, 2), "#2 a BUY 20.00", [997_000, 2_000]),
            (at(122, answer(2)), "", [999_000, 0]),
            (candle(0, 3), "#3 a BUY 20.00 opened", [997_000, 2_000]),
            (at(239, won(3, 1_600)), "", [1_000_600, 0]),
            (candle(0, 4), "a MaxTradesPerHour", [1_000_600, 0]),
        ]);
    }
}

#[test]
fn doubt_blocks_symbol_and_reserves_stake_until_resolved() {
    let scripts = [bot(), Script::new("b").sells(&[2, 3, 4]), Script::new("e").on("ETHUSDT").buys(&[2])];
    for (resolution, after, money) in [
        (opened(1), "a MaxOpenTradesPerSymbol, b OppositeOpen", [998_000, 2_000]),
        (not_sent(1), "#3 a BUY 10.00, b InFlight", [998_000, 2_000]),
        (rejected(1), "#3 a BUY 10.00, b InFlight", [998_000, 2_000]),
        (lost(1, 1_000), "#3 a BUY 10.00, b InFlight", [997_000, 2_000]),
    ] {
        let mut session = TestSession::new(&scripts, |_| {});
        session.check_money(&[
            (candle(0, 1), "#1 a BUY 10.00", [999_000, 1_000]),
            (at(65, in_doubt(1)), "", [999_000, 1_000]),
            (candle(0, 2), "a InDoubt, b InDoubt", [999_000, 1_000]),
            (candle(1, 2), "#2 e BUY 10.00", [998_000, 2_000]),
        ]);
        session.handle(&at(150, resolution));
        session.check_money(&[(candle(0, 3), after, money)]);
    }
}

#[test]
fn open_trade_ends_only_by_its_settlement() {
    for nonsense in [rejected(1), not_sent(1), in_doubt(1), opened(1)] {
        let mut session = TestSession::new(&[bot()], |_| {});
        session.check_money(&[
            (candle(0, 1), "#1 a BUY 10.00 opened", [999_000, 1_000]),
            (at(63, nonsense), "", [999_000, 1_000]),
            (candle(0, 2), "a MaxOpenTradesPerSymbol", [999_000, 1_000]),
            (at(125, won(1, 800)), "", [1_000_800, 0]),
            (candle(0, 3), "#2 a BUY 10.00", [999_800, 1_000]),
        ]);
    }
}

/// 10.00 of 10,000.00 are staked, released by the rejection, reserved again once the venue lists the trade, and lost.
#[test]
fn reinstated_order_reserves_its_stake_and_blocks_its_symbol() {
    for refusal in [rejected(1), not_sent(1)] {
        let mut session = TestSession::new(&[bot()], |_| {});
        let actions = session.actions(&candle(0, 1));
        let terms = actions.iter().find_map(|action| match action {
            Action::Open(approved) => Some(*approved.terms()),
            _ => None,
        });
        let found = EventKind::Reinstated(terms.expect("a trade is approved"));
        session.check_money(&[
            (at(62, refusal), "", [1_000_000, 0]),
            (at(67, found), "", [999_000, 1_000]),
            (at(68, found), "", [999_000, 1_000]),
        ]);
        assert_eq!(session.book.rows()[0].state, IntentState::InDoubt);
        session.check_money(&[
            (at(74, adopted(1)), "", [999_000, 1_000]),
            (candle(0, 2), "a MaxOpenTradesPerSymbol", [999_000, 1_000]),
            (at(125, lost(1, 1_000)), "", [999_000, 0]),
            (candle(0, 3), "#2 a BUY 10.00", [998_000, 1_000]),
        ]);
        assert_eq!(session.book.rows()[0].profit, Money::from_minor(-1_000));
        assert_eq!(session.session.ledger().day_profit(), Money::from_minor(-1_000));
    }
}

#[test]
fn deposit_is_neither_profit_nor_loss() {
    let mut session = TestSession::new(&[bot()], |_| {});
    session.check_money(&[
        (at(10, deposit(5_000)), "", [1_005_000, 0]),
        (at(20, deposit(-7_500)), "", [997_500, 0]),
    ]);
    let ledger = session.session.ledger();
    let figures = [ledger.day_profit(), ledger.day_equity(), ledger.peak_equity()].map(Money::minor);
    assert_eq!(figures, [0, 997_500, 997_500]);
}

/// Opens intent 1, ordered as BUY for 10.00, with other terms accepted by the venue.
fn took(direction: Direction, minor: i64, symbol: Option<&str>) -> EventKind {
    let taken =
        VenueTerms { symbol: symbol.and_then(VenueSymbol::new), direction, stake: Money::from_minor(minor) };
    EventKind::Opened(OpenedTrade { taken: Some(taken), ..bare(1) })
}

#[test]
fn terms_of_the_venue_replace_the_ordered_ones() {
    let mut session = TestSession::new(&[bot()], |_| {});
    session.check_money(&[
        (candle(0, 1), "#1 a BUY 10.00", [999_000, 1_000]),
        (at(62, took(Direction::Buy, 5_000, None)), "", [995_000, 5_000]),
        (at(63, took(Direction::Buy, 500, None)), "", [999_500, 500]),
        (at(64, took(Direction::Buy, 5_000, None)), "", [995_000, 5_000]),
        (at(126, lost(1, 5_000)), "", [995_000, 0]),
    ]);
    assert_eq!(session.session.ledger().day_profit(), Money::from_minor(-5_000));
    let row = session.book.rows()[0];
    let ordered = session.book.original_order(row.approved.intent()).map(|order| order.ordered.stake());
    assert_eq!((row.approved.stake(), ordered), (Money::from_minor(5_000), Some(Money::from_minor(1_000))));
}

#[test]
fn trade_in_other_direction_or_symbol_is_not_evidence() {
    let judged = |kind: EventKind| {
        let mut session = TestSession::new(&[bot()], |_| {});
        session.handle(&candle(0, 1));
        session.handle(&at(62, kind));
        session.handle(&at(126, won(1, 800)));
        let direction = session.book.rows()[0].approved.direction();
        let verdict = session.session.verdicts().next().unwrap();
        let afterwards = judge(session.book.rows(), verdict.edge_test().plan());
        assert_eq!(afterwards.edge_account(), verdict.edge_test().edge_account());
        (direction, verdict.edge_test().edge_account() > 1.0)
    };
    assert_eq!(judged(took(Direction::Buy, 5_000, None)), (Direction::Buy, true));
    assert_eq!(judged(took(Direction::Sell, 1_000, None)), (Direction::Sell, false));
    assert_eq!(judged(took(Direction::Buy, 1_000, Some("ETHUSDT"))), (Direction::Buy, false));
}

#[test]
fn first_reply_with_a_payout_counts() {
    let mut session = TestSession::new(&[bot()], |_| {});
    session.handle(&candle(0, 1));
    for (second, percent) in [(62, 80), (63, 60)] {
        session.handle(&at(second, opened_paying(1, percent)));
    }
    session.handle(&at(126, won(1, 800)));
    let live = session.session.verdicts().next().unwrap().edge_test();
    let afterwards = judge(session.book.rows(), live.plan());
    let mut by_hand = EdgeTest::new(live.plan());
    let stake = by_hand.on_open(0.92).unwrap();
    by_hand.settle(stake, TradeOutcome::Won, 0.8);
    let accounts = |test: &EdgeTest| [test.edge_account(), test.mirror_account()].map(f64::to_bits);
    assert_eq!(accounts(live), accounts(&by_hand));
    assert_eq!(accounts(&afterwards), accounts(&by_hand));
}

#[test]
fn second_trade_of_a_request_is_at_stake_until_it_ends() {
    let mut session = TestSession::new(&[bot()], |_| {});
    session.check_money(&[
        (candle(0, 1), "#1 a BUY 10.00 opened", [999_000, 1_000]),
        (at(63, second_trade(1, "b", 1_000)), "", [998_000, 2_000]),
        (at(64, second_trade(1, "b", 1_000)), "", [998_000, 2_000]),
        (at(126, won(1, 800)), "", [999_800, 1_000]),
        (at(127, second_trade_settled(1, "c", 800)), "", [999_800, 1_000]),
        (at(128, second_trade_settled(1, "b", -1_000)), "", [999_800, 0]),
        (at(129, second_trade_settled(1, "b", -1_000)), "", [999_800, 0]),
    ]);
    assert_eq!(session.session.ledger().day_profit(), Money::from_minor(-200));
}
