//! Trades of a bot with an entry delay: when they are asked for, and when that would be too late.

use crate::event::{at, candle, minute, opened, second};
use crate::script::Script;
use crate::test_session::TestSession;
use candlewick_engine::{Action, Approved};
use candlewick_sdk::{Direction, Millis};

fn approved(session: &mut TestSession) -> Approved {
    let actions = session.actions(&candle(0, 1));
    let opens = actions.iter().find_map(|action| match action {
        Action::Open(approved) => Some(approved.clone()),
        _ => None,
    });
    opens.expect("it buys at the first minute")
}

#[test]
fn a_trade_is_asked_for_when_the_delay_is_over_and_may_be_late_from_then_on() {
    for (delay_s, limit_ms, latest_ms) in [(0, 5_000, 5_000), (7, 5_000, 12_000), (59, 1_500, 60_500)] {
        let script = Script::new("a").buys(&[1]).entering_after(delay_s);
        let mut session = TestSession::new(&[script], |risk| risk.max_signal_delay_ms = limit_ms);
        let approved = approved(&mut session);
        assert_eq!(approved.decision_time(), minute(1), "the decision stays that of the candle's close");
        let session = &session.session;
        assert_eq!(session.departure(approved.terms()), minute(1) + Millis::from_seconds(delay_s));
        assert_eq!(session.latest_departure(&approved), minute(1) + Millis::new(latest_ms), "{delay_s} s");
    }
}

#[test]
fn the_symbol_is_taken_while_a_trade_waits_for_its_moment() {
    let slow = Script::new("a").buys(&[1]).entering_after(30);
    let fast = Script::new("b").buys(&[1, 2]);
    let mut session = TestSession::new(&[slow, fast], |risk| risk.max_open_trades_per_symbol = 2);
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00, b InFlight"),
        (at(91, opened(1)), ""),
        // The first closes half a minute after a full one.
        (candle(0, 2), "#2 b BUY 10.00"),
    ]);
    assert_eq!(second(60), minute(1));
    assert!(session.book.rows().iter().all(|row| row.approved.direction() == Direction::Buy));
}
