//! Candles that are handed in many at a time are the same candles.

use crate::event::{START, minute};
use crate::script::Script;
use candlewick_engine::{Action, Event, EventKind, Origin, RiskSettings, SeriesId, Session, SessionSettings};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Candle, Interval, Millis, MoneyScale, Ohlcv};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Around a midnight, on which a day begins.
const MINUTES: std::ops::Range<i64> = 22 * 60..26 * 60;

fn session(bots: usize, warmup: usize, signals: &[i64]) -> Session {
    let script = |index: usize| {
        // The second bot signals at half of them.
        let own: Vec<i64> = signals.iter().copied().filter(|at| index == 0 || at % 2 == 0).collect();
        Script::new(&format!("bot-{index}")).warm_after(warmup).buys(&own)
    };
    let scripts: Vec<Script> = (0..bots).map(script).collect();
    let risk = RiskSettings { max_open_trades: 3, allow_duplicate: true, ..RiskSettings::default() };
    let settings = SessionSettings {
        money_scale: MoneyScale::default(),
        balance: Decimal::from(1_000),
        risk,
        bots: scripts.iter().map(|script| script.bot.clone()).collect(),
    };
    Session::new(&settings, scripts.iter().map(Script::strategy).collect()).unwrap()
}

fn candles(minutes: &BTreeSet<i64>) -> Vec<Candle> {
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
    minutes.iter().map(|at| Candle::new(minute(*at), Interval::MINUTE, numbers).unwrap()).collect()
}

fn one_by_one(session: &mut Session, candles: &[Candle]) -> Vec<Action> {
    let mut actions = Vec::new();
    for candle in candles {
        let at = candle.close_time(Interval::MINUTE);
        let kind = EventKind::Candle { series: SeriesId::FIRST, candle: *candle, origin: Origin::Live };
        session.handle(&Event { at, received: at, kind }, &mut actions);
    }
    actions
}

/// In stretches of these lengths, over and over.
fn in_stretches(session: &mut Session, candles: &[Candle], lengths: &[usize]) -> Vec<Action> {
    let (mut all, mut actions, mut rest) = (Vec::new(), Vec::new(), candles);
    let mut lengths = lengths.iter().cycle();
    while !rest.is_empty() {
        let length = (*lengths.next().unwrap()).min(rest.len());
        let taken = session.handle_candles(SeriesId::FIRST, &rest[..length], &mut actions);
        assert!(taken == length || taken > 0 && !actions.is_empty(), "{taken} of {length}");
        all.append(&mut actions);
        rest = &rest[taken..];
    }
    all
}

proptest! {
    #[test]
    fn stretches_of_candles_give_the_actions_of_single_ones(
        minutes in prop::collection::btree_set(MINUTES, 1..200),
        signals in prop::collection::vec(MINUTES, 0..40),
        lengths in prop::collection::vec(1_usize..90, 1..8),
        bots in 1_usize..3,
        warmup in 0_usize..40,
    ) {
        let candles = candles(&minutes);
        let expected = one_by_one(&mut session(bots, warmup, &signals), &candles);
        let found = in_stretches(&mut session(bots, warmup, &signals), &candles, &lengths);
        prop_assert_eq!(&found, &expected);
    }
}

/// The minute at which each stretch ends, and how many actions it brought.
fn check_ends(signals: &[i64], expected: &[(i64, usize)]) {
    let minutes = (22 * 60 + 50..24 * 60 + 10).collect();
    let mut session = session(1, 0, signals);
    let (candles, mut actions) = (candles(&minutes), Vec::new());
    let mut told = Vec::new();
    let mut rest = &candles[..];
    while !rest.is_empty() {
        let taken = session.handle_candles(SeriesId::FIRST, rest, &mut actions);
        let moment = rest[taken - 1].close_time(Interval::MINUTE) - Millis::new(START);
        told.push((moment.get() / 60_000, actions.len()));
        actions.clear();
        rest = &rest[taken..];
    }
    assert_eq!(told, expected);
}

#[test]
fn a_stretch_ends_where_it_is_traded_and_days_begin_on_the_way() {
    // The first candle's day and the signal; midnight, to the end.
    let expected = [(23 * 60 + 30, 2), (24 * 60 + 10, 1)];
    check_ends(&[23 * 60 + 30], &expected);
}

#[test]
fn a_stretch_goes_on_after_what_is_only_noted() {
    // The day and a trade, which is never answered: all else is refused. Sixteen refusals; thirteen more, and midnight.
    let signals: Vec<i64> = (23 * 60..23 * 60 + 30).collect();
    let expected = [(23 * 60, 2), (23 * 60 + 16, 16), (24 * 60 + 10, 14)];
    check_ends(&signals, &expected);
}
