//! Live runs of the binary against a lying venue, written from the contract only, with its own record.
//!
//! By default the short rows run; `CANDLEWICK_ADVERSARY=all` runs all of them. Arguments filter rows by name.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test of its own, which prints its table")]

#[path = "../candlewick.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod candlewick;
mod clock;
#[path = "../http.rs"]
mod http;
mod judge;
mod lies;
mod market;
mod message_lies;
mod records;
mod scenarios;
mod trader;
mod venue;
mod world;

use judge::{Judgement, judge};
use scenarios::Scenario;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use trader::Trader;
use venue::Venue;
use world::World;

const AT_ONCE: usize = 24;
/// Seconds of a run during which trades are opened.
const SECONDS: u64 = 32;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let has_all = !words.is_empty() || std::env::var("CANDLEWICK_ADVERSARY").is_ok_and(|form| form == "all");
    let mut chosen = scenarios::all();
    chosen.retain(|row| has_all || row.is_short);
    chosen.retain(|row| words.is_empty() || words.iter().any(|word| row.name.contains(word)));
    let failed = play_all(&chosen);
    println!("{} scenarios, {failed} failed", chosen.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn play_all(chosen: &[Scenario]) -> usize {
    let (next, failed, printing) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(()));
    std::thread::scope(|scope| {
        for number in 0..AT_ONCE.min(chosen.len()) {
            let (next, failed, printing) = (&next, &failed, &printing);
            scope.spawn(move || {
                // Starting a bot is CPU-bound, so starts are spread over some seconds.
                std::thread::sleep(Duration::from_millis(150 * number as u64));
                while let Some(row) = chosen.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let judgement = play(row);
                    let _alone = printing.lock();
                    print_row(&row.name, &judgement);
                    failed.fetch_add(usize::from(!judgement.faults.is_empty()), Ordering::SeqCst);
                }
            });
        }
    });
    failed.into_inner()
}

fn print_row(name: &str, judgement: &Judgement) {
    let state = if judgement.faults.is_empty() { "ok" } else { "FAILED" };
    println!("{state:<7} {name:<44} {}", judgement.line);
    for fault in &judgement.faults {
        println!("        - {fault}");
    }
}

fn play(scenario: &Scenario) -> Judgement {
    let world = World::new(scenario.lies.clone(), scenario.outcomes, scenario.list_lag_ms);
    let delay = Duration::from_millis(scenario.reply_delay_ms);
    let venue = Venue::start(&scenario.name, world, scenario.detail, delay);
    let trader = Trader::new(&venue, scenario.loss_limit);
    let seconds = scenario.seconds.unwrap_or(SECONDS);
    let child = trader.start(seconds);
    let shown = trader.finish(child, seconds);
    let judgement = judge(scenario, &venue, &shown);
    if !judgement.faults.is_empty() && std::env::var_os("CANDLEWICK_ADVERSARY_LOG").is_some() {
        println!("{}\n{}", scenario.name, trader.read("log"));
    }
    judgement
}
