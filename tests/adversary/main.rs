//! Live runs of the binary against a venue that lies, written from the contract alone, with a record of its own.
//!
//! By default the short rows run, each lie once, and nights of a minute; `CANDLEWICK_ADVERSARY=all` runs all of them,
//! `night:3600` only nights of so many seconds. Words on the command line choose by name.
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
mod nights;
mod records;
mod scenarios;
mod telling;
mod trader;
mod venue;
mod world;

use judge::{Judgement, judge};
use nights::Night;
use scenarios::Scenario;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use trader::Trader;
use venue::Venue;
use world::World;

const AT_ONCE: usize = 24;
/// Seconds of a run in which trades are opened.
const SECONDS: u64 = 32;

const MAX_FAULTS: usize = 6;
const SHORT_NIGHT: u64 = 60;

enum Row {
    Scenario(Scenario),
    Night(Night, u64),
}

impl Row {
    fn name(&self) -> &str {
        match self {
            Self::Scenario(scenario) => &scenario.name,
            Self::Night(night, _) => night.name(),
        }
    }

    fn play(&self) -> Judgement {
        match self {
            Self::Scenario(scenario) => play(scenario),
            Self::Night(night, seconds) => night.play(*seconds),
        }
    }
}

fn rows(form: &str) -> Vec<Row> {
    if let Some(seconds) = form.strip_prefix("night:") {
        let seconds = seconds.parse().expect("a night lasts whole seconds");
        return [Night::Prices(None), Night::Movements].map(|night| Row::Night(night, seconds)).into();
    }
    let nights = Night::ALL.map(|night| Row::Night(night, SHORT_NIGHT));
    let scenarios = scenarios::all().into_iter().filter(|scenario| form == "all" || scenario.is_short);
    nights.into_iter().chain(scenarios.map(Row::Scenario)).collect()
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let form = std::env::var("CANDLEWICK_ADVERSARY").unwrap_or_default();
    let form = if words.is_empty() || !form.is_empty() { form.as_str() } else { "all" };
    let mut chosen = rows(form);
    chosen.retain(|row| words.is_empty() || words.iter().any(|word| row.name().contains(word)));
    let failed = play_all(&chosen);
    println!("{} scenarios, {failed} failed", chosen.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn play_all(chosen: &[Row]) -> usize {
    let (next, failed, printing) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(()));
    std::thread::scope(|scope| {
        for number in 0..AT_ONCE.min(chosen.len()) {
            let (next, failed, printing) = (&next, &failed, &printing);
            scope.spawn(move || {
                // Starts compute; they are spread over some seconds.
                std::thread::sleep(Duration::from_millis(150 * number as u64));
                while let Some(row) = chosen.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let judgement = row.play();
                    let _alone = printing.lock();
                    print_row(row.name(), &judgement);
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
    for fault in judgement.faults.iter().take(MAX_FAULTS) {
        println!("        - {fault}");
    }
    if judgement.faults.len() > MAX_FAULTS {
        println!("        - and {} more", judgement.faults.len() - MAX_FAULTS);
    }
}

fn print_log(name: &str, judgement: &Judgement, trader: &Trader) {
    if !judgement.faults.is_empty() && std::env::var_os("CANDLEWICK_ADVERSARY_LOG").is_some() {
        println!("{name}\n{}", trader.read("log"));
    }
}

fn play(scenario: &Scenario) -> Judgement {
    let world = World::new(scenario.lies.clone(), scenario.outcomes, scenario.list_lag_ms);
    let delay = Duration::from_millis(scenario.reply_delay_ms);
    let venue = Venue::start(&scenario.name, world, scenario.detail, delay);
    let trader = Trader::new(&venue, scenario.loss_limit, None);
    let seconds = scenario.seconds.unwrap_or(SECONDS);
    let child = trader.start(seconds);
    let shown = trader.finish(child, seconds);
    let judgement = judge(scenario, &venue, &shown);
    print_log(&scenario.name, &judgement, &trader);
    judgement
}
