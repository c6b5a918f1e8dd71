use super::*;
use crate::StopReason;
use crate::reload::NewSettings;
use candlewick_engine::{ReloadNote, ReloadTrigger};

const ORDER: ControlOrder = ControlOrder::Reload { by: ReloadTrigger::Command };

fn read(bench: &mut Bench, settings: NewSettings) -> Vec<Command> {
    bench.answer(Answer::Settings(Ok(Box::new(settings))))
}

fn entries(commands: &[Command]) -> Vec<String> {
    let entry = |command: &Command| match command {
        Command::Record(JournalEntry::Note(_, text)) => {
            let note = ReloadNote::parse(text).unwrap();
            Some(note.map_or("note".to_owned(), |note| format!("{:?}", note.reloaded.changes)))
        }
        Command::Record(JournalEntry::Event(event)) => match event.kind {
            EventKind::Control { control } => Some(format!("{control:?}")),
            _ => None,
        },
        _ => None,
    };
    commands.iter().filter_map(entry).collect()
}

fn settings(max_open_trades: u32) -> NewSettings {
    NewSettings {
        risk: RiskSettings { max_open_trades, ..RiskSettings::default() },
        runtime: RuntimeSettings { stop_patience_s: 7, hold_ms: 5, ..RuntimeSettings::default() },
        unreloaded_inputs: Vec::new(),
    }
}

fn bench() -> Bench {
    Bench::start(|parts| {
        let risk = serde_json::to_value(RiskSettings::default()).unwrap();
        parts.header.settings = serde_json::json!({ "session": { "risk": risk }, "runtime": parts.settings });
    })
}

#[test]
fn reads_settings_one_at_a_time_and_notes_them_before_the_event() {
    let mut bench = bench();
    let asked = bench.order(ORDER);
    assert!(asks(&asked, RequestId::Settings) && answer_in(&asked).is_none(), "{asked:?}");
    assert_eq!(entries(&asked), [""; 0]);
    let second = bench.step(Input::Order(ControlOrderId(2), ORDER));
    assert!(
        problem_in(&second).is_some_and(|problem| problem.contains("another reload is in progress")),
        "{second:?}"
    );
    let done = read(&mut bench, settings(1));
    let changes = "[\"risk.max_open_trades 3 -> 1\", \"runtime.stop_patience_s 30 -> 7\"]";
    assert_eq!(entries(&done), [changes, "Reload"], "what cannot change is not taken over");
    let Some(ControlAnswer::Done { state }) = answer_in(&done) else { panic!("{done:?}") };
    assert_eq!(state.reloaded.as_ref().unwrap().changes.len(), 2);
    // The next change is compared with the current settings.
    bench.step(Input::Order(ControlOrderId(3), ORDER));
    assert_eq!(entries(&read(&mut bench, settings(1))), ["[]", "Reload"]);
    bench.step(Input::Order(ControlOrderId(4), ORDER));
    let kept = vec!["up.toml has changed".to_owned()];
    let told = read(&mut bench, NewSettings { unreloaded_inputs: kept, ..settings(1) });
    assert_eq!(entries(&told), ["[\"up.toml has changed\"]", "Reload"]);
}

#[test]
fn stopping_run_rejects_a_reload() {
    let mut bench = bench();
    bench.step(Input::Order(ControlOrderId(1), ORDER));
    bench.step(Input::Stop(StopReason::TimeUp));
    let late = read(&mut bench, settings(1));
    assert!(matches!(answer_in(&late), Some(ControlAnswer::Refused { .. }) | None), "{late:?}");
    assert!(!entries(&late).contains(&"Reload".to_owned()));
}
