use super::refused::checking;
use super::reports::{
    Asked, CLOSE, Change, INTENT, OPENED, Seen, in_time, over, play, running, trade, venue,
};
use super::*;
use crate::coordinator::open_answer::RequestTime;
use candlewick_broker::ReportedValue;
use candlewick_engine::IntentState;
use candlewick_sdk::Direction;

const MINUTES_40: Millis = Millis::from_seconds(2_400);
const HOUR: Millis = Millis::from_seconds(3_600);
const SECONDS_6: Millis = Millis::from_seconds(6);

pub(super) fn earlier(report: TradeReport, by: Millis) -> TradeReport {
    let TradeReport { request_time, created_time, open_time, close_time, .. } = report;
    let moved = |time: Option<Millis>| time.map(|at| at - by);
    TradeReport {
        request_time: moved(request_time),
        created_time: moved(created_time),
        open_time: moved(open_time),
        close_time: moved(close_time),
        ..report
    }
}

fn run(bench: &mut Bench, (opened, is_dated): (&TradeReport, bool), listed: &[TradeReport]) -> Seen {
    play(bench, OPENED, |ask, _, now| match ask {
        Asked::Open => {
            let reply = Reply::without_latency(Box::new(opened.clone()), now);
            let date = is_dated.then(|| now.floor_to(Millis::SECOND));
            Answer::Open(INTENT, OpenOutcome::Opened(Reply { date, ..reply }))
        }
        Asked::Trade => record_answer(over(), now),
        Asked::List => list_answer(listed.to_vec(), now),
    })
}

fn old_trade(by: Millis) -> TradeReport {
    TradeReport { id: "01JOLD".to_owned(), ..earlier(running(), by) }
}

#[test]
fn answer_with_an_older_trade_is_in_doubt() {
    for (by, is_dated, told) in [
        (MINUTES_40, false, "40 min"),
        (MINUTES_40, true, "40 min"),
        (Millis::from_seconds(20), true, "20 s"),
    ] {
        let old = old_trade(by);
        let seen = run(&mut Bench::start(|_| {}), (&old, is_dated), &[old.clone(), running()]);
        let told = format!("trade #1 is in doubt: the venue answered with trade 01JOLD dated {told} before");
        let told = seen.warnings_about(&told);
        assert_eq!((seen.state, told), (IntentState::Settled, 1), "{by} {:?}", seen.warnings);
        assert_eq!((seen.profit(), seen.halted), (Some(800), None));
    }
}

#[test]
fn all_times_of_an_answer_must_match_the_request() {
    let TradeReport { request_time, created_time, open_time, .. } = running();
    let before = |time: Option<Millis>, by: Millis| time.map(|at| at - by);
    let old = || TradeReport { id: "01JOLD".to_owned(), ..running() };
    let seconds = Millis::from_seconds;
    for (opened, is_dated, doubts) in [
        (TradeReport { request_time: before(request_time, MINUTES_40), ..old() }, true, 1),
        (TradeReport { created_time: before(created_time, MINUTES_40), ..old() }, true, 1),
        (TradeReport { open_time: before(open_time, MINUTES_40), ..old() }, true, 1),
        (TradeReport { open_time: before(open_time, Millis::ZERO - MINUTES_40), ..old() }, true, 1),
        // If the venue's clock is unknown, the reported times must agree with each other.
        (TradeReport { request_time: before(request_time, seconds(240)), ..running() }, false, 1),
        (TradeReport { request_time: before(request_time, seconds(9)), ..running() }, false, 0),
        (earlier(running(), seconds(3)), true, 0),
        (TradeReport { request_time: None, created_time: None, open_time: None, ..running() }, true, 0),
    ] {
        let seen = run(&mut Bench::start(|_| {}), (&opened, is_dated), &[running()]);
        assert_eq!(seen.warnings_about("trade #1 is in doubt"), doubts, "{opened:?}");
        let is_believed = seen.profit() == Some(800) && seen.halted.is_none();
        assert!(doubts > 0 || is_believed, "{opened:?}: {seen:?}");
    }
}

#[test]
fn frozen_request_time_alarms_and_the_other_times_count() {
    // A request time an hour ago cannot be ours. A time 6 s ago may be, given the clock uncertainty. But two orders
    // sent that far apart cannot have the same request time.
    let expected = "requestTime is frozen: it is the same for trade #1 (01JT) and trade #9";
    for (age, pause, alarms) in [(HOUR, HOUR, 1), (SECONDS_6, SECONDS_6, 1), (SECONDS_6, Millis::SECOND, 0)] {
        let mut bench = Bench::start(|_| {});
        let requested = running().request_time.unwrap() - age;
        let sent = running().request_time.unwrap() - pause;
        let order = IntentId::new(9);
        bench.coordinator.request_times.remember(RequestTime { order, requested, sent });
        let opened = TradeReport { request_time: Some(requested), ..running() };
        let seen = run(&mut bench, (&opened, false), &[]);
        assert_eq!(seen.profit(), Some(800), "{age}");
        assert_eq!(seen.warnings_about(expected), alarms, "{age} {pause} {:?}", seen.warnings);
    }
}

#[test]
fn late_close_time_delays_nothing() {
    let late =
        |report: TradeReport| TradeReport { close_time: report.close_time.map(|at| at + HOUR), ..report };
    for opened in [late(running()), TradeReport { open_time: None, ..late(running()) }] {
        let seen = trade(&opened, |ms| late(in_time(ms)));
        assert!(matches!(seen.booked, Some((800, at)) if at <= 125_500), "{:?}", seen.booked);
        assert_eq!(seen.warnings_about(" s after the expiry. "), 1, "{:?}", seen.warnings);
    }
}

#[test]
fn stopping_run_waits_from_the_computed_close() {
    let mut bench = Bench::start(|_| {});
    bench.signal();
    bench.at(OPENED).durable();
    let late = TradeReport { close_time: running().close_time.map(|at| at + HOUR), ..running() };
    bench.answer(open_answer(late, bench.now));
    assert_eq!(bench.coordinator.pending_work().last_close, running().close_time);
}

#[test]
fn other_terms_in_list_or_record_halt() {
    let changes: [(Change, &str); 5] = [
        (|report| report.account = Some(Account::Real), "REAL MONEY: 10.00 was staked on the real account"),
        (|report| report.other_user = Some("u2".to_owned()), "another user of the venue (u2)"),
        (|report| report.direction = Some(ReportedValue::Known(Direction::Sell)), "direction is SELL"),
        (|report| report.amount = Some(60.into()), "differs: amount is 60"),
        (
            |report| report.close_type = Some(ReportedValue::Known("05:00".parse().unwrap())),
            "duration is 05:00",
        ),
    ];
    for (change, expected) in changes {
        for is_listed in [true, false] {
            let (mut listed, mut record) = (running(), running());
            change(if is_listed { &mut listed } else { &mut record });
            let answers = venue(running(), |_| record.clone(), |_| Some(vec![listed.clone()]));
            let seen = play(&mut checking(30), OPENED, answers);
            let halted = seen.halted.unwrap_or_default();
            assert!(halted.contains(expected), "listed {is_listed}: {halted}");
        }
    }
}

#[test]
fn ignores_implausible_price_records() {
    let mut bench = Bench::start(|_| {});
    let now = bench.now;
    let mut believed = |age: Millis| {
        let mut commands = Vec::new();
        let step = &mut Step { now, commands: &mut commands };
        let price = bench.coordinator.plausible_price(SymbolId::FIRST, (now - age, now, 2.0), step);
        (price.map(|price| price.value), commands.len())
    };
    assert_eq!(believed(Millis::SECOND), (Some(2.0), 0));
    assert_eq!(believed(HOUR * 24), (None, 1));
    assert_eq!(believed(HOUR * 24), (None, 0));
    assert_eq!(believed(Millis::ZERO), (Some(2.0), 0));
    assert_eq!(believed(Millis::ZERO - HOUR), (None, 1), "from the future");
    assert_eq!(believed(HOUR * 11), (Some(2.0), 0), "a quiet market");
}

#[test]
fn implausible_trade_time_is_replaced_by_our_clock() {
    for close in [Millis::new(CLOSE.get() * 1_000), CLOSE + Millis::DAY * 365, Millis::MAX, Millis::new(-5)] {
        let report = |report: TradeReport| TradeReport { close_time: Some(close), ..report };
        let seen = trade(&report(running()), |ms| report(in_time(ms)));
        assert_eq!(seen.state, IntentState::Settled, "{close}: {seen:?}");
        assert!(seen.booked.is_some_and(|(_, at)| at <= 160_000), "{close}: {seen:?}");
        assert_eq!(seen.warnings_about("has an implausible time"), 1, "said once: {:?}", seen.warnings);
    }
}
