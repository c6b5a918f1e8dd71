//! The trade book: results of intents and counts of refusals.

use crate::event::{
    adopted, at, backfilled, bare, by_person, candle, drew, in_doubt, lost, not_opened, not_sent, opened,
    payout, rejected, second, settled, won,
};
use crate::script::Script;
use crate::test_session::TestSession;
use candlewick_engine::{
    Event, EventKind, IntentId, IntentState, OpenedTrade, Rejection, TradeBook, TradeSettlement, VenueId,
};
use candlewick_sdk::{Money, Outcome, Text};
use std::collections::BTreeMap;

fn session() -> TestSession {
    TestSession::new(&[Script::new("a").buys(&[1, 2, 3])], |_| {})
}

/// Checks the row of an intent after these events at 62 s, 63 s, ...: state, seconds of reply and settlement, profit.
fn check(events: &[EventKind], state: IntentState, answered: Option<i64>, known: Option<i64>, profit: i64) {
    let mut session = session();
    session.handle(&candle(0, 1));
    for (moment, kind) in (62..).zip(events) {
        session.handle(&at(moment, *kind));
    }
    let row = session.book.row(IntentId::new(1)).unwrap();
    let expected = (state, answered.map(second), known.map(second), Money::from_minor(profit));
    assert_eq!((row.state, row.answered_at, row.settled_at, row.profit), expected, "{events:?}");
}

#[test]
fn intent_goes_from_in_flight_to_its_end() {
    use IntentState::{InDoubt, InFlight, NotOpened, NotSent, Open, Rejected, Settled};
    check(&[], InFlight, None, None, 0);
    check(&[in_doubt(1)], InDoubt, None, None, 0);
    check(&[opened(1)], Open, Some(62), None, 0);
    check(&[in_doubt(1), opened(1)], Open, Some(63), None, 0);
    check(&[rejected(1)], Rejected, Some(62), None, 0);
    check(&[in_doubt(1), rejected(1)], Rejected, Some(63), None, 0);
    check(&[not_sent(1)], NotSent, Some(62), None, 0);
    check(&[opened(1), won(1, 800)], Settled, Some(62), Some(63), 800);
    check(&[in_doubt(1), lost(1, 1_000)], Settled, None, Some(63), -1_000);
    check(&[drew(1)], Settled, None, Some(62), 0);
    check(&[in_doubt(1), not_opened(1, 200)], NotOpened, None, None, 0);
    check(&[in_doubt(1), not_opened(1, 200), adopted(1)], Open, Some(64), None, 0);
    check(&[in_doubt(1), not_opened(1, 200), won(1, 800)], Settled, None, Some(64), 800);
}

#[test]
fn finished_intents_do_not_change() {
    use IntentState::{NotOpened, NotSent, Open, Rejected, Settled};
    check(&[opened(1), opened(1)], Open, Some(62), None, 0);
    check(&[opened(1), in_doubt(1)], Open, Some(62), None, 0);
    check(&[opened(1), rejected(1)], Open, Some(62), None, 0);
    check(&[rejected(1), opened(1), won(1, 800)], Rejected, Some(62), None, 0);
    check(&[not_sent(1), in_doubt(1), rejected(1)], NotSent, Some(62), None, 0);
    check(&[opened(1), not_opened(1, 200)], Open, Some(62), None, 0);
    let unopened = [in_doubt(1), not_opened(1, 200), rejected(1), not_sent(1), in_doubt(1), opened(1)];
    check(&unopened, NotOpened, None, None, 0);
    check(&[won(1, 800), lost(1, 1_000), in_doubt(1)], Settled, None, Some(62), 800);
}

#[test]
fn details_of_later_events_are_added() {
    let mut session = session();
    session.handle(&candle(0, 1));
    let id = VenueId::new("01JG");
    let first = OpenedTrade { venue_id: id, open_time: Some(second(62)), ..bare(1) };
    let second_reply = OpenedTrade { open_price: Some(1.5), close_time: Some(second(122)), ..bare(1) };
    let end = TradeSettlement { close_price: Some(1.6), payout: payout(85), ..settled(1, Outcome::Won, 850) };
    for (moment, kind) in [
        (62, EventKind::Opened(first)),
        (64, EventKind::Opened(second_reply)),
        (126, EventKind::Settled(end)),
    ] {
        session.handle(&at(moment, kind));
    }
    let row = session.book.rows()[0];
    let expected = (id, Some(second(62)), Some(1.5));
    assert_eq!((session.book.venue_id(&row), row.open_time, row.open_price), expected);
    assert_eq!((row.close_time, row.close_price), (Some(second(122)), Some(1.6)));
    assert_eq!((row.payout, row.outcome), (payout(85), Some(Outcome::Won)));
}

#[test]
fn refusals_of_rules_and_venue_are_counted_by_name() {
    let rejection = |intent, rejection| EventKind::Rejected { intent: IntentId::new(intent), rejection };
    let short = Rejection::InsufficientBalance;
    let other = Rejection::Other(Text::truncated("symbol not active"));
    let minutes: Vec<i64> = (1..=8).collect();
    let mut session = TestSession::new(&[Script::new("a").buys(&minutes)], |_| {});
    let events: [Event; 14] = [
        backfilled(0, 1),
        candle(0, 2),
        candle(0, 3),
        at(190, rejected(1)),
        at(191, rejected(1)),
        at(192, rejected(99)),
        candle(0, 4),
        at(242, rejection(2, short)),
        candle(0, 5),
        at(302, rejection(3, other)),
        at(303, not_sent(3)),
        candle(0, 6),
        at(362, not_sent(4)),
        candle(0, 7),
    ];
    for event in events {
        session.handle(&event);
    }
    let expected = [
        ("InFlight", 1),
        ("InsufficientBalance", 1),
        ("LateSignal", 1),
        ("NoPrice", 1),
        ("NotSent", 1),
        ("Rejected", 1),
    ];
    assert_eq!(session.book.refusal_counts(), BTreeMap::from(expected));
}

#[test]
fn run_does_not_count_refusals_of_earlier_runs() {
    let mut session = TestSession::new(&[Script::new("a").buys(&[1, 2, 3, 4, 5])], |_| {});
    let told = |session: &mut TestSession, minute: i64, kinds: &[EventKind]| {
        session.handle(&candle(0, minute));
        for kind in kinds {
            session.handle(&at(minute * 60 + 1, *kind));
        }
    };
    let rejection = Rejection::InsufficientBalance;
    let short = |intent| EventKind::Rejected { intent: IntentId::new(intent), rejection };
    told(&mut session, 1, &[rejected(1)]);
    told(&mut session, 2, &[not_sent(2)]);
    told(&mut session, 3, &[short(3)]);
    told(&mut session, 4, &[]);
    session.book.restart_counts_at(IntentId::new(5));
    assert_eq!(session.book.refusal_counts(), BTreeMap::new());
    session.handle(&at(242, not_sent(4)));
    assert_eq!(session.book.row(IntentId::new(4)).unwrap().state, IntentState::NotSent);
    told(&mut session, 5, &[not_sent(5)]);
    assert_eq!(session.book.refusal_counts(), BTreeMap::from([("NotSent", 1)]));
    let mut own = session.book.clone();
    own.retain_rows(|row| row.approved.intent() >= IntentId::new(5));
    assert_eq!(own.refusal_counts(), BTreeMap::from([("NotSent", 1)]));
}

#[test]
fn results_of_an_operator_are_marked_and_apply_only_to_unfinished_intents() {
    let said = |intent| by_person(intent, Outcome::Lost, -1_000);
    check(&[opened(1), said(1), won(1, 800)], IntentState::Settled, Some(62), Some(63), -1_000);
    for (kinds, known) in [(vec![opened(1), said(1)], true), (vec![opened(1), won(1, 800), said(1)], false)] {
        let mut session = session();
        session.handle(&candle(0, 1));
        for kind in kinds {
            session.handle(&at(62, kind));
        }
        assert_eq!(session.book.is_settled_by_operator(IntentId::new(1)), known);
        let mut all = TradeBook::default();
        all.append(&session.book);
        assert_eq!(all.is_settled_by_operator(IntentId::new(1)), known);
    }
}
