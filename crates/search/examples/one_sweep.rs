//! Runs one implementation of the bench `sweep` once, for instruction counts and profilers:
//! `one_sweep <declared|black-box|naive|shared|lists|fixture> [periods]`, with 50 sets per period. `fixture` runs nothing
//! and shows the common overhead. `BENCHMARKS.md` has the commands.

#[path = "../benches/sweep/fixture.rs"]
mod fixture;

use candlewick_search::sweep::DeclarationMode;
use fixture::{Fixture, Result, Set};
use std::hint::black_box;
use std::process::ExitCode;

const PERIODS: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [way] => run(way, PERIODS),
        [way, periods] => periods.parse().ok().and_then(|periods| run(way, periods)),
        _ => None,
    }
    .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn run(way: &str, periods: usize) -> Option<()> {
    let last = format!("period=2..{}", periods + 1);
    let fixture = Fixture::new(100_000, [&last, "oversold=12..30:2", "overbought=70..90:5"]);
    let sets = fixture.sets();
    match way {
        "declared" => once(|| fixture::results(&fixture.sweep(DeclarationMode::Trusted, 1))),
        "black-box" => once(|| fixture::results(&fixture.sweep(DeclarationMode::Ignored, 1))),
        "naive" => by_hand(&fixture, &sets, fixture::by_naive_loops),
        "shared" => by_hand(&fixture, &sets, fixture::by_shared_series),
        "lists" => by_hand(&fixture, &sets, fixture::by_lists),
        "fixture" => once(Vec::new),
        _ => return None,
    }
    Some(())
}

fn by_hand(fixture: &Fixture, sets: &[Set], run: fn(&Fixture, &[Set]) -> Vec<Result>) {
    once(|| run(fixture, sets));
}

/// Runs only the work that is counted.
#[inline(never)]
fn once(run: impl Fn() -> Vec<Result>) {
    black_box(run());
}
