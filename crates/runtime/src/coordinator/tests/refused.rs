use super::reports::{Asked, INTENT, OPENED, Seen, over, play, running, with_amount, with_symbol};
use super::*;
use candlewick_broker::{Rejection, RejectionReason};
use candlewick_engine::IntentState;
use candlewick_sdk::Outcome;
use std::cell::RefCell;

fn rejected() -> OpenOutcome {
    let (reason, text) = (RejectionReason::Other, "bad request".to_owned());
    OpenOutcome::Rejected(Rejection { reason, text, venue_time: None })
}

fn not_sent() -> OpenOutcome {
    OpenOutcome::NotSent { reason: "no connection".to_owned() }
}

/// Creates a run that polls the trade list, and that has read an empty list at its start.
pub(super) fn checking(list_every_s: u32) -> Bench {
    let mut bench = Bench::start(|parts| parts.settings.list_every_s = list_every_s);
    bench.answer(list_answer(Vec::new(), bench.now));
    bench.answer(no_balances_after_trades());
    bench
}

fn run(outcome: &OpenOutcome, listed: &[TradeReport]) -> (Seen, Vec<i64>) {
    let mut bench = checking(300);
    let asked = RefCell::new(Vec::new());
    let seen = play(&mut bench, OPENED, |ask, ms, now| match ask {
        Asked::Open => Answer::Open(INTENT, outcome.clone()),
        Asked::Trade => record_answer(over(), now),
        Asked::List => {
            asked.borrow_mut().push(ms / 1_000);
            list_answer(listed.to_vec(), now)
        }
    });
    (seen, asked.into_inner())
}

#[test]
fn listed_trade_of_a_rejected_order_is_adopted_and_halts() {
    for outcome in [rejected(), not_sent()] {
        let (seen, _) = run(&outcome, &[running()]);
        assert_eq!((seen.state, seen.money), (IntentState::Settled, (1_000, 100_800)), "{outcome:?}");
        assert_eq!(seen.profit(), Some(800));
        let halted = seen.halted.clone().expect("it is halted");
        for part in ["01JT", "10.00 on BTCUSDT", "the terms and the request time of trade #1"] {
            assert!(halted.contains(part), "{halted}");
        }
        assert_eq!(seen.warnings_about("another program using"), 0, "{:?}", seen.warnings);
    }
}

#[test]
fn rejection_schedules_three_list_checks() {
    let (seen, asked) = run(&rejected(), &[]);
    assert_eq!((seen.state, seen.halted, seen.money), (IntentState::Rejected, None, (1_000, 100_000)));
    assert_eq!(asked, [65, 90, 180]);
}

#[test]
fn trade_unlike_the_rejected_order_is_not_adopted() {
    let at = |ms: i64| report_of_tests("01JT", START + Millis::new(ms));
    for other in [
        at(OPENED + 20_000),
        at(OPENED - 20_000),
        TradeReport { is_opened_with_token: Some(false), ..running() },
        TradeReport { other_user: Some("u2".to_owned()), ..running() },
        with_symbol("ETHUSDT", running()),
        TradeReport { request_time: None, created_time: None, open_time: None, ..running() },
    ] {
        let (seen, _) = run(&rejected(), std::slice::from_ref(&other));
        assert_eq!((seen.state, seen.halted), (IntentState::Rejected, None), "{other:?}");
    }
}

#[test]
fn unsent_order_owns_no_trade() {
    let mut bench = checking(300);
    bench.signal();
    bench.at(90_000).durable();
    bench.look(vec![running()]);
    assert_eq!(bench.coordinator.session.row(INTENT).map(|row| row.state), Some(IntentState::NotSent));
    assert_eq!(bench.halted(), None);
}

#[test]
fn changed_trade_of_a_rejected_order_halts() {
    let real = TradeReport { account: Some(Account::Real), ..running() };
    for (took, part, is_rejected) in [
        // The stake on the real account is not part of the demo ledger.
        (real, "REAL MONEY: 10.00 was staked on the real account", true),
        (with_amount(50, running()), "but not all terms of trade #1", false),
    ] {
        let (seen, _) = run(&rejected(), &[took]);
        assert!(seen.halted.as_ref().is_some_and(|halted| halted.contains(part)), "{:?}", seen.halted);
        assert_eq!(seen.state == IntentState::Rejected, is_rejected, "{part}");
    }
}

#[test]
fn searches_rejected_orders_of_earlier_runs() {
    let rejection = candlewick_engine::Rejection::Other(candlewick_sdk::Text::truncated("bad request"));
    let kind = EventKind::Rejected { intent: INTENT, rejection };
    let rejected = Event { at: START + Millis::new(60_500), received: START, kind };
    let open = JournalEntry::Action(Action::Open(approved(1)));
    let mut bench = continued(400_000, vec![open, JournalEntry::Event(rejected)]);
    let sent = approved(1).decision_time() + Millis::new(300);
    let trade = TradeReport {
        progress: candlewick_broker::TradeProgress::Over(Outcome::Lost),
        ..report_of_tests("01JT", sent)
    };
    for _ in 0..3 {
        bench.look(vec![trade.clone()]);
        bench.now += Millis::from_seconds(6);
    }
    bench.durable();
    assert_eq!(bench.coordinator.session.row(INTENT).map(|row| row.state), Some(IntentState::Open));
    assert!(bench.halted().is_some());
}
