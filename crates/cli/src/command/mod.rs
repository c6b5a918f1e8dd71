//! The commands, one per file.
#![allow(
    clippy::doc_markdown,
    reason = "the documentation of arguments is the help that clap prints as it stands"
)]

mod backtest;
mod completions;
mod conditions;
mod config;
mod dashboard;
mod data;
mod doctor;
mod edge;
mod explain;
mod gates;
mod halt;
mod journal;
mod live;
#[cfg(feature = "man")]
mod man;
mod monte_carlo;
mod notify;
mod paper;
mod parity;
mod reload;
mod report;
mod resolve;
mod resume;
mod sandbox;
mod sensitivity;
mod signal;
mod signal_check;
mod status;
mod strategy;
mod sweep;
mod sweep_run;
mod trades;
mod tune;
mod verified;
mod walk_forward;
mod watch;
mod why;

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::CommandKind;
use clap::Subcommand;

/// What the program can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Replay stored candles through the configured bots
    Backtest(backtest::BacktestArguments),
    /// Search the parameters of a bot over stored candles, on all cores; resumable
    Sweep(sweep::SweepArguments),
    /// Choose the parameters of a bot on past candles and test them on those that came after, window by window
    WalkForward(walk_forward::WalkForwardArguments),
    /// What a backtest could have come to: its candles or trades resampled in blocks
    MonteCarlo(monte_carlo::MonteCarloArguments),
    /// What latency, payout, price path and stress decide of a backtest: it is repeated on other settings of the venue
    Sensitivity(sensitivity::SensitivityArguments),
    /// From a rule to a checked result: candles, checks, sweep, walk-forward, a verdict on one page, and what to do next
    Tune(tune::TuneArguments),
    /// Run the bots against a venue's demo wallet; with --sandbox, against the embedded one
    Live(live::LiveArguments),
    /// Run the bots on a venue's candles and prices with simulated trades; needs no trading token
    Paper(paper::PaperArguments),
    /// Serve both HTTP APIs over stored candles, with a demo wallet, for anyone's client
    Sandbox(sandbox::SandboxArguments),
    /// Check everything that a live run needs: configuration, credentials, both APIs, clocks, disk, journal, data
    Doctor(doctor::DoctorArguments),
    /// Stop a bot from opening trades, now or at its next start
    Halt(halt::HaltArguments),
    /// Let a halted bot open trades again: drawdown peak and loss streak are reset
    Resume(resume::ResumeArguments),
    /// Hand a running bot a signal: it passes the same rules as a strategy's own
    Signal(signal::SignalArguments),
    /// Let a running bot read its settings again: limits may change, anything else is refused by name
    Reload(reload::ReloadArguments),
    /// Status of a journal and its bot: money, open trades, orders of unknown status
    Status(status::StatusArguments),
    /// Serve the page of a bot, for a browser: candles, trades, equity, verdicts, limits; halt and resume
    Dashboard(dashboard::DashboardArguments),
    /// Events of a running bot as they happen, a JSON object a line
    Watch(watch::WatchArguments),
    /// Alerts of a live run: try each channel
    #[command(subcommand)]
    Notify(notify::NotifyCommand),
    /// One trade, from the candles before it to its settlement
    Explain(explain::ExplainArguments),
    /// Why no trade was opened at a moment
    Why(why::WhyArguments),
    /// Performance report of a recorded session, or of two runs side by side
    Report(report::ReportArguments),
    /// Resolve an order of unknown status by hand
    Resolve(resolve::ResolveArguments),
    /// Replay a recorded session, and compare decisions and outcomes
    Parity(parity::ParityArguments),
    /// List trades and their outcome
    Trades(trades::TradesArguments),
    /// Verify a journal, or make a copy of it
    #[command(subcommand)]
    Journal(journal::JournalCommand),
    /// Statistics of an edge: break-even, trades needed, risk of ruin, verdict on trades
    #[command(subcommand)]
    Edge(edge::EdgeCommand),
    /// Import, check and manage stored candles
    #[command(subcommand)]
    Data(data::DataCommand),
    /// List, show and check strategies
    #[command(subcommand)]
    Strategy(strategy::StrategyCommand),
    /// Show or check the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print what a shell completes commands with
    Completions(completions::CompletionsArguments),
    /// Write the pages of the manual, one for each command
    #[cfg(feature = "man")]
    Man(man::ManArguments),
}

impl Command {
    pub(crate) const fn kind(&self) -> CommandKind {
        match self {
            Self::Live(_) | Self::Paper(_) => CommandKind::Trades,
            Self::Strategy(_) => CommandKind::Checks,
            _ => CommandKind::Computes,
        }
    }
}

pub(crate) fn run(command: &Command, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        Command::Backtest(arguments) => backtest::run(arguments, context),
        Command::Sweep(arguments) => sweep::run(arguments, context),
        Command::WalkForward(arguments) => walk_forward::run(arguments, context),
        Command::MonteCarlo(arguments) => monte_carlo::run(arguments, context),
        Command::Sensitivity(arguments) => sensitivity::run(arguments, context),
        Command::Tune(arguments) => tune::run(arguments, context),
        Command::Live(arguments) => live::run(arguments, context),
        Command::Paper(arguments) => paper::run(arguments, context),
        Command::Sandbox(arguments) => sandbox::run(arguments, context),
        Command::Doctor(arguments) => doctor::run(arguments, context),
        Command::Halt(arguments) => halt::run(arguments, context),
        Command::Resume(arguments) => resume::run(arguments, context),
        Command::Signal(arguments) => signal::run(arguments, context),
        Command::Reload(arguments) => reload::run(arguments, context),
        Command::Status(arguments) => status::run(arguments, context),
        Command::Dashboard(arguments) => dashboard::run(arguments, context),
        Command::Watch(arguments) => watch::run(arguments, context),
        Command::Notify(command) => notify::run(command, context),
        Command::Explain(arguments) => explain::run(arguments, context),
        Command::Why(arguments) => why::run(arguments, context),
        Command::Report(arguments) => report::run(arguments, context),
        Command::Resolve(arguments) => resolve::run(arguments, context),
        Command::Parity(arguments) => parity::run(arguments, context),
        Command::Trades(arguments) => trades::run(arguments, context),
        Command::Journal(command) => journal::run(command, context),
        Command::Edge(command) => edge::run(command, context),
        Command::Data(command) => data::run(command, context),
        Command::Strategy(command) => strategy::run(command, context),
        Command::Config(command) => config::run(command, context),
        Command::Completions(arguments) => completions::run(arguments),
        #[cfg(feature = "man")]
        Command::Man(arguments) => man::run(arguments),
    }
}
