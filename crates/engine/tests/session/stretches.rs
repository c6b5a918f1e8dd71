//! Batches of candles have the same effect as single candles.

use crate::event::{START, flat_candle, minute};
use crate::script::{Script, session_settings};
use candlewick_engine::{
    Action, BatchEnd, Event, EventKind, Origin, RiskSettings, Session, SessionSettings, StoredCandles,
};
use candlewick_sdk::{Candle, Interval, Millis, Signal, Strategy};
use proptest::prelude::*;
use std::collections::BTreeSet;

const MINUTES: std::ops::Range<i64> = 22 * 60..26 * 60;
const INTERVALS: [&str; 2] = ["1m", "2m"];

fn session(bots: usize, warmup: usize, signals: &[i64]) -> Session {
    let script = |index: usize| {
        let own: Vec<i64> =
            signals.iter().copied().filter(|at| index.is_multiple_of(2) || at % 2 == 0).collect();
        let interval = INTERVALS[index / 2 % 2];
        Script::new(&format!("bot-{index}")).every(interval).warm_after(warmup).buys(&own)
    };
    let scripts: Vec<Script> = (0..bots).map(script).collect();
    Session::new(&settings(&scripts), scripts.iter().map(Script::strategy).collect()).unwrap()
}

fn settings(scripts: &[Script]) -> SessionSettings {
    let risk = RiskSettings { max_open_trades: 3, allow_duplicate: true, ..RiskSettings::default() };
    session_settings(1_000, risk, scripts.iter().map(|script| script.bot.clone()).collect())
}

fn candles(session: &Session, minutes: &BTreeSet<i64>) -> Vec<Vec<Candle>> {
    let of = |interval: Interval| {
        let opens = minutes.iter().map(|at| minute(*at)).filter(|time| time.is_aligned_to(interval.length()));
        opens.map(|time| flat_candle(time, interval)).collect()
    };
    session.series().iter().map(|series| of(series.interval)).collect()
}

fn one_by_one(session: &mut Session, candles: &[Vec<Candle>]) -> Vec<Action> {
    let mut events = Vec::new();
    for series in session.series_order() {
        let interval = session.series()[series.index()].interval;
        for candle in &candles[series.index()] {
            let at = candle.close_time(interval);
            let kind = EventKind::Candle { series, candle: *candle, origin: Origin::Live };
            events.push(Event { at, received: at, kind });
        }
    }
    events.sort_by_key(|event| event.at);
    let mut actions = Vec::new();
    for event in &events {
        session.handle(event, &mut actions);
    }
    actions
}

fn in_stretches(session: &mut Session, candles: &[Vec<Candle>], lengths: &[i64]) -> Vec<Action> {
    let mut stored = StoredCandles::new(session, candles.iter().map(Vec::as_slice).collect(), &[]);
    let (mut all, mut actions) = (Vec::new(), Vec::new());
    let mut until = minute(MINUTES.start);
    for length in lengths.iter().cycle() {
        until += Millis::MINUTE * *length;
        while session.handle_candles(&mut stored, until, &mut actions) != BatchEnd::Reached {
            assert!(!actions.is_empty());
            all.append(&mut actions);
        }
        all.append(&mut actions);
        if until > minute(MINUTES.end + 2) {
            break;
        }
    }
    assert_eq!(stored.processed_candle_count(), stored.candle_count());
    all
}

proptest! {
    #[test]
    fn batches_of_candles_give_the_actions_of_single_ones(
        minutes in prop::collection::btree_set(MINUTES, 1..200),
        signals in prop::collection::vec(MINUTES, 0..40),
        lengths in prop::collection::vec(1_i64..90, 1..8),
        bots in 1_usize..6,
        warmup in 0_usize..40,
    ) {
        let mut reference = session(bots, warmup, &signals);
        let candles = candles(&reference, &minutes);
        let expected = one_by_one(&mut reference, &candles);
        let found = in_stretches(&mut session(bots, warmup, &signals), &candles, &lengths);
        prop_assert_eq!(&found, &expected);
    }
}

fn check_ends(signals: &[i64], expected: &[(Option<i64>, usize)]) {
    let minutes = (22 * 60 + 50..24 * 60 + 10).collect();
    let mut session = session(1, 0, signals);
    let candles = candles(&session, &minutes);
    let mut stored = StoredCandles::new(&session, vec![&candles[0]], &[]);
    let (mut ends, mut actions) = (Vec::new(), Vec::new());
    loop {
        let end = session.handle_candles(&mut stored, Millis::MAX, &mut actions);
        let minute = match end {
            BatchEnd::ActionsAt(at) => Some((at.get() - START) / 60_000),
            BatchEnd::Reached => None,
        };
        ends.push((minute, actions.len()));
        actions.clear();
        if end == BatchEnd::Reached {
            break;
        }
    }
    assert_eq!(ends, expected);
}

#[test]
fn batch_ends_at_a_trade_and_starts_days() {
    check_ends(&[23 * 60 + 30], &[(Some(23 * 60 + 30), 2), (None, 1)]);
}

#[test]
fn batch_continues_after_rejected_signals() {
    // The day and a trade without a reply, so all later signals are refused: 16 refusals, then 13 more and midnight.
    let signals: Vec<i64> = (23 * 60..23 * 60 + 30).collect();
    check_ends(&signals, &[(Some(23 * 60), 2), (Some(23 * 60 + 16), 16), (None, 14)]);
}

/// Buys on every candle, with the minute as reason. Wants no settlements, so answers can queue up.
struct BuysAlways;

impl Strategy for BuysAlways {
    fn warmup(&self) -> usize {
        3
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        Some(Signal::buy("always").with("minute", ((candle.time().get() - START) / 60_000) as f64))
    }

    fn wants_settlements(&self) -> bool {
        false
    }
}

#[test]
fn each_pending_answer_is_decided_at_its_own_candle() {
    let expected: Vec<i64> = (MINUTES.start + 2..MINUTES.end).collect();
    for length in [1, 2, 3, 7, 40, 300] {
        let mut session = Session::new(&settings(&[Script::new("bot")]), vec![Box::new(BuysAlways)]).unwrap();
        let candles = candles(&session, &MINUTES.collect());
        let mut decided = Vec::new();
        for action in in_stretches(&mut session, &candles, &[length]) {
            let (at, reason) = match &action {
                Action::Open(approved) => (approved.decision_time(), approved.reason()),
                Action::Refuse(refused) => (refused.decision_time, &refused.reason),
                _ => continue,
            };
            let minute = (at - Millis::MINUTE).get() - START;
            decided.push(minute / 60_000);
            assert_eq!(reason.to_string(), format!("always minute={}", minute / 60_000));
        }
        assert_eq!(decided, expected, "stretches of {length} minutes");
    }
}
