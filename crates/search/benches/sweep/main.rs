//! Cost of a sweep trial compared with hand-written loops: 1,000 sets of Wilder's RSI, 100,000 minutes.
//!
//! All make the same trades, which is checked before measuring. The sweep uses a Session with every rule, the simulated
//! venue, exact money, the figures of each trial and the trial journal. The hand-written loops only trade.
//!
//! `cargo bench -p candlewick-search --bench sweep` prints backtests per second on one core and on two, and the ratios.
//! `... --bench sweep -- NAME` runs only the implementations with NAME in their names.
//! `... --bench sweep -- --memory` runs 10,000 sets over 1,000,000 candles and prints the peak memory.

mod fixture;

use candlewick_search::sweep::DeclarationMode;
use fixture::{Fixture, by_lists, by_naive_loops, by_shared_series, results};
use std::hint::black_box;
use std::time::Duration;

const ROUNDS: usize = 5;

#[derive(Clone, Copy)]
struct Took {
    real: Duration,
    busy: Duration,
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time; no event takes part")]
fn time_of<T>(run: impl Fn() -> T) -> Took {
    let (start, busy) = (std::time::Instant::now(), busy_so_far());
    black_box(run());
    Took { real: start.elapsed(), busy: busy_so_far().saturating_sub(busy) }
}

/// Returns the processor time of this process, which excludes other processes.
fn busy_so_far() -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may contain anything. User and system time are 12 and 13 fields after it.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u32>().ok());
    TICK * ticks.sum::<u32>()
}

#[allow(clippy::print_stdout, reason = "the table is what this bench is for")]
fn measure_speed(only: &str) {
    let fixture = Fixture::new(100_000, ["period=2..21", "oversold=12..30:2", "overbought=70..90:5"]);
    let sets = fixture.sets();
    let ours = results(&fixture.sweep(DeclarationMode::Trusted, 1));
    for (name, others) in [
        ("black box", results(&fixture.sweep(DeclarationMode::Ignored, 1))),
        ("naive", by_naive_loops(&fixture, &sets)),
        ("shared series", by_shared_series(&fixture, &sets)),
        ("lists", by_lists(&fixture, &sets)),
    ] {
        assert!(ours == others, "{name} does not make the same trades");
    }
    let trades: u64 = ours.iter().map(|result| result.trades).sum();
    println!("{} sets, {trades} trades, the same in all", sets.len());
    let ways: [(&str, &dyn Fn()); 7] = [
        ("by hand, naive", &|| drop(black_box(by_naive_loops(&fixture, &sets)))),
        ("by hand, each index once", &|| drop(black_box(by_shared_series(&fixture, &sets)))),
        ("by hand, lists of signals", &|| drop(black_box(by_lists(&fixture, &sets)))),
        ("sweep, black box", &|| drop(black_box(fixture.sweep(DeclarationMode::Ignored, 1)))),
        ("sweep, declared", &|| drop(black_box(fixture.sweep(DeclarationMode::Trusted, 1)))),
        ("sweep, black box, two cores", &|| drop(black_box(fixture.sweep(DeclarationMode::Ignored, 2)))),
        ("sweep, declared, two cores", &|| drop(black_box(fixture.sweep(DeclarationMode::Trusted, 2)))),
    ];
    // A profiler may need only one implementation.
    let ways: Vec<_> = ways.into_iter().filter(|(name, _)| name.contains(only)).collect();
    let mut best = [Took { real: Duration::MAX, busy: Duration::MAX }; 7];
    for _ in 0..ROUNDS {
        for ((_, run), best) in ways.iter().zip(&mut best) {
            let took = time_of(run);
            best.real = best.real.min(took.real);
            best.busy = best.busy.min(took.busy);
        }
    }
    let rate = |took: Duration| sets.len() as f64 / took.as_secs_f64();
    let Some(first) = best.first().copied() else { return };
    println!("{:<28} {:>9} {:>11} {:>16}", "", "per s", "per s busy", "x first (busy)");
    for ((name, _), took) in ways.iter().zip(&best) {
        let ratio = took.busy.as_secs_f64() / first.busy.as_secs_f64();
        println!("{name:<28} {:>9.0} {:>11.0} {ratio:>16.2}", rate(took.real), rate(took.busy));
    }
}

fn status(field: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    let kilobytes = line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1024.0
}

#[allow(clippy::print_stdout, reason = "the figure is what this bench is for")]
fn measure_memory() {
    const CANDLES: usize = 1_000_000;
    let fixture = Fixture::new(CANDLES, ["period=2..21", "oversold=11..30:1", "overbought=70..94:1"]);
    let data = (CANDLES * size_of::<candlewick_sdk::Candle>()) as f64;
    // Resets the peak, so that generating the candles does not count.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = status("VmRSS");
    let rows = fixture.sweep(DeclarationMode::Trusted, 2);
    let most = status("VmHWM");
    println!("{} sets over {CANDLES} candles of {:.1} MB", rows.len(), data / 1e6);
    println!("{:.1} MB before, peak {:.1} MB", before / 1e6, most / 1e6);
    println!("peak without other memory held before: {:.2} x data", (most - before + data) / data);
}

fn main() {
    if std::env::args().any(|argument| argument == "--memory") {
        measure_memory();
    } else {
        let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
        measure_speed(&only.unwrap_or_default());
    }
}
