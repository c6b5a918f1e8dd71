//! The commands, one per file.
#![allow(clippy::doc_markdown, reason = "the documentation of arguments is the help printed by clap")]

mod backtest;
mod config;
mod confirm;
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
use crate::output::print_verbatim;
use crate::terminal::{terminal_columns, wrap};
use clap::builder::Styles;
use clap::{Args, CommandFactory, Subcommand};
use clap_complete::Shell;
use console::Term;
use std::fmt::Write as _;

const HELP_GROUPS: [(&str, &[&str]); 6] = [
    (
        "Research",
        &["backtest", "sweep", "walk-forward", "monte-carlo", "sensitivity", "tune", "confirm", "edge"],
    ),
    ("Trade", &["live", "paper", "sandbox", "halt", "resume", "signal", "reload", "resolve"]),
    ("Inspect", &["status", "watch", "dashboard", "explain", "why", "trades", "report", "parity", "journal"]),
    ("Data", &["data"]),
    ("Author", &["strategy", "strategy new"]),
    ("Setup", &["config", "config init", "doctor", "notify", "completions", "man"]),
];

const DEFAULT_HELP_COLUMNS: usize = 100;

/// Commands of the program, in the same order as in [`HELP_GROUPS`].
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Replay stored candles through the configured bots
    Backtest(backtest::BacktestArguments),
    /// Search a bot's parameters on stored candles, using all cores; resumable
    Sweep(sweep::SweepArguments),
    /// Optimize a bot's parameters on past candles and test them on later ones, window by window
    WalkForward(walk_forward::WalkForwardArguments),
    /// Simulate the range of possible backtest results by block bootstrap of candles or trades
    MonteCarlo(monte_carlo::MonteCarloArguments),
    /// Repeat a backtest with other latencies, payouts and price paths, and in a stress test
    Sensitivity(sensitivity::SensitivityArguments),
    /// Check a rule, search its parameters, test it walk-forward, and report the verdict and the next step
    Tune(tune::TuneArguments),
    /// Test bots once on sealed candles; the answer is whether they show an edge
    Confirm(confirm::ConfirmArguments),
    /// Compute edge statistics: break-even, trades needed, risk of ruin, verdict
    #[command(subcommand)]
    Edge(edge::EdgeCommand),
    /// Run the bots on a venue's demo wallet, or on the embedded sandbox (--sandbox)
    Live(live::LiveArguments),
    /// Simulate trades of the bots on a venue's live candles and prices, without a trading token
    Paper(paper::PaperArguments),
    /// Simulate a venue for any client: HTTP APIs, stored candles and a demo wallet
    Sandbox(sandbox::SandboxArguments),
    /// Stop a bot from opening trades, now or at its next start
    Halt(control::HaltArguments),
    /// Let a halted bot open trades again, and reset its drawdown peak and loss streak
    Resume(control::ResumeArguments),
    /// Send a signal to a running bot; the limits for strategy signals apply
    Signal(signal::SignalArguments),
    /// Reload the settings of a running bot; only limits and runtime.* settings may change
    Reload(control::ReloadArguments),
    /// Resolve an order of unknown status manually
    Resolve(control::ResolveArguments),
    /// Show the status of a bot: money, open trades, orders of unknown status
    Status(inspect::StatusArguments),
    /// Follow the events of a running bot as JSON Lines
    Watch(inspect::WatchArguments),
    /// Serve a web dashboard that shows candles, trades, equity, verdicts and limits, and can halt and resume the bot
    Dashboard(dashboard::DashboardArguments),
    /// Explain a trade, from the candles before the decision to the settlement
    Explain(inspect::ExplainArguments),
    /// Explain why no trade was opened at a given time
    Why(inspect::WhyArguments),
    /// List trades with their outcomes
    Trades(inspect::TradesArguments),
    /// Report the performance of a recorded session, or compare two runs
    Report(report::ReportArguments),
    /// Replay a recorded session and compare decisions and outcomes
    Parity(report::ParityArguments),
    /// Verify, copy, compact or export a journal
    #[command(subcommand)]
    Journal(journal::JournalCommand),
    /// Import, check and manage stored candles
    #[command(subcommand)]
    Data(data::DataCommand),
    /// List, show, check and create strategies
    #[command(subcommand)]
    Strategy(strategy::StrategyCommand),
    /// Create, show or check the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Check the requirements for a live run: configuration, credentials, APIs, clocks, disk, journal, data
    Doctor(doctor::DoctorArguments),
    /// Test the alert channels for live runs
    #[command(subcommand)]
    Notify(doctor::NotifyCommand),
    /// Print shell completions
    Completions(CompletionsArguments),
    /// Write manual pages, one per command
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

pub(crate) fn help_template() -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let program = Command::augment_subcommands(clap::Command::new("candlewick"));
    let all_names = HELP_GROUPS.iter().flat_map(|(_, names)| *names);
    let width = all_names.map(|name| name.len()).max().unwrap_or_default();
    let columns = terminal_columns(&Term::stdout()).unwrap_or(DEFAULT_HELP_COLUMNS);
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (heading, names) in HELP_GROUPS {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let Some(about) = find_summary(&program, name) else { continue };
            let room = " ".repeat(width - name.len());
            let row = format!("  {literal}{name}{literal:#}{room}  {about}");
            let _ = writeln!(text, "{}", wrap(&row, Some(columns)));
        }
        text.push('\n');
    }
    let _ = write!(text, "{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}

fn find_summary(program: &clap::Command, name: &str) -> Option<String> {
    let found = name.split(' ').try_fold(program, |command, part| command.find_subcommand(part));
    Some(found?.get_about()?.to_string())
}

pub(crate) fn run(command: &Command, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        Command::Backtest(arguments) => backtest::run(arguments, context),
        Command::Sweep(arguments) => sweep::run(arguments, context),
        Command::WalkForward(arguments) => walk_forward::run(arguments, context),
        Command::MonteCarlo(arguments) => monte_carlo::run(arguments, context),
        Command::Sensitivity(arguments) => sensitivity::run(arguments, context),
        Command::Tune(arguments) => tune::run(arguments, context),
        Command::Confirm(arguments) => confirm::run(arguments, context),
        Command::Edge(command) => edge::run(command, context),
        Command::Live(arguments) => live::run(arguments, context),
        Command::Paper(arguments) => paper::run(arguments, context),
        Command::Sandbox(arguments) => sandbox::run(arguments, context),
        Command::Halt(arguments) => control::run_halt(arguments, context),
        Command::Resume(arguments) => control::run_resume(arguments, context),
        Command::Signal(arguments) => signal::run(arguments, context),
        Command::Reload(arguments) => control::run_reload(arguments, context),
        Command::Resolve(arguments) => control::run_resolve(arguments, context),
        Command::Status(arguments) => inspect::run_status(arguments, context),
        Command::Watch(arguments) => inspect::run_watch(arguments, context),
        Command::Dashboard(arguments) => dashboard::run(arguments, context),
        Command::Explain(arguments) => inspect::run_explain(arguments, context),
        Command::Why(arguments) => inspect::run_why(arguments, context),
        Command::Trades(arguments) => inspect::run_trades(arguments, context),
        Command::Report(arguments) => report::run_report(arguments, context),
        Command::Parity(arguments) => report::run_parity(arguments, context),
        Command::Journal(command) => journal::run(command, context),
        Command::Data(command) => data::run(command, context),
        Command::Strategy(command) => strategy::run(command, context),
        Command::Config(command) => config::run(command, context),
        Command::Doctor(arguments) => doctor::run_doctor(arguments, context),
        Command::Notify(command) => doctor::run_notify(command, context),
        Command::Completions(arguments) => run_completions(arguments),
        #[cfg(feature = "man")]
        Command::Man(arguments) => man::run(arguments),
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick completions bash > ~/.local/share/bash-completion/completions/candlewick\n  candlewick \
                  completions zsh > ~/.zfunc/_candlewick\n  candlewick completions fish > ~/.config/fish/completions/candlewick.fish"
)]
pub(crate) struct CompletionsArguments {
    /// Shell to generate completions for
    shell: Shell,
}

fn run_completions(arguments: &CompletionsArguments) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Program::command(), "candlewick", &mut script);
    print_verbatim(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Ending::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_every_command_once_in_the_help() {
        let mut program = Program::command();
        let help = program.render_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let grouped: Vec<&str> = HELP_GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let own = grouped.iter().copied().filter(|name| !name.contains(' ') && *name != "man");
        let commands = program.get_subcommands().map(clap::Command::get_name);
        let commands = commands.filter(|name| !["help", "man"].contains(name));
        assert_eq!(commands.collect::<Vec<_>>(), own.collect::<Vec<_>>());
        for name in grouped {
            match find_summary(&program, name) {
                Some(about) => assert!(help.contains(&format!("{name} {about}")), "{name}: {help}"),
                None => assert!(name == "man" && cfg!(not(feature = "man")), "{name}"),
            }
        }
        for (heading, _) in HELP_GROUPS {
            assert!(help.contains(&format!(" {heading}: ")), "{heading}: {help}");
        }
    }
}
