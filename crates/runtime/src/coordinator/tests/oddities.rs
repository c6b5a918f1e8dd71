use super::reported_times::earlier;
use super::reports::{OPENED, in_time, play, running, trade, venue, with_amount};
use super::*;
use crate::past::HALT_PREFIX;
use candlewick_engine::VenueId;
use candlewick_sdk::Payout;

#[test]
fn resumed_oddity_does_not_halt_again() {
    let absurd = || TradeReport { payout: Payout::from_percent(900.into()).ok(), ..running() };
    let always = |report: TradeReport| venue(report.clone(), move |_| report.clone(), |_| None);
    let read_again = |bench: &mut Bench| {
        loop {
            bench.now += Millis::new(500);
            assert!(bench.now < START + Millis::DAY, "it is not asked for");
            if asks(&bench.step(Input::Time), RequestId::Trade(IntentId::new(1))) {
                bench.answer(record_answer(absurd(), bench.now));
                return bench.halted().map(str::to_owned);
            }
        }
    };
    let mut bench = Bench::start(|_| {});
    let seen = play(&mut bench, OPENED, always(absurd()));
    let reason = "trade #1 (01JT) has a payout of 900 %, more than 200 %";
    assert_eq!(seen.halted.as_deref(), Some(reason));
    bench.order(ControlOrder::Resume);
    assert_eq!(read_again(&mut bench), None, "in the same run");
    let in_next_run = |alarm: String| {
        let past =
            RecoveredState { alarms: std::collections::BTreeSet::from([alarm]), ..RecoveredState::default() };
        let mut next = Bench::start(|parts| parts.recovered = past);
        play(&mut next, OPENED, always(absurd()))
    };
    let seen = in_next_run(format!("{HALT_PREFIX}{reason}"));
    assert_eq!((&seen.halted, seen.warnings_about("has a payout of 900 %")), (&None, 0), "in the next one");
    // A reason that was only logged, because the run was already halted, still halts the next run.
    assert_eq!(in_next_run(reason.to_owned()).halted.as_deref(), Some(reason));
    let mut bench = Bench::start(|_| {});
    let seen = play(&mut bench, OPENED, always(running()));
    assert_eq!(seen.halted, None);
    bench.order(ControlOrder::Halt { reason: "news".to_owned() });
    assert_ne!(read_again(&mut bench).as_deref(), Some(reason), "the halt is manual");
    bench.order(ControlOrder::Resume);
    assert_eq!(read_again(&mut bench).as_deref(), Some(reason));
}

#[test]
fn answer_with_another_trade_says_nothing_about_the_clock() {
    let differences_told = |opened: TradeReport| {
        let seen = trade(&earlier(opened, Millis::from_seconds(40)), |_| running());
        events_in(&seen.entries).filter(|event| matches!(event.kind, EventKind::Skew { .. })).count()
    };
    assert_eq!(differences_told(running()), 1, "our trade was taken at the venue's time");
    assert_eq!(differences_told(with_amount(50, running())), 0);
}

#[test]
fn differing_amount_in_the_answer_halts_and_the_record_counts() {
    let seen = trade(&with_amount(50, running()), in_time);
    let halted = "trade #1 (01JT) differs: amount is 50, but 10 was ordered";
    assert_eq!(seen.halted.as_deref(), Some(halted));
    let changed = "trade #1 (01JT) differs: amount is 10, but was 50 before; 10 was ordered";
    assert_eq!(seen.warnings_about(changed), 1, "{:?}", seen.warnings);
    assert_eq!((seen.profit(), seen.money), (Some(800), (5_000, 100_800)));
    let ids = events_in(&seen.entries).filter_map(|event| match event.kind {
        EventKind::Opened(opened) => Some(opened.venue_id),
        _ => None,
    });
    assert_eq!(ids.collect::<Vec<_>>(), [VenueId::new("01JT"); 2]);
}
