//! Streamed prices in whole runs: under faults, and encrypted. Like an author's program, this one registers a strategy
//! that reads prices. Without a command as its first argument it runs itself and checks the results.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failed read or command fails the test")]

#[path = "../candlewick.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod candlewick;
#[path = "../certificate.rs"]
mod certificate;
#[cfg(unix)]
mod encrypted;
#[path = "../excerpt.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod excerpt;
mod faults;
mod golden;
#[path = "../golden_case.rs"]
mod golden_case;
#[path = "../recording.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod recording;
#[path = "../seconds.rs"]
mod seconds;
#[path = "../serving.rs"]
#[allow(dead_code, unused_imports, reason = "other tests use the rest")]
mod serving;
mod strategy;

use candlewick::{Folder, Run};
use candlewick_cli::App;
use serde_json::Value;
use std::process::ExitCode;

const COMMANDS: [&str; 4] = ["live", "parity", "status", "trades"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|first| COMMANDS.contains(&first.as_str())) {
        return App::with_builtin_strategies().with_strategy::<strategy::FirstMove>().run();
    }
    // Arguments of the test harness select among its tests.
    let chosen: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let mut tests: Vec<(&str, fn())> = vec![
        (
            "a_session_under_every_fault_of_the_stream_misses_no_candle_opens_nothing_twice_and_replays",
            faults::check,
        ),
        ("recorded_journal_with_streamed_prices_reads_as_recorded", golden::check),
    ];
    #[cfg(unix)]
    tests.extend([
        ("prices_stream_encrypted_from_a_server_that_is_known", encrypted::check_known as fn()),
        ("a_server_that_is_not_known_is_told_nothing", encrypted::check_unknown),
    ]);
    for (name, test) in tests {
        if chosen.is_empty() || chosen.iter().any(|word| name.contains(word.as_str())) {
            test();
            println!("test {name} ... ok");
        }
    }
    ExitCode::SUCCESS
}

fn run(folder: &Folder, arguments: &[&str]) -> Run {
    folder.run_program(&std::env::current_exe().unwrap(), arguments)
}

fn events_named<'a>(events: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["event"] == name)
}

fn check_parity(folder: &Folder) {
    let parity = run(folder, &["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!((&parity["ok"], parity["unexplained"].as_u64()), (&Value::Bool(true), Some(0)), "{parity}");
    assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
}
