use super::reports::{Asked, INTENT, OPENED, Seen, in_time, over, play, running, venue};
use super::*;
use candlewick_broker::TradeProgress;
use candlewick_engine::{IntentState, TradeSettlement};
use candlewick_sdk::{Outcome, Payout};

/// Default age at which a list proves that a trade is missing.
const LAG: u32 = 120_000;

fn seen(
    list_lag_ms: u32,
    opened: TradeReport,
    record: impl Fn(i64) -> TradeReport,
    listed: impl Fn(i64) -> Option<TradeReport>,
) -> Seen {
    let mut bench = Bench::with(|parts| {
        (parts.settings.list_every_s, parts.settings.list_lag_ms) = (60, list_lag_ms);
    });
    let listed = |ms: i64| Some(listed(ms).filter(|_| ms > OPENED).into_iter().collect());
    play(&mut bench, 0, venue(opened, record, listed))
}

fn ended(outcome: Outcome, cents: i64) -> TradeReport {
    let profit = Some(Decimal::new(cents, 2));
    TradeReport { progress: TradeProgress::Over(outcome), profit, ..running() }
}

fn corrections(seen: &Seen) -> Vec<(Outcome, i64)> {
    let correction = |event: &Event| match event.kind {
        EventKind::Correction { outcome, profit, .. } => Some((outcome, profit.minor())),
        _ => None,
    };
    events_in(&seen.entries).filter_map(correction).collect()
}

#[test]
fn corrects_a_result_that_changes_in_list_and_record() {
    for (first, then, free) in [
        ((Outcome::Cancelled, 0), (Outcome::Lost, -1_000), 99_000),
        ((Outcome::Won, 800), (Outcome::Lost, -1_000), 99_000),
        ((Outcome::Lost, -1_000), (Outcome::Won, 800), 100_800),
        ((Outcome::Won, 800), (Outcome::Cancelled, 0), 100_000),
    ] {
        let word = |ms: i64| {
            let (outcome, cents) = if ms < 150_000 { first } else { then };
            if ms < 121_000 { running() } else { ended(outcome, cents) }
        };
        let seen = seen(LAG, running(), word, |ms| Some(word(ms)));
        assert_eq!((seen.money.1, corrections(&seen)), (free, vec![then]), "{:?}", seen.warnings);
        assert_eq!(seen.booked, Some((first.1, 125_000)));
        assert_eq!(seen.halted, None);
        assert_eq!(seen.warnings_about("trade #1 is corrected from"), 1, "{:?}", seen.warnings);
    }
}

#[test]
fn undecidable_contradiction_halts_and_stays_booked() {
    for (then, expected) in [
        (ended(Outcome::Lost, -1_000), "LOST with -10.00, and the trade's record says WON with +8.00"),
        (running(), "the venue's list now says that it is open"),
        (ended(Outcome::Lost, 1_000), "LOST with +10.00"),
    ] {
        let listed = |ms: i64| Some(if ms < 140_000 { in_time(ms) } else { then.clone() });
        let seen = seen(10_000, running(), in_time, listed);
        let halted = seen.halted.clone().unwrap_or_default();
        assert!(halted.starts_with("trade #1 was booked as WON with +8.00"), "{expected}: {halted}");
        assert!(halted.contains(expected), "{halted}");
        assert_eq!((seen.money.1, corrections(&seen)), (100_800, vec![]));
    }
}

#[test]
fn implausible_profit_only_in_the_list_halts_unbooked() {
    let agreed = || paying(running(), 80);
    let mut bench = Bench::with(|parts| parts.settings.list_every_s = 60);
    let not_found = || BrokerError::NotFound { text: "no such trade".to_owned() };
    let seen = play(&mut bench, 0, |ask, ms, now| match ask {
        Asked::Open => open_answer(agreed(), now),
        Asked::Trade if ms < 121_000 => record_answer(agreed(), now),
        Asked::Trade if ms < 140_000 => record_answer(over(), now),
        Asked::Trade => Answer::Trade(INTENT, Err(not_found())),
        Asked::List if ms < 140_000 => list_answer(Vec::new(), now),
        Asked::List => list_answer(vec![ended(Outcome::Won, 700)], now),
    });
    let halted = seen.halted.as_deref().unwrap_or_default();
    let part = "says WON with +7.00 in two readings; this result contradicts stake and payout";
    assert!(halted.contains(part), "{halted} {:?}", seen.warnings);
    assert_eq!((seen.money.1, corrections(&seen)), (100_800, vec![]));
}

fn paying(report: TradeReport, percent: i64) -> TradeReport {
    TradeReport { payout: Payout::from_percent(percent.into()).ok(), ..report }
}

#[test]
fn confirms_a_cancellation_by_status_before_booking() {
    let unproven =
        || TradeReport { is_outcome_from_status: true, profit: None, ..ended(Outcome::Cancelled, 0) };
    let record = |ms: i64| if ms < 121_000 { running() } else { unproven() };
    let check = |listed: &dyn Fn(i64) -> Option<TradeReport>, expected: (i64, i64)| {
        let seen = seen(LAG, running(), record, listed);
        assert_eq!((seen.state, seen.booked), (IntentState::Settled, Some(expected)), "{:?}", seen.warnings);
        assert_eq!((seen.halted.clone(), corrections(&seen)), (None, vec![]));
    };
    check(&|ms| Some(record(ms)), (0, 125_000));
    check(&|_| None, (0, 130_000));
    let late = |ms: i64| if ms < 150_000 { record(ms) } else { ended(Outcome::Lost, -1_000) };
    let corrected = seen(LAG, running(), record, |ms| Some(late(ms)));
    assert_eq!((corrected.halted.clone(), corrected.money.1), (None, 99_000), "{:?}", corrected.warnings);
    assert_eq!(corrections(&corrected), [(Outcome::Lost, -1_000)]);
    check(&|_| Some(ended(Outcome::Lost, -1_000)), (-1_000, 130_000));
}

#[test]
fn changed_payout_or_profit_halts() {
    let cut = "trade #1: the venue now pays 60 %, but 85 % was agreed at the open";
    let gross = "trade #1 was WON with +18.50 (this may be the gross amount), but stake 10.00 and payout 85 % give 8.50";
    for (end, halted, booked) in [
        (paying(ended(Outcome::Won, 850), 85), None, 850),
        (ended(Outcome::Won, 850), None, 850),
        (paying(ended(Outcome::Won, 600), 60), Some(cut), 600),
        (paying(ended(Outcome::Lost, -1_000), 60), Some(cut), -1_000),
        (ended(Outcome::Won, 1_850), Some(gross), 1_850),
    ] {
        let record = |ms: i64| if ms < 121_000 { paying(running(), 85) } else { end.clone() };
        let seen = seen(LAG, paying(running(), 85), record, |_| None);
        assert_eq!(seen.halted.as_deref(), halted);
        assert_eq!(seen.booked, Some((booked, 125_000)), "the venue's figure is booked");
        let mut payouts = events_in(&seen.entries).filter_map(|event| match event.kind {
            EventKind::Settled(TradeSettlement { payout, .. }) => payout,
            _ => None,
        });
        assert!(payouts.all(|payout| payout.parts() == 850_000));
    }
    // The list is also compared with the record while the trade is open.
    let record = |ms: i64| if ms < 121_000 { paying(running(), 85) } else { ended(Outcome::Won, 850) };
    let listed = |ms: i64| Some(paying(record(ms), if ms < 121_000 { 60 } else { 85 }));
    let seen = seen(LAG, paying(running(), 85), record, listed);
    assert_eq!(seen.halted.as_deref(), Some(cut));
}

#[test]
fn reverted_trade_is_confirmed_and_halts_unless_cancelled() {
    let reverted = |report: TradeReport| TradeReport { is_reverted: true, ..report };
    let record = |then: TradeReport| {
        move |ms: i64| match ms {
            ..121_000 => running(),
            121_000..150_000 => over(),
            _ => reverted(then.clone()),
        }
    };
    let word = record(over());
    let halts = seen(LAG, running(), &word, |ms| Some(word(ms)));
    let halted = halts.halted.clone().unwrap_or_default();
    assert!(halted.ends_with("the venue's list now says that it was reverted in two readings"), "{halted}");
    let word = record(ended(Outcome::Cancelled, 0));
    let returned = seen(LAG, running(), &word, |ms| Some(word(ms)));
    assert_eq!((returned.halted.clone(), corrections(&returned)), (None, vec![(Outcome::Cancelled, 0)]));
    assert_eq!(returned.money.1, 100_000);
}
