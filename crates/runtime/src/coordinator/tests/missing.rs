use super::reports::{Asked, INTENT, OPENED, Seen, over, play, running};
use super::*;
use crate::control::Resolution;
use candlewick_engine::IntentState;
use candlewick_sdk::{Outcome, Payout};

/// Lag of the venue's list, in ms.
const LAG_MS: u32 = 5_000;

fn bench(missing_trade_s: u32) -> Bench {
    Bench::start(|parts| {
        (parts.settings.list_lag_ms, parts.settings.missing_trade_s) = (LAG_MS, missing_trade_s);
    })
}

#[derive(Clone, Copy)]
struct Venue {
    has_by_id: fn(i64) -> bool,
    is_listed: fn(i64) -> bool,
    is_whole: bool,
    payout: i64,
}

const GONE: Venue = Venue { has_by_id: |_| false, is_listed: |_| false, is_whole: true, payout: 80 };

fn answer(venue: Venue) -> impl Fn(Asked, i64, Millis) -> Answer {
    move |asked, ms, now| match asked {
        Asked::Open => {
            let payout = Payout::from_percent(venue.payout.into()).ok();
            open_answer(TradeReport { payout, ..running() }, now)
        }
        Asked::Trade if (venue.has_by_id)(ms) => record_answer(running(), now),
        Asked::Trade => Answer::Trade(INTENT, Err(BrokerError::NotFound { text: "none".to_owned() })),
        Asked::List => {
            let trades = if (venue.is_listed)(ms) { vec![running()] } else { Vec::new() };
            listing_answer(trades, now, venue.is_whole)
        }
    }
}

fn seen(venue: Venue) -> (Bench, Seen) {
    let mut bench = bench(60);
    let seen = play(&mut bench, OPENED, answer(venue));
    (bench, seen)
}

fn resolve(bench: &mut Bench, outcome: Outcome) -> Vec<Command> {
    let (resolution, reason) = (Resolution::Settled(outcome), "the statement says so".to_owned());
    bench.order(ControlOrder::Resolve { intent: INTENT, resolution, reason })
}

fn is_done(commands: &[Command]) -> bool {
    matches!(answer_in(commands), Some(ControlAnswer::Done { .. }))
}

#[test]
fn trade_missing_by_id_and_list_halts_once() {
    let (bench, seen) = seen(GONE);
    let halted = seen.halted.clone().expect("it halts");
    assert!(halted.starts_with("the venue no longer has trade #1 (01JT): missing for 82 s,"), "{halted}");
    assert!(halted.ends_with("`candlewick resolve 1 --settled OUTCOME`"), "{halted}");
    assert_eq!((seen.state, seen.booked), (IntentState::Open, None), "its result is not guessed");
    assert_eq!(seen.warnings_about("no longer has trade #1"), 1, "{:?}", seen.warnings);
    assert_eq!(bench.coordinator.describe_missing_trades().len(), 1, "its status says so");
}

#[test]
fn trade_seen_by_id_or_list_is_not_missing() {
    for (what, is_always, venue) in [
        ("the id knows it", true, Venue { has_by_id: |_| true, ..GONE }),
        ("the list has it", true, Venue { is_listed: |_| true, ..GONE }),
        ("the id knows it now and then", false, Venue { has_by_id: |ms| ms / 40_000 % 2 == 0, ..GONE }),
        ("the list has it now and then", false, Venue { is_listed: |ms| ms / 40_000 % 2 == 0, ..GONE }),
    ] {
        let (mut bench, seen) = seen(venue);
        assert_eq!((seen.halted, seen.state), (None, IntentState::Open), "{what}");
        assert!(!is_always || problem_in(&resolve(&mut bench, Outcome::Lost)).is_some(), "{what}");
    }
}

#[test]
fn missing_trade_is_reported_without_complete_lists() {
    let (mut bench, seen) = seen(Venue { is_whole: false, ..GONE });
    let halted = seen.halted.expect("it halts");
    assert!(halted.contains("not found by id, and the list could not be read completely"), "{halted}");
    assert_eq!((seen.state, seen.booked), (IntentState::Open, None));
    assert_eq!(bench.coordinator.describe_missing_trades().len(), 1, "its status says so");
    assert!(is_done(&resolve(&mut bench, Outcome::Lost)));
    for venue in [Venue { is_listed: |_| true, ..GONE }, Venue { has_by_id: |_| true, ..GONE }] {
        let (_, seen) = self::seen(Venue { is_whole: false, ..venue });
        assert_eq!(seen.halted, None);
    }
}

#[test]
fn operator_settles_a_missing_trade_once() {
    for (outcome, free) in [
        (Outcome::Won, 100_800),
        (Outcome::Lost, 99_000),
        (Outcome::Draw, 100_000),
        (Outcome::Cancelled, 100_000),
    ] {
        let (mut bench, _) = seen(GONE);
        let commands = resolve(&mut bench, outcome);
        assert!(is_done(&commands), "{commands:?}");
        let told = format!("the operator settled trade #1 as {outcome}: the statement says so");
        assert!(alarms(&commands).contains(&told), "{commands:?}");
        let session = &bench.coordinator.session;
        let row = session.book().row(INTENT).expect("the intent is known");
        assert_eq!((row.state, row.outcome), (IntentState::Settled, Some(outcome)));
        assert!(session.book().is_settled_by_operator(INTENT));
        assert_eq!((bench.free(), session.ledger().open_stakes().minor()), (free, 0));
        assert!(problem_in(&resolve(&mut bench, Outcome::Won)).is_some(), "{outcome}");
    }
}

#[test]
fn rejects_manual_settlement_before_the_wait_is_over() {
    let mut bench = bench(600);
    let seen = play(&mut bench, OPENED, answer(GONE));
    assert_eq!(seen.halted, None);
    let early = resolve(&mut bench, Outcome::Lost);
    let part = "missing for 600 s since its close";
    assert!(problem_in(&early).is_some_and(|problem| problem.contains(part)), "{early:?}");
}

#[test]
fn rejects_manual_win_with_unknown_payout() {
    let (mut bench, _) = seen(Venue { payout: -1, ..GONE });
    let won = resolve(&mut bench, Outcome::Won);
    assert!(problem_in(&won).is_some_and(|problem| problem.contains("is unknown")), "{won:?}");
    assert!(is_done(&resolve(&mut bench, Outcome::Lost)));
}

#[test]
fn returning_trade_corrects_the_manual_result() {
    let (mut bench, first) = seen(GONE);
    let commands = resolve(&mut bench, Outcome::Lost);
    bench.coordinator.agenda.add(bench.now, Job::Trades);
    check_comes_back(&mut bench);
    let parts = parts_after([first.entries, recorded_entries(&commands)].concat());
    assert_eq!(parts.session.ledger().free_balance().minor(), 99_000, "the next run counts it as well");
    let mut next = Bench::new(parts);
    next.on(Input::Start);
    next.on(Input::Answer(candles_answer(Vec::new(), START)));
    next.coordinator.agenda.add(next.now, Job::Trades);
    check_comes_back(&mut next);
}

fn check_comes_back(bench: &mut Bench) {
    let free = bench.free();
    let list = |bench: &mut Bench| {
        bench.answer(list_answer(vec![over()], bench.now));
        bench.answer(no_balances_after_trades())
    };
    assert!(asks(&bench.step(Input::Time), RequestId::Trades));
    let said = warnings(&list(bench));
    let part = "booked as LOST with -10.00 by the operator, but the venue's list now says WON";
    assert!(said.iter().any(|text| text.contains(part)), "{said:?}");
    assert_eq!(bench.free(), free, "not booked twice");
    bench.now += Millis::from_seconds(5);
    assert!(asks(&bench.step(Input::Time), RequestId::Trades));
    bench.answer(record_answer(over(), bench.now));
    list(bench);
    assert_eq!(bench.free(), free + 1_800);
    assert!(!bench.coordinator.session.book().is_settled_by_operator(INTENT));
}
