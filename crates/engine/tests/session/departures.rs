//! Entry delays: when a bot's trades are ordered, and when they are too late.

use crate::event::{at, candle, minute, opened, second};
use crate::script::Script;
use crate::test_session::TestSession;
use candlewick_engine::{Action, ApprovedTrade, Entry, JournalDecoder};
use candlewick_sdk::serde_json::to_string;
use candlewick_sdk::{Direction, ExpirationType, Expiry, Millis};

fn approved(session: &mut TestSession) -> ApprovedTrade {
    let actions = session.actions(&candle(0, 1));
    let opens = actions.iter().find_map(|action| match action {
        Action::Open(approved) => Some(approved.clone()),
        _ => None,
    });
    opens.expect("it buys at the first minute")
}

#[test]
fn trade_is_ordered_after_the_delay_and_may_be_late_from_then_on() {
    for (delay_s, limit_ms, latest_ms) in [(0, 5_000, 5_000), (7, 5_000, 12_000), (59, 1_500, 60_500)] {
        let script = Script::new("a").buys(&[1]).entering_after(delay_s);
        let mut session = TestSession::new(&[script], |risk| risk.max_signal_delay_ms = limit_ms);
        let approved = approved(&mut session);
        assert_eq!(approved.decision_time(), minute(1), "the decision stays that of the candle's close");
        let session = &session.session;
        assert_eq!(session.order_time(approved.terms()), minute(1) + Millis::from_seconds(delay_s));
        assert_eq!(session.send_deadline(&approved), minute(1) + Millis::new(latest_ms), "{delay_s} s");
    }
}

#[test]
fn waiting_trade_blocks_its_symbol() {
    let slow = Script::new("a").buys(&[1]).entering_after(30);
    let fast = Script::new("b").buys(&[1, 2]);
    let mut session = TestSession::new(&[slow, fast], |risk| risk.max_open_trades_per_symbol = 2);
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00, b InFlight"),
        (at(91, opened(1)), ""),
        // The first trade closes half a minute after a full minute.
        (candle(0, 2), "#2 b BUY 10.00"),
    ]);
    assert_eq!(second(60), minute(1));
    assert!(session.book.rows().iter().all(|row| row.approved.direction() == Direction::Buy));
}

/// A trade decided at minute 1, ordered half a minute later and open for two minutes closes at 3:30.
/// A one-minute trade decided at minute 2 is a duplicate if it is also ordered half a minute later.
#[test]
fn duplicates_across_runs_are_found_by_order_time() {
    let two = Expiry { close_type: "02:00".parse().unwrap(), expiration_type: ExpirationType::TimeFixed };
    for (delay_s, expected) in [(30, "b DuplicateOpen"), (0, "#2 b BUY 10.00"), (29, "#2 b BUY 10.00")] {
        let make = || {
            let first = Script::new("a").buys(&[1]).entering_after(30).expiring(two);
            let second = Script::new("b").buys(&[2]).entering_after(delay_s);
            TestSession::new(&[first, second], |risk| risk.max_open_trades_per_symbol = 2)
        };
        let answer = at(91, opened(1));
        let mut going_on = make();
        let approved = Action::Open(approved(&mut going_on));
        assert_eq!(going_on.handle(&answer), "");
        let mut again = make();
        let mut decoder = JournalDecoder::for_replay(&again.session);
        let body = to_string(&Entry::Action(&approved)).unwrap();
        again.session.recall(&decoder.read_action(&body).unwrap());
        again.session.recall(&decoder.read_event(&to_string(&answer).unwrap()).unwrap());
        for (session, name) in [(&mut going_on, "the same run"), (&mut again, "a later run")] {
            assert_eq!(session.handle(&candle(0, 2)), expected, "{delay_s} s, {name}");
        }
    }
}
