//! Cost per candle of the twelve rules of `tests/twelve_rules.rs`, compared with the same strategies in Rust.
//!
//! `cargo bench -p candlewick-search --bench rules` prints nanoseconds per candle for the strategy alone and for a whole backtest.
//! Each figure is the minimum of many alternating rounds. `... --bench rules -- NAME` runs only strategies with NAME in their names.
//! `... --bench rules -- NAME rust|rule` repeats only one implementation, for a profiler.
#![allow(clippy::unwrap_used, missing_docs, reason = "what cannot be made or run ends the bench")]

#[path = "../../tests/five_strategies/mod.rs"]
mod five_strategies;
#[path = "../../tests/fixtures/mod.rs"]
mod fixtures;

use candlewick_backtest::{BacktestSettings, NullRecorder};
use candlewick_sdk::{CandleAnswers, CandleSeries, Interval, LongerCandles, Strategy, StrategyEntry};
use five_strategies::pairs;
use fixtures::{MONDAY, backtest, minutes, no_limits};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Duration;

/// Number of candles and answers per block, as in a backtest.
const BLOCK: usize = 1_024;
const ANSWERS: usize = 8;

const ROUNDS: usize = 60;
/// Number of days of one-minute candles.
const DAYS: u32 = 35;

struct Side {
    entry: StrategyEntry,
    params: Value,
}

impl Side {
    fn from_rust(entry: StrategyEntry) -> Self {
        Self { entry, params: json!({}) }
    }

    fn from_rule(params: Value) -> Self {
        let entry = candlewick_rules::entry().for_params(&params).unwrap().into_owned();
        Self { entry, params }
    }

    fn settings(&self) -> BacktestSettings {
        let bot = json!({ "strategy": self.entry.name, "params": self.params });
        fixtures::settings(&bot, &no_limits(), 10_000_000)
    }

    fn built(&self) -> Box<dyn Strategy> {
        self.entry.build(&self.params, &self.settings().session.bots[0].context(None)).unwrap()
    }

    fn show(&self, candles: &CandleSeries) -> u64 {
        let mut strategy = self.built();
        let mut longer = LongerCandles::new(Interval::MINUTE, strategy.longer_intervals()).unwrap();
        let mut signals = 0;
        if !longer.is_empty() {
            for candle in candles.candles() {
                signals += u64::from(black_box(strategy.on_candle(candle)).is_some());
                longer.feed_longer_candles_after(candle, &mut *strategy);
            }
            return signals;
        }
        let mut answers = CandleAnswers::with_capacity(ANSWERS);
        for mut rest in candles.candles().chunks(BLOCK) {
            while !rest.is_empty() {
                answers.clear();
                let shown = strategy.feed_until_limit(rest, ANSWERS, &mut answers);
                signals += black_box(&answers).len() as u64;
                rest = &rest[shown..];
            }
        }
        signals
    }

    fn backtest(&self, candles: &CandleSeries) -> usize {
        backtest(&self.settings(), &self.entry, candles, &mut NullRecorder).book.rows().len()
    }
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time; no event takes part")]
fn time_of<T>(run: impl Fn() -> T) -> Duration {
    let start = std::time::Instant::now();
    black_box(run());
    start.elapsed()
}

/// Runs two functions alternately and returns the minimum nanoseconds per candle of each.
fn least_of(candles: usize, one: &dyn Fn() -> u64, other: &dyn Fn() -> u64) -> (f64, f64) {
    let mut least = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (least, run) in least.iter_mut().zip([one, other]) {
            *least = time_of(run).min(*least);
        }
    }
    let nanos = least.map(|least| least.as_nanos() as f64 / candles as f64);
    (nanos[0], nanos[1])
}

#[allow(clippy::print_stdout, reason = "the table is what this bench is for")]
fn compare(pairs: Vec<(StrategyEntry, Value)>, candles: &CandleSeries) {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpu.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(": ").nth(1));
    let count = candles.candles().len();
    println!(
        "{}, {count} candles, ns for each, the least of {ROUNDS} rounds",
        model.unwrap_or("unknown processor")
    );
    println!(
        "{:<20} {:>8} {:>7} {:>7} {:>6} {:>9} {:>7} {:>7} {:>6}",
        "strategy alone", "signals", "Rust", "rule", "ratio", "backtest:", "Rust", "rule", "ratio"
    );
    for (rust, rule) in pairs {
        let name = rust.name.clone();
        let (rust, rule) = (Side::from_rust(rust), Side::from_rule(rule));
        let signals = rust.show(candles);
        // Before it is warm, a rule may signal at a different candle than the strategy in Rust.
        assert!(rule.show(candles).abs_diff(signals) <= 1 + signals / 100, "{name}: not the same signals");
        let trades = rust.backtest(candles);
        assert_eq!(rule.backtest(candles), trades, "{name}: not the same trades");
        let (one, other) = least_of(count, &|| rust.show(candles), &|| rule.show(candles));
        let whole = least_of(count, &|| rust.backtest(candles) as u64, &|| rule.backtest(candles) as u64);
        println!(
            "{name:<20} {signals:>8} {one:>7.2} {other:>7.2} {:>6.2} {trades:>9} {:>7.2} {:>7.2} {:>6.2}",
            other / one,
            whole.0,
            whole.1,
            whole.1 / whole.0
        );
    }
}

fn repeat((rust, rule): (StrategyEntry, Value), side: &str, candles: &CandleSeries) {
    let side = if side == "rust" { Side::from_rust(rust) } else { Side::from_rule(rule) };
    for _ in 0..10 * ROUNDS {
        black_box(side.show(candles));
    }
}

fn main() {
    let candles = minutes(MONDAY, DAYS);
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let only = arguments.first().map_or("", String::as_str);
    let mut pairs = Vec::from(pairs());
    pairs.retain(|(rust, _)| rust.name.contains(only));
    match arguments.get(1) {
        Some(side) => pairs.into_iter().for_each(|pair| repeat(pair, side, &candles)),
        None => compare(pairs, &candles),
    }
}
