use super::*;
use crate::Notice;
use crate::control::Phase as RunPhase;
use candlewick_engine::Halt;

const NEWS: i64 = 92_000;

fn halt_by_order(bench: &mut Bench, reason: &str) -> Vec<Command> {
    bench.order(ControlOrder::Halt { reason: reason.to_owned() })
}

fn recovered_from(entries: &[JournalEntry]) -> RecoveredState {
    let mut past = RecoveredState::default();
    for entry in entries {
        match entry {
            JournalEntry::Note(at, body) => past.apply_note(body, *at),
            JournalEntry::Event(event) => past.apply_event(event),
            _ => {}
        }
    }
    past
}

fn halt(reason: &str, ms: i64) -> Halt {
    Halt { at: Some(START + Millis::new(ms)), reason: reason.to_owned() }
}

#[test]
fn next_run_knows_when_and_why_the_operator_halted() {
    let mut bench = Bench::start(|_| {});
    let mut journal = recorded_entries(&halt_by_order(&mut bench, "first"));
    bench.at(5_000);
    journal.extend(recorded_entries(&halt_by_order(&mut bench, "still first")));
    journal.extend(recorded_entries(&bench.order(ControlOrder::Resume)));
    bench.at(NEWS);
    journal.extend(recorded_entries(&halt_by_order(&mut bench, "second")));
    let (first, still) = (halt("first", 0), halt("still first", 5_000));
    let second = Some(halt("second", NEWS));
    // If a crash separates the two entries of a halt, the reason is still the same.
    let mut known: Vec<Option<Halt>> =
        (0..=journal.len()).map(|end| recovered_from(&journal[..end]).halt()).collect();
    known.dedup();
    assert_eq!(known, [None, Some(first), Some(still), None, second.clone()]);
    let state = Bench::start(|parts| parts.recovered = recovered_from(&journal)).state();
    assert_eq!((state.phase, state.reason.as_deref()), (RunPhase::Halted, Some("second")));
    assert_eq!(state.halt, second);
}

#[test]
fn next_run_knows_why_the_program_halted() {
    let mut bench = Bench::start(|_| {});
    let mut commands = Vec::new();
    let reason = "trade #5 was settled with +10.00, but lost";
    bench.coordinator.halt(reason.to_owned(), &mut Step { now: START, commands: &mut commands });
    assert_eq!(recovered_from(&recorded_entries(&commands)).halt(), Some(halt(reason, 0)));
}

#[test]
fn reports_a_halt_while_the_run_stops() {
    let mut bench = Bench::start(|_| {});
    let phases = |commands: Vec<Command>| -> Vec<(RunPhase, Option<String>)> {
        let phase = |command| match command {
            Command::Notify(Notice::Phase { phase, reason }) => Some((phase, reason)),
            _ => None,
        };
        commands.into_iter().filter_map(phase).collect()
    };
    bench.step(Input::Stop(crate::StopReason::TimeUp));
    let halted = phases(halt_by_order(&mut bench, "the wallet lacks 5.00"));
    let reason = Some("the wallet lacks 5.00".to_owned());
    assert_eq!(halted, [(RunPhase::Halted, reason.clone()), (RunPhase::Stopping, reason)]);
    assert_eq!(phases(halt_by_order(&mut bench, "the wallet lacks 5.00")), []);
}

#[test]
fn reads_old_journals_with_the_reason_after_the_halt() {
    let control = EventKind::Control { control: Control::Halt };
    let event = Event { at: START, received: START, kind: control };
    let note = JournalEntry::Note(START, r#"{"alarm":"halted: maintenance"}"#.to_owned());
    let past = recovered_from(&[JournalEntry::Event(event), note]);
    assert_eq!(past.halt(), Some(halt("maintenance", 0)));
    assert_eq!(recovered_from(&[JournalEntry::Event(event)]).halt(), Some(Halt::default()));
}

#[test]
fn reports_a_rule_that_blocks_all_bots_once() {
    let risk = RiskSettings { daily_loss_limit: Decimal::from(5), ..RiskSettings::default() };
    let mut bench = Bench::with(|parts| parts.session = session(risk));
    let inputs = [Input::Start, Input::Answer(candles_answer(Vec::new(), START)), Input::Durable(Ok(()))];
    let blocked =
        inputs.into_iter().flat_map(|input| bench.step(input)).filter_map(|command| match command {
            Command::Notify(Notice::Blocked(all)) => Some(all),
            _ => None,
        });
    let blocked: Vec<_> = blocked.collect();
    let state = bench.state();
    // A loss of up to 5.00 is allowed, but the stake is 10.00.
    assert!(
        state.all_blocked && state.blocked[0].text.contains("exceeds the remaining 5.00"),
        "{:?}",
        state.blocked
    );
    assert_eq!((state.blocked.len(), blocked), (1, vec![state.blocked]));
}
