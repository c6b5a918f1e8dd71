//! Maintainer commands: `cargo xtask bench`, `cargo xtask selftest` and `cargo xtask drill`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool prints")]

mod bench;
mod drill;
mod selftest;

use candlewick_app::bots::session_settings;
use candlewick_app::configuration::Loaded;
use candlewick_backtest::BacktestSettings;
use candlewick_engine::SessionSettings;
use candlewick_records::{fit_tables_to, table};
use candlewick_sdk::Millis;
use candlewick_sdk::testkit::CountingAllocator;
use clap::{Parser, Subcommand};
use serde_json::Value;
use std::process::ExitCode;
use tracing_subscriber::filter::LevelFilter;

/// Exit code for a broken promise.
const CHECK_FAILED: u8 = 5;
/// Maximum width of a table.
const COLUMNS: u16 = 160;

/// Counts the memory of a backtest.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Measures and checks Candlewick itself.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", after_help = "A broken promise exits with 5.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
    /// Log warnings and notices of the bot
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure backtests, relative to hand-written loops that make the same trades
    Bench(bench::BenchArguments),
    /// Check the error rates of the verdict on generated markets with a known edge
    Selftest(selftest::SelftestArguments),
    /// Run a bot at the embedded venue through a series of failures; takes a minute
    Drill,
}

/// Result of a command, with the promises that were broken.
struct Report {
    document: Value,
    broken: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let level = if arguments.verbose { LevelFilter::INFO } else { LevelFilter::ERROR };
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
    let result = match &arguments.command {
        Command::Bench(arguments) => bench::run(arguments),
        Command::Selftest(arguments) => selftest::run(arguments),
        Command::Drill => drill::run(),
    };
    match result {
        Ok(Report { document, broken }) => {
            println!("{}", if arguments.json { format!("{document:#}") } else { render(&document) });
            for promise in &broken {
                eprintln!("error: broken promise: {promise}");
            }
            if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) }
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the settings of a backtest: TOML over the defaults.
fn backtest_settings(text: &str) -> anyhow::Result<BacktestSettings> {
    let loaded = Loaded::of_text(text)?;
    let session = SessionSettings { longer_share_percent: None, ..session_settings(&loaded) };
    let simulation = loaded.config.simulation;
    Ok(BacktestSettings { session, simulation, price_every_ms: Millis::from_seconds(5) })
}

/// Renders a document as text: a table for each list, a line for each other value.
fn render(document: &Value) -> String {
    fit_tables_to(COLUMNS);
    let section = |(name, value): (&String, &Value)| match value.as_array().map(Vec::as_slice) {
        Some(rows @ [Value::Object(first), ..]) => {
            let mut columns: Vec<&str> = first.keys().map(String::as_str).collect();
            columns.sort_by_key(|column| !first[*column].is_string());
            let mut rendered = table(&columns);
            for row in rows {
                rendered.add_row(columns.iter().map(|column| cell(&row[*column])));
            }
            format!("\n{name}\n{rendered}\n")
        }
        _ => format!("{name}: {}", cell(value)),
    };
    let sections: Vec<String> = document.as_object().into_iter().flatten().map(section).collect();
    sections.join("\n")
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or(f64::NAN)),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join("; "),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name} {}", cell(value)));
            fields.collect::<Vec<_>>().join(", ")
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn document_renders_as_lines_and_tables() {
        let rows = json!([{ "name": "coin", "bots": 3, "rate": 0.5, "ns": { "median": 9.6 } }]);
        let text = render(&json!({ "caches": ["L1", "L2"], "passed": true, "worlds": rows }));
        assert!(text.starts_with("caches: L1; L2\npassed: true\n"), "{text}");
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(lines.contains(&vec!["name", "bots", "ns", "rate"]), "{text}");
        assert!(lines.contains(&vec!["coin", "3", "median", "9.6000", "0.5000"]), "{text}");
    }
}
