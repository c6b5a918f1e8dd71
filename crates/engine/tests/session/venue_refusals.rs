//! Pauses after orders declined by the venue, across restarts and reloads. Times are hand-computed.

use crate::event::{adopted, at, candle, control, not_sent, opened, refused, rejected, won};
use crate::script::Script;
use crate::test_session::TestSession;
use candlewick_engine::{Control, EventKind, IntentId, RefusalReason, Rejection};
use candlewick_sdk::Text;

const EVERY_MINUTE: [i64; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];

fn bots() -> TestSession {
    let first = Script::new("a").buys(&EVERY_MINUTE);
    TestSession::new(&[first, Script::new("b").on("ETHUSDT").buys(&[3, 4, 5, 6])], |risk| {
        risk.allow_duplicate = true;
    })
}

#[test]
fn declined_symbol_is_retried_after_doubling_pauses() {
    let inactive = |intent| refused(intent, RefusalReason::SymbolInactive);
    let mut session = bots();
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00"),
        // Declined at 62 s, so paused until 122 s.
        (at(62, inactive(1)), ""),
        (candle(0, 2), "a RefusedByVenue"),
        (candle(0, 3), "#2 a BUY 10.00"),
        // Declined again at 182 s, so paused until 302 s. Another symbol is not paused.
        (at(182, inactive(2)), ""),
        (candle(1, 3), "#3 b BUY 10.00"),
        (at(183, opened(3)), ""),
        (candle(0, 4), "a RefusedByVenue"),
        (candle(0, 5), "a RefusedByVenue"),
        (candle(0, 6), "#4 a BUY 10.00"),
        // Declined a third time, so paused until 362 + 240 = 602 s.
        (at(362, inactive(4)), ""),
        (candle(0, 10), "a RefusedByVenue"),
        (candle(0, 11), "#5 a BUY 10.00 opened"),
        (at(715, won(5, 800)), ""),
        (candle(0, 12), "#6 a BUY 10.00"),
        (at(722, inactive(6)), ""),
        (candle(0, 13), "a RefusedByVenue"),
        (candle(0, 14), "#7 a BUY 10.00"),
    ]);
}

#[test]
fn account_reason_pauses_all_symbols_until_an_order_is_accepted() {
    let mut session = bots();
    session.check(&[
        (candle(0, 2), "#1 a BUY 10.00"),
        (at(125, refused(1, RefusalReason::TradesPerMinute)), ""),
        (candle(0, 3), "a RefusedByVenue"),
        (candle(1, 3), "b RefusedByVenue"),
        // Paused until 185 s.
        (candle(1, 4), "#2 b BUY 10.00 opened"),
        (candle(0, 5), "#3 a BUY 10.00"),
    ]);
}

#[test]
fn order_in_flight_at_the_refusal_does_not_end_the_pause() {
    let mut session = bots();
    session.check(&[
        (candle(0, 3), "#1 a BUY 10.00"),
        (candle(1, 3), "#2 b BUY 10.00"),
        (at(182, refused(1, RefusalReason::PendingLimit)), ""),
        (at(183, opened(2)), ""),
        (candle(0, 4), "a RefusedByVenue"),
    ]);
}

#[test]
fn resume_and_an_adopted_order_end_a_pause_and_simulated_rejections_start_none() {
    let other = |intent| refused(intent, RefusalReason::Other);
    let simulated = |rejection| EventKind::Rejected { intent: IntentId::new(3), rejection };
    for why in [Rejection::NoPrice, Rejection::InsufficientBalance, Rejection::Other(Text::truncated("no"))] {
        let mut session = bots();
        session.check(&[
            (candle(0, 1), "#1 a BUY 10.00"),
            (at(62, other(1)), ""),
            (at(63, control(Control::Resume)), ""),
            (candle(0, 2), "#2 a BUY 10.00"),
            (at(122, not_sent(2)), ""),
            (candle(0, 3), "#3 a BUY 10.00"),
            (at(182, simulated(why)), ""),
            (candle(0, 4), "#4 a BUY 10.00"),
            (at(242, rejected(4)), ""),
            (candle(0, 5), "#5 a BUY 10.00"),
            (at(302, other(5)), ""),
            (candle(0, 7), "#6 a BUY 10.00"),
            (at(422, adopted(6)), ""),
            (at(475, won(6, 800)), ""),
            (candle(0, 8), "#7 a BUY 10.00"),
            (at(482, other(7)), ""),
            (candle(0, 10), "#8 a BUY 10.00"),
        ]);
    }
}

#[test]
fn pause_is_reported_with_its_cause_and_end() {
    let mut test = bots();
    test.check(&[(candle(0, 1), "#1 a BUY 10.00"), (at(62, refused(1, RefusalReason::SymbolInactive)), "")]);
    let running = |second: i64| test.session.refusal_pauses(at(second, won(1, 0)).at);
    let shown: Vec<_> = running(63)
        .into_iter()
        .map(|(pause, symbol)| (pause.cause(), pause.until, symbol.map(|symbol| symbol.to_string())))
        .collect();
    let cause = "1 order declined by the venue: symbol not active".to_owned();
    assert_eq!(shown, [(cause, at(122, won(1, 0)).at, Some("BTCUSDT".to_owned()))]);
    assert_eq!(running(122), []);
}
