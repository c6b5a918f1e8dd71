//! Maintainer commands: `cargo xtask bench`, `cargo xtask selftest` and `cargo xtask drill`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool prints")]

mod bench;
mod drill;
mod selftest;

use anyhow::Context;
use candlewick_app::bots::session_settings;
use candlewick_app::configuration::LoadedConfig;
use candlewick_backtest::BacktestSettings;
use candlewick_engine::SessionSettings;
use candlewick_history::{GenerateSettings, known_market};
use candlewick_sdk::testkit::CountingAllocator;
use candlewick_sdk::{Millis, Symbol};
use clap::{Parser, Subcommand};
use serde_json::Value;
use std::process::ExitCode;
use tracing_subscriber::filter::LevelFilter;

/// Time of the first generated candle: 2026-01-05 00:00 UTC, a Monday.
const START: Millis = Millis::new(1_767_571_200_000);
const CHECK_FAILED: u8 = 5;

/// Counts allocations, to measure the memory use of a backtest.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Benchmarks and checks of Candlewick
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", after_help = "A broken promise exits with code 5.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Accepted for scripts; the output is always JSON
    #[arg(long, global = true)]
    json: bool,
    /// Log the bot's warnings and notices
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare backtests with hand-written loops that make the same trades
    Bench(bench::BenchArguments),
    /// Check the error rates of the verdict on generated markets with a known edge
    Selftest(selftest::SelftestArguments),
    /// Run a bot on the embedded venue through a series of failures (takes a minute)
    Drill,
}

struct Report {
    document: Value,
    broken: Vec<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let level = if arguments.verbose { LevelFilter::INFO } else { LevelFilter::ERROR };
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
    let Report { document, broken } = match &arguments.command {
        Command::Bench(arguments) => bench::run(arguments)?,
        Command::Selftest(arguments) => selftest::run(arguments)?,
        Command::Drill => drill::run()?,
    };
    println!("{document:#}");
    for promise in &broken {
        eprintln!("error: broken promise: {promise}");
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn backtest_settings(text: &str) -> anyhow::Result<BacktestSettings> {
    let loaded = LoadedConfig::from_text(text)?;
    let session = SessionSettings { longer_share_percent: None, ..session_settings(&loaded) };
    let simulation = loaded.config.simulation;
    Ok(BacktestSettings { session, simulation, price_every_ms: Millis::from_seconds(5) })
}

fn market_settings(symbol: &str, start: Millis, days: u32) -> anyhow::Result<GenerateSettings> {
    let symbol: Symbol = symbol.parse()?;
    let market = known_market(symbol).with_context(|| format!("{symbol} is not a known market"))?;
    Ok(GenerateSettings::for_market(symbol, market, start, days))
}
