use super::reports::{honest, play};
use super::*;
use candlewick_broker::{Payment, WalletIdentity};
use candlewick_sdk::{Money, Payout};

/// Starts a run that reads the wallet every ten seconds. At first, wallet and ledger are 1,000.00.
fn begun() -> Bench {
    begun_with(demo(100_000, "w1"))
}

fn begun_with(balances: Balances) -> Bench {
    Bench::start(|parts| {
        parts.settings.wallet_every_s = 10;
        parts.balances = Some(Reply::without_latency(balances, START));
    })
}

fn demo(minor: i64, id: &str) -> Balances {
    let wallet =
        WalletIdentity { id: id.to_owned(), account: Some(Account::Demo), ..WalletIdentity::default() };
    Balances { demo: Some(Decimal::new(minor, 2)), wallets: vec![wallet], ..Balances::default() }
}

fn read(bench: &mut Bench, second: i64, balances: Balances) -> (Vec<EventKind>, Vec<String>) {
    bench.at(second * 1_000).step(Input::Time);
    assert!(bench.coordinator.requests.contains(RequestId::Balances), "after {second} s");
    said(&bench.answer(Answer::Balances(Ok(Reply::without_latency(balances, bench.now)))))
}

fn said(commands: &[Command]) -> (Vec<EventKind>, Vec<String>) {
    let entries = recorded_entries(commands);
    let kinds = events_in(&entries).map(|event| event.kind);
    (kinds.filter(|kind| !matches!(kind, EventKind::Balance { .. })).collect(), warnings(commands))
}

fn difference(minor: i64) -> EventKind {
    EventKind::WalletDifference { amount: Money::from_minor(minor) }
}

fn deposit(minor: i64) -> EventKind {
    EventKind::Deposit { amount: Money::from_minor(minor) }
}

#[test]
fn withdrawal_counts_at_once_and_is_booked_when_confirmed() {
    let mut bench = begun();
    assert_eq!(read(&mut bench, 10, demo(100_000, "w1")), (vec![], vec![]));
    assert_eq!(read(&mut bench, 20, demo(95_000, "w1")), (vec![difference(-5_000)], vec![]));
    let alarm = "50.00 left the wallet without a trade that explains it".to_owned();
    let booked = read(&mut bench, 31, demo(95_000, "w1"));
    assert_eq!(booked, (vec![deposit(-5_000), difference(0)], vec![alarm]));
    assert_eq!(bench.free(), 95_000);
}

#[test]
fn start_compares_the_wallet_with_the_ledger() {
    let mut bench = begun_with(demo(94_450, "w1"));
    assert_eq!(bench.coordinator.session.ledger().wallet_difference(), Money::from_minor(-5_550));
    let (events, _) = read(&mut bench, 11, demo(94_450, "w1"));
    assert_eq!(events, [deposit(-5_550), difference(0)]);
    // Without wallet readings, nothing is compared. The wallet of paper trading does not change.
    let bench = Bench::start(|_| {});
    assert_eq!(bench.coordinator.session.ledger().wallet_difference(), Money::ZERO);
}

#[test]
fn large_movement_halts_and_is_booked_on_resume() {
    let mut bench = begun();
    for (second, minor) in [(10, 12_345_600), (21, 12_345_600)] {
        read(&mut bench, second, demo(minor, "w1"));
    }
    let halted = bench.halted().unwrap_or_default();
    assert!(halted.starts_with("the demo wallet holds 122,456.00 more than the trades explain"), "{halted}");
    assert_eq!(bench.free(), 100_000, "the ledger is not based on it");
    assert_eq!(read(&mut bench, 31, demo(12_345_600, "w1")), (vec![], vec![]));
    bench.order(ControlOrder::Resume);
    assert_eq!((bench.free(), bench.halted()), (12_345_600, None));
    assert_eq!(read(&mut bench, 41, demo(12_345_600, "w1")), (vec![], vec![]));
}

#[test]
fn single_odd_reading_has_no_effect() {
    let mut bench = begun();
    assert_eq!(read(&mut bench, 10, demo(-7, "w1")).0, [difference(-100_007)]);
    bench.signal();
    bench.at(60_100).step(Input::Durable(Ok(())));
    assert!(!bench.coordinator.ending.is_stopping());
    assert_eq!(read(&mut bench, 61, demo(100_000, "w1")).0, [difference(0)]);
    assert_eq!((bench.free(), bench.halted()), (100_000, None));
}

#[test]
fn other_wallets_halt_until_a_resume() {
    let mut bench = begun();
    let (events, _) = read(&mut bench, 10, demo(100_500, "w2"));
    assert_eq!(events, [EventKind::Control { control: Control::Halt }]);
    let halted = bench.halted().unwrap_or_default();
    assert!(halted.starts_with("the venue lists different demo wallets: w2 instead of w1"), "{halted}");
    assert_eq!(read(&mut bench, 21, demo(100_500, "w2")), (vec![], vec![]));
    assert_eq!(bench.free(), 100_000);
    assert_eq!(read(&mut bench, 31, demo(100_000, "w1")), (vec![], vec![]));
    read(&mut bench, 41, demo(100_500, "w2"));
    bench.order(ControlOrder::Resume);
    read(&mut bench, 51, demo(100_500, "w2"));
    assert_eq!(read(&mut bench, 62, demo(100_500, "w2")).0, [deposit(500)]);
}

#[test]
fn journals_payments_of_bonus_wallets() {
    let with_bonus = |minor, bonus| Balances { bonus: Some(Decimal::new(bonus, 2)), ..demo(minor, "w1") };
    let mut bench = begun_with(with_bonus(100_000, 5_000));
    open(&mut bench, Payment::default());
    bench.at(70_000).step(Input::Time);
    let read = Answer::Balances(Ok(Reply::without_latency(with_bonus(99_400, 4_600), bench.now)));
    let entries = recorded_entries(&bench.answer(read));
    let noted = r#"{"bonus_wallets":{"holds":4600,"paid":400}}"#;
    assert!(entries.iter().any(|one| matches!(one, JournalEntry::Note(_, body) if body == noted)));
    assert_eq!(bench.coordinator.session.ledger().wallet_difference(), Money::ZERO);
    let mut past = RecoveredState::default();
    past.apply_note(noted, bench.now);
    assert_eq!(past.wallet.bonus, bench.coordinator.audits.wallet.bonus);
}

/// Opens our one-minute trade at 60 s, with a payout of 85 % and this funding.
fn open(bench: &mut Bench, funding: Payment) -> Vec<Command> {
    bench.signal();
    let now = bench.at(60_100).now;
    bench.durable();
    let payout = Payout::from_percent(Decimal::from(85)).ok();
    let report =
        TradeReport { payout, payment: funding, ..report_of_tests("01JT", START + Millis::new(60_400)) };
    bench.at(60_500).answer(open_answer(report, now))
}

#[test]
fn halting_deposit_does_not_offset_a_shortage() {
    let mut bench = begun();
    open(&mut bench, Payment::default());
    for (second, minor) in [(71, 98_500), (82, 98_500), (93, 12_345_600), (104, 12_345_600)] {
        read(&mut bench, second, demo(minor, "w1"));
    }
    assert!(bench.halted().is_some());
    let (events, _) = said(&bench.order(ControlOrder::Resume));
    let resume = EventKind::Control { control: Control::Resume };
    assert_eq!(events, [deposit(12_247_100), difference(-500), resume]);
    let ledger = bench.coordinator.session.ledger();
    assert_eq!((ledger.free_balance().minor(), ledger.day_result().minor()), (12_345_600, -500));
    assert_eq!(read(&mut bench, 115, demo(12_345_600, "w1")), (vec![], vec![]));
}

#[test]
fn large_deposit_near_a_shortage_is_booked_on_resume() {
    let mut bench = begun();
    // A shortage of 5.00 is known. A deposit of 203.00 exceeds a fifth of the equity, so 198.00 is unexplained.
    bench.coordinator.audits.wallet.confirmed = Money::from_minor(-500);
    assert_eq!(read(&mut bench, 11, demo(99_500, "w1")).0, [difference(-500)]);
    read(&mut bench, 22, demo(119_800, "w1"));
    read(&mut bench, 33, demo(119_800, "w1"));
    assert!(bench.coordinator.session.halt_reason().is_some());
    for second in (44..1_200).step_by(11) {
        assert_eq!(read(&mut bench, second, demo(119_800, "w1")).0, [], "after {second} s");
    }
    let (events, _) = said(&bench.step(Input::Order(ControlOrderId(1), ControlOrder::Resume)));
    let resume = EventKind::Control { control: Control::Resume };
    assert_eq!(events, [deposit(20_300), difference(-500), resume]);
}

#[test]
fn released_stake_explains_no_surplus() {
    let mut bench = begun();
    bench.signal();
    bench.at(60_100).durable();
    bench.at(60_500).answer(lost_open(IntentId::new(1)));
    bench.coordinator.mark_not_opened(IntentId::new(1), START + Millis::from_seconds(90), bench.now);
    bench.step(Input::Time);
    // The wallet may contain the stake of 10.00 and another trade's win, until the event at 120 s releases the stake.
    for second in [71, 120, 131] {
        assert_eq!(read(&mut bench, second, demo(101_850, "w1")).0, [], "after {second} s");
    }
    assert_eq!(read(&mut bench, 142, demo(101_850, "w1")).0, [difference(1_850)]);
}

#[test]
fn charges_and_larger_stakes_halt_and_a_bonus_is_reported() {
    let half = Decimal::new(5, 1);
    let larger = "trade #1 has a stake of 10.00, but the wallets paid 60.00; the larger amount counts";
    for (funding, text, is_halted, stake) in [
        (Payment { fee: half, ..Payment::default() }, "has a fee of 0.50", true, 1_000),
        (Payment { commission: half, ..Payment::default() }, "has a commission of 0.50", true, 1_000),
        (Payment { paid: Some(60.into()), ..Payment::default() }, larger, true, 6_000),
        (
            Payment { paid: Some(Decimal::TEN), bonus: Decimal::from(4), ..Payment::default() },
            "trade #1: a bonus wallet paid 4.00 of the stake",
            false,
            1_000,
        ),
    ] {
        let mut bench = Bench::start(|_| {});
        let mut commands = open(&mut bench, funding);
        commands.extend(bench.at(63_000).step(Input::Time));
        let said = warnings(&commands);
        assert!(said.iter().any(|said| said.contains(text)), "{said:?}");
        let halts = bench.halted().is_some_and(|why| why.contains(text));
        assert_eq!((bench.halted().is_some(), halts), (is_halted, is_halted), "{text}");
        assert_eq!(bench.coordinator.session.ledger().open_stakes().minor(), stake, "{text}");
    }
}

fn end(bench: &mut Bench, balances: impl Fn(i64) -> Balances) -> (i64, Vec<EventKind>) {
    let commands = bench.at(12_000).step(Input::Stop(crate::StopReason::TimeUp));
    assert!(asks(&commands, RequestId::Balances));
    assert!(!steps(&commands).contains(&"finish".to_owned()), "{commands:?}");
    finish(bench, 12, |second| Ok(balances(second)))
}

fn finish(
    bench: &mut Bench,
    mut second: i64,
    balances: impl Fn(i64) -> Result<Balances, BrokerError>,
) -> (i64, Vec<EventKind>) {
    let (mut seen, begun, mut is_finished) = (Vec::new(), second, false);
    while !is_finished {
        assert!(second < begun + 40, "the run does not end");
        let reply = balances(second).map(|balances| Reply::without_latency(balances, bench.now));
        let commands = bench.answer(Answer::Balances(reply));
        seen.extend(said(&commands).0);
        is_finished = steps(&commands).contains(&"finish".to_owned());
        second += 2;
        let commands = bench.at(second * 1_000).step(Input::Time);
        is_finished |= steps(&commands).contains(&"finish".to_owned());
    }
    (second, seen)
}

#[test]
fn stop_waits_for_a_last_wallet_reading() {
    for (minor, events) in [(100_000, vec![]), (99_000, vec![difference(-1_000), difference(0)])] {
        let mut bench = begun();
        read(&mut bench, 10, demo(100_000, "w1"));
        let (second, seen) = end(&mut bench, |_| demo(minor, "w1"));
        assert!(second <= 12 + 16, "{minor} after {second} s");
        assert_eq!(seen, events, "{minor}");
        let found = bench.coordinator.last_difference().map(|found| found.amount.minor());
        assert_eq!(found, Some(minor - 100_000).filter(|off| *off != 0));
    }
}

const MISSING: &str = "the venue shows no demo wallet: its balance is unknown";

#[test]
fn missing_wallet_at_the_end_is_reported() {
    for (back_at, expected) in [(i64::MAX, Some(MISSING)), (14, None)] {
        let mut bench = begun();
        let (_, texts) = read(&mut bench, 10, Balances::default());
        assert_eq!(texts, [MISSING]);
        assert_eq!(bench.coordinator.problems(bench.now), [MISSING]);
        let shown = |second| if second < back_at { Balances::default() } else { demo(100_000, "w1") };
        let (second, _) = end(&mut bench, shown);
        assert!(second <= 12 + 16, "after {second} s");
        assert_eq!(bench.coordinator.describe_missing_wallet().as_deref(), expected);
    }
}

#[test]
fn unreadable_wallet_after_the_last_trades_is_reported() {
    let unread = "the demo wallet could not be read after the last trades: its balance is unknown";
    for (back_at, expected) in [(i64::MAX, Some(unread)), (304, None)] {
        let mut bench = Bench::with(|parts| parts.settings.wallet_every_s = 10);
        play(&mut bench, 0, honest());
        bench.at(300_000).step(Input::Stop(crate::StopReason::TimeUp));
        let read = |second| if second < back_at { Err(no_answer()) } else { Ok(demo(100_800, "w1")) };
        finish(&mut bench, 300, read);
        assert_eq!(bench.coordinator.describe_unread_wallet().as_deref(), expected);
    }
}

#[test]
fn reports_a_missing_or_negative_wallet_once() {
    let mut bench = Bench::start(|parts| parts.settings.wallet_every_s = 10);
    for (place, (demo, expected)) in (0..).zip([
        (Some(1_000), None),
        (None, Some(MISSING)),
        (None, None),
        (Some(-3), Some("the demo wallet holds -3.00")),
        (Some(-3), None),
        (Some(1_000), None),
        (None, Some(MISSING)),
    ]) {
        assert!(bench.asks_at(place * 20_000, RequestId::Balances) || place == 0);
        let balances = Balances { demo: demo.map(Decimal::from), ..Balances::default() };
        let mut said =
            alarms(&bench.answer(Answer::Balances(Ok(Reply::without_latency(balances, bench.now)))));
        // The second reading below zero also confirms the shortage, which halts the run.
        said.retain(|text| !text.starts_with("halted"));
        assert_eq!(said, Vec::from_iter(expected), "{demo:?}");
    }
}
