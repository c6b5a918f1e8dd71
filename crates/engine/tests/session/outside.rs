//! External signals.

use crate::event::{at, candle, minute, outside_signal, second};
use crate::script::Script;
use crate::test_session::TestSession;
use candlewick_engine::{Action, Control, Event, EventKind, JournalDecoder, OutsideSignal};
use candlewick_sdk::serde_json::{from_str, to_string};
use candlewick_sdk::{Direction, Text};

fn signal(moment: i64, signal: OutsideSignal) -> Event {
    at(moment, EventKind::OutsideSignal(signal))
}

#[test]
fn external_signal_is_subject_to_all_rules() {
    let mut session = TestSession::new(&[Script::new("a")], |_| {});
    let sell = OutsideSignal { direction: Direction::Sell, ..outside_signal("2") };
    session.check(&[
        (signal(59, outside_signal("0")), "a StaleData"),
        (candle(0, 1), ""),
        (signal(61, outside_signal("1")), "#1 a BUY 10.00"),
        (signal(62, sell), "a InFlight"),
        (at(63, EventKind::Control { control: Control::Halt }), ""),
        (signal(64, outside_signal("3")), "a Halted"),
    ]);
}

#[test]
fn closed_gate_rejects_external_signals() {
    let mut session = TestSession::new(&[Script::new("a").closed_until(2)], |_| {});
    session.check(&[
        (candle(0, 1), ""),
        (signal(61, outside_signal("1")), "a GateClosed"),
        (candle(0, 2), ""),
        (signal(121, outside_signal("1")), ""),
        (signal(122, outside_signal("2")), "#1 a BUY 10.00"),
    ]);
}

#[test]
fn drops_second_signal_with_the_same_id() {
    let mut session = TestSession::new(&[Script::new("a")], |_| {});
    let other_door = OutsideSignal { source: Text::truncated("list"), ..outside_signal("1") };
    session.check(&[
        (candle(0, 1), ""),
        (signal(61, outside_signal("1")), "#1 a BUY 10.00"),
        (at(62, crate::event::not_sent(1)), ""),
        (signal(63, outside_signal("1")), ""),
        (signal(64, other_door), "#2 a BUY 10.00"),
    ]);
}

#[test]
fn signal_is_late_after_its_own_deadline_or_that_of_the_rule() {
    let late = |received: i64, expires: Option<i64>, id| {
        let signal = OutsideSignal { expires: expires.map(second), ..outside_signal(id) };
        Event { at: second(61), received: second(received), kind: EventKind::OutsideSignal(signal) }
    };
    let mut session = TestSession::new(&[Script::new("a")], |risk| risk.max_signal_delay_ms = 5_000);
    session.check(&[
        (candle(0, 1), ""),
        (late(64, Some(63), "1"), "a LateSignal"),
        (late(67, None, "2"), "a LateSignal"),
        (late(67, Some(90), "3"), "a LateSignal"),
        (late(63, Some(63), "4"), "#1 a BUY 10.00"),
    ]);
}

#[test]
fn signals_of_earlier_runs_are_dropped_after_a_restart() {
    let make = || TestSession::new(&[Script::new("a")], |_| {});
    let mut first = make();
    first.handle(&candle(0, 1));
    let event = signal(61, outside_signal("1"));
    assert_eq!(first.handle(&event), "#1 a BUY 10.00");
    let body = to_string(&event).unwrap();
    let mut recalled = make();
    let decoder = JournalDecoder::for_replay(&recalled.session);
    recalled.session.recall(&decoder.read_event(&body).unwrap());
    let mut restored = make();
    let kept = to_string(&first.session.snapshot()).unwrap();
    restored.session.restore(from_str(&kept).unwrap()).unwrap();
    for session in [&mut recalled, &mut restored] {
        assert!(session.session.knows_signal(&outside_signal("1")));
        session.handle(&candle(0, 3));
        assert_eq!(session.handle(&signal(181, outside_signal("1"))), "");
    }
    assert_eq!(recalled.handle(&signal(182, outside_signal("2"))), "#1 a BUY 10.00");
}

#[test]
fn trade_records_the_reason_of_the_sender() {
    let mut session = TestSession::new(&[Script::new("a")], |_| {});
    session.handle(&candle(0, 1));
    let before = to_string(&session.session.snapshot()).unwrap();
    assert!(!before.contains("outside"), "{before}");
    let asked = OutsideSignal { reason: Text::truncated("news"), ..outside_signal("1") };
    let actions = session.actions(&signal(61, asked));
    let [Action::Open(approved)] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(approved.reason().to_string(), "webhook: news");
    assert_eq!(approved.decision_time(), minute(1) + candlewick_sdk::Millis::SECOND);
}
