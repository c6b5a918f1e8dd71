//! The commands, one per file.
#![allow(
    clippy::doc_markdown,
    reason = "the documentation of arguments is the help that clap prints as it stands"
)]

mod backtest;
mod config;
mod control;
mod dashboard;
mod data;
mod doctor;
mod edge;
mod inspect;
mod journal;
mod live;
#[cfg(feature = "man")]
mod man;
mod monte_carlo;
mod paper;
mod report;
mod sandbox;
mod sensitivity;
mod signal;
mod strategy;
mod sweep;
mod tune;
mod walk_forward;

use crate::app::Arguments as Program;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::CommandKind;
use crate::output::print_as_it_is;
use clap::{Args, CommandFactory, Subcommand};
use clap_complete::Shell;

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
    Halt(control::HaltArguments),
    /// Let a halted bot open trades again: drawdown peak and loss streak are reset
    Resume(control::ResumeArguments),
    /// Hand a running bot a signal: it passes the same rules as a strategy's own
    Signal(signal::SignalArguments),
    /// Let a running bot read its settings again: limits may change, anything else is refused by name
    Reload(control::ReloadArguments),
    /// Status of a journal and its bot: money, open trades, orders of unknown status
    Status(inspect::StatusArguments),
    /// Serve the page of a bot, for a browser: candles, trades, equity, verdicts, limits; halt and resume
    Dashboard(dashboard::DashboardArguments),
    /// Events of a running bot as they happen, a JSON object a line
    Watch(inspect::WatchArguments),
    /// Alerts of a live run: try each channel
    #[command(subcommand)]
    Notify(doctor::NotifyCommand),
    /// One trade, from the candles before it to its settlement
    Explain(inspect::ExplainArguments),
    /// Why no trade was opened at a moment
    Why(inspect::WhyArguments),
    /// Performance report of a recorded session, or of two runs side by side
    Report(report::ReportArguments),
    /// Resolve an order of unknown status by hand
    Resolve(control::ResolveArguments),
    /// Replay a recorded session, and compare decisions and outcomes
    Parity(report::ParityArguments),
    /// List trades and their outcome
    Trades(inspect::TradesArguments),
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
    Completions(CompletionsArguments),
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
        Command::Doctor(arguments) => doctor::run_doctor(arguments, context),
        Command::Halt(arguments) => control::run_halt(arguments, context),
        Command::Resume(arguments) => control::run_resume(arguments, context),
        Command::Signal(arguments) => signal::run(arguments, context),
        Command::Reload(arguments) => control::run_reload(arguments, context),
        Command::Status(arguments) => inspect::run_status(arguments, context),
        Command::Dashboard(arguments) => dashboard::run(arguments, context),
        Command::Watch(arguments) => inspect::run_watch(arguments, context),
        Command::Notify(command) => doctor::run_notify(command, context),
        Command::Explain(arguments) => inspect::run_explain(arguments, context),
        Command::Why(arguments) => inspect::run_why(arguments, context),
        Command::Report(arguments) => report::run_report(arguments, context),
        Command::Resolve(arguments) => control::run_resolve(arguments, context),
        Command::Parity(arguments) => report::run_parity(arguments, context),
        Command::Trades(arguments) => inspect::run_trades(arguments, context),
        Command::Journal(command) => journal::run(command, context),
        Command::Edge(command) => edge::run(command, context),
        Command::Data(command) => data::run(command, context),
        Command::Strategy(command) => strategy::run(command, context),
        Command::Config(command) => config::run(command, context),
        Command::Completions(arguments) => run_completions(arguments),
        #[cfg(feature = "man")]
        Command::Man(arguments) => man::run(arguments),
    }
}

/// For which shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick completions bash > ~/.local/share/bash-completion/completions/candlewick\n  candlewick \
                  completions zsh > ~/.zfunc/_candlewick\n  candlewick completions fish > ~/.config/fish/completions/candlewick.fish"
)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

fn run_completions(arguments: &CompletionsArguments) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Program::command(), "candlewick", &mut script);
    print_as_it_is(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Ending::Done)
}
