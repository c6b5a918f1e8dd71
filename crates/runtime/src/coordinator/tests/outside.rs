use super::*;
use crate::control::{SignalOrder, SignalOutcome, SignalTally, SourceTally};
use candlewick_engine::{SignalId, SignalSource};
use candlewick_sdk::Direction;

pub(super) fn order(id: &str) -> SignalOrder {
    SignalOrder {
        bot: Some("bot".to_owned()),
        symbol: None,
        direction: Direction::Sell,
        source: SignalSource::truncated("command"),
        id: SignalId::truncated(id),
        time: None,
        expires_ms: None,
        close_type: None,
        reason: None,
    }
}

fn run() -> Bench {
    let mut bench = Bench::sent();
    bench.answer(unsent_open());
    bench.durable();
    bench
}

fn give(bench: &mut Bench, order: SignalOrder) -> (SignalOutcome, Vec<String>) {
    let commands = bench.order(ControlOrder::Signal(order));
    match answer_in(&commands) {
        Some(ControlAnswer::Signal { outcome }) => (outcome.clone(), steps(&commands)),
        other => panic!("{other:?}"),
    }
}

fn refused(rule: &str) -> SignalOutcome {
    SignalOutcome::Refused { rule: rule.to_owned() }
}

fn tally(bench: &Bench) -> SignalTally {
    bench.coordinator.outside.tally().map(|tally| *tally).unwrap_or_default()
}

#[test]
fn signal_opens_once_durable_and_its_duplicate_is_dropped() {
    let mut bench = run();
    let (answer, said) = give(bench.at(70_000), order("1"));
    assert_eq!(answer, SignalOutcome::Approved { intent: IntentId::new(2) });
    assert_eq!(said, ["record open 2", "make durable"]);
    let sent = steps(&bench.durable());
    assert!(sent.contains(&"send 2".to_owned()), "{sent:?}");
    let (answer, said) = give(bench.at(71_000), order("1"));
    assert_eq!(answer, SignalOutcome::Duplicate);
    assert!(!said.iter().any(|word| word.starts_with("record open")), "{said:?}");
    let (answer, _) = give(bench.at(71_000), order("2"));
    assert_eq!(answer, refused("InFlight"));
    let tally = tally(&bench);
    assert_eq!((tally.approved, tally.duplicates, tally.malformed.len()), (1, 1, 0));
    assert_eq!(tally.refused, [("InFlight".to_owned(), 1)].into());
}

#[test]
fn late_signal_is_rejected_and_an_expired_one_not_sent() {
    let mut bench = run();
    for (id, given_s) in [("1", 70), ("2", 70 - 80_000)] {
        let late = SignalOrder { time: Some(START + Millis::from_seconds(given_s)), ..order(id) };
        assert_eq!(give(bench.at(75_001), late).0, refused("LateSignal"));
    }
    bench.durable();
    bench.durable();
    let expiring = SignalOrder { expires_ms: Some(100), ..order("3") };
    let (answer, _) = give(bench.at(76_000), expiring);
    assert_eq!(answer, SignalOutcome::Approved { intent: IntentId::new(2) });
    let after = steps(&bench.at(76_101).durable());
    assert!(after.contains(&"record not sent 2".to_owned()), "{after:?}");
    assert!(!after.contains(&"send 2".to_owned()), "{after:?}");
}

#[test]
fn expiring_signal_of_a_delayed_bot_leaves_by_its_expiry() {
    // The signal arrives at 80 s. Its order is sent 10 s later, with a tolerance of 2 s.
    for (leaves_ms, expected) in [(90_000, "send 2"), (92_000, "send 2"), (92_001, "record not sent 2")] {
        let mut bench = Bench::start(|parts| {
            parts.session = delayed_session(RiskSettings::default(), Box::new(Buys), 10);
        });
        bench.signal();
        bench.durable();
        assert_eq!(steps(&bench.at(70_000).step(Input::Time)), ["send 1"]);
        bench.answer(unsent_open());
        bench.durable();
        let expiring = SignalOrder { expires_ms: Some(2_000), ..order("1") };
        let (answer, _) = give(bench.at(80_000), expiring);
        assert_eq!(answer, SignalOutcome::Approved { intent: IntentId::new(2) });
        bench.durable();
        let before = steps(&bench.at(89_999).step(Input::Time));
        assert!(!before.iter().any(|word| word.ends_with(" 2")), "{before:?}");
        let then = steps(&bench.at(leaves_ms).step(Input::Time));
        assert!(then.contains(&expected.to_owned()), "at {leaves_ms}: {then:?}");
    }
}

#[test]
fn invalid_signal_alarms_and_never_trades() {
    let mut bench = run();
    let ahead = START + Millis::new(70_000 + 60_001);
    let none = [
        (SignalOrder { bot: Some("other".to_owned()), ..order("1") }, "unknown bot \"other\""),
        (SignalOrder { bot: None, ..order("1") }, "neither bot nor symbol"),
        (SignalOrder { symbol: Some("NONE".to_owned()), ..order("1") }, "not \"NONE\""),
        (SignalOrder { bot: None, symbol: Some("NONE".to_owned()), ..order("1") }, "no bot trades \"NONE\""),
        (order(""), "the signal has no id"),
        (SignalOrder { time: Some(ahead), ..order("1") }, "ahead of venue time"),
        (SignalOrder { time: Some(Millis::ZERO), ..order("1") }, "more than a day behind venue time"),
    ];
    let mut told = 0;
    for (count, (order, part)) in none.into_iter().enumerate() {
        let commands = bench.at(70_000).order(ControlOrder::Signal(order));
        assert!(problem_in(&commands).is_some_and(|problem| problem.contains(part)), "{part}: {commands:?}");
        assert!(!steps(&commands).iter().any(|word| word.contains("open")), "{commands:?}");
        told += alarms(&commands).len();
        assert_eq!(tally(&bench).malformed["command"], count as u64 + 1);
    }
    assert_eq!(told, 1, "at most one a minute");
}

fn signal_problem(source: SignalSource, (malformed, turned_away): (u64, u64)) -> ControlOrder {
    let reasons = [("no".to_owned(), malformed)].into();
    let [first, last] = ["no", "nor this"].map(str::to_owned);
    ControlOrder::SignalProblem { source, first, last, malformed, turned_away, reasons }
}

#[test]
fn counts_received_signals_by_source() {
    let mut bench = run();
    let webhook = |id: &str| SignalOrder { source: SignalSource::truncated("webhook"), ..order(id) };
    give(bench.at(70_000), webhook("1"));
    give(bench.at(70_000), webhook("1"));
    give(bench.at(70_000), order("1"));
    give(bench.at(76_000), SignalOrder { time: Some(START + Millis::new(70_000)), ..order("2") });
    bench.at(76_000).order(ControlOrder::Signal(SignalOrder { bot: None, ..webhook("3") }));
    bench.order(signal_problem(SignalSource::truncated("webhook"), (2, 40)));
    let mut tally = tally(&bench);
    let reasons = std::mem::take(&mut tally.by_source.get_mut("webhook").unwrap().reasons);
    assert_eq!((reasons["no"], reasons.len(), reasons.values().sum::<u64>()), (2, 2, 3), "{reasons:?}");
    let (counts, problem) = (SourceTally::default(), Some("nor this".to_owned()));
    let webhook =
        SourceTally { approved: 1, duplicates: 1, malformed: 3, turned_away: 40, problem, ..counts };
    let command = SourceTally { refused: 1, late: 1, ..SourceTally::default() };
    assert_eq!(tally.by_source, [("webhook".to_owned(), webhook), ("command".to_owned(), command)].into());
    assert_eq!(tally.malformed, [("webhook".to_owned(), 3)].into());
}

#[test]
fn each_source_alarms_once_a_minute() {
    let mut bench = run();
    for (at, door, expected) in [
        (70_000, "webhook", 1),
        (70_000, "stdin", 1),
        (75_000, "stdin", 0),
        (129_999, "webhook", 0),
        (130_000, "webhook", 1),
    ] {
        let said = alarms(&bench.at(at).order(signal_problem(SignalSource::truncated(door), (1, 0))));
        assert_eq!(said.iter().filter(|text| text.ends_with("): no")).count(), expected, "{door} {at}");
    }
}

#[test]
fn marks_fixed_problems_but_not_newer_ones() {
    let mut bench = run();
    let [list, stdin] = ["list", "stdin"].map(SignalSource::truncated);
    bench.order(signal_problem(list, (1, 0)));
    let send_fix = |fixed: &str| {
        let (text, fixed) = ("read again".to_owned(), vec!["older".to_owned(), fixed.to_owned()]);
        ControlOrder::SignalNote { source: list, text, fixed }
    };
    let commands = bench.order(send_fix("another"));
    let note = JournalEntry::Note(bench.now, r#"{"note":"signals (list): read again"}"#.to_owned());
    assert!(recorded_entries(&commands).contains(&note) && alarms(&commands).is_empty(), "{commands:?}");
    assert_eq!(tally(&bench).by_source["list"].problem.as_deref(), Some("nor this"));
    bench.order(signal_problem(stdin, (1, 0)));
    let commands = bench.order(send_fix("nor this"));
    let is_told = |one: &Command| matches!(one, Command::Notify(crate::Notice::Note { fixed, .. }) if fixed[1] == "nor this");
    assert!(commands.iter().any(is_told), "{commands:?}");
    let tally = tally(&bench);
    let last_of = |door: &str| tally.by_source[door].problem.clone().unwrap();
    assert_eq!(last_of("list"), "nor this; fixed by a later reload");
    assert_eq!(last_of("stdin"), "nor this");
    for (door, is_alarm) in [(list, true), (stdin, false)] {
        let commands = bench.order(signal_problem(door, (1, 0)));
        assert_eq!(!alarms(&commands).is_empty(), is_alarm, "{door:?}");
    }
}
