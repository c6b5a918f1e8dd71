//! `strategy`: lists, describes, checks and creates strategies.

pub(super) mod check;
mod new;

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::host;
use crate::output::{print, print_json, table};
use candlewick_app::bots::suggest_strategy;
use candlewick_app::configuration::FileKind;
use candlewick_app::validation::ChildProgram;
use candlewick_sdk::parameters::Parameter;
use candlewick_sdk::{Registry, StrategyEntry};
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::Path;

#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  candlewick strategy show rsi-reversal")]
pub(crate) enum StrategyCommand {
    /// List all strategies
    #[command(after_help = "Example:\n  candlewick strategy list")]
    List,
    /// Show a strategy and its parameters
    #[command(after_help = "Example:\n  candlewick strategy show rsi-reversal")]
    Show {
        /// Name of the strategy
        name: String,
    },
    /// Check a strategy for lookahead, warm-up, determinism and more; exits with 5 on failure
    Check(check::CheckArguments),
    /// Create a crate with a new strategy, its tests, a program and a bot
    New(new::NewArguments),
    /// Make decisions on candles from a parent process (internal; used by strategy check and sweep)
    #[command(hide = true, after_help = "Example:\n  candlewick strategy check rsi-reversal")]
    Decide {
        /// Ignored arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

pub(super) fn run(command: &StrategyCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        StrategyCommand::List => list(context)?,
        StrategyCommand::Show { name } => show(find_strategy(name, context.registry)?, context)?,
        StrategyCommand::Check(arguments) => check::run(arguments, context)?,
        StrategyCommand::New(arguments) => new::run(arguments, context)?,
        StrategyCommand::Decide { .. } => check::answer_decision_request(context)?,
    }
    Ok(Ending::Done)
}

pub(crate) fn child_program() -> Result<ChildProgram, Failure> {
    if let Some(itself) = host().and_then(|host| host.child_program()) {
        return Ok(itself);
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed_check(format!("cannot locate this program: {error}")))?;
    Ok(ChildProgram { program, arguments: vec!["strategy".into(), "decide".into()] })
}

fn list(context: &Context<'_>) -> Result<(), Failure> {
    let entries = context.registry.entries();
    if context.global.json {
        return print_json(&entries.iter().map(to_json).collect::<Vec<_>>());
    }
    let mut lines = table(["strategy", "version", "about"]);
    for entry in entries {
        lines.add_row([&entry.name, &entry.version, &entry.about]);
    }
    print(&lines.render())
}

fn show(entry: &StrategyEntry, context: &Context<'_>) -> Result<(), Failure> {
    if context.global.json {
        return print_json(&to_json(entry));
    }
    let prices = if entry.wants_prices { "\nUses prices between candle closes." } else { "" };
    let head = format!("{} {}\n{}{prices}", entry.name, entry.version, entry.about);
    if entry.parameters.is_empty() {
        return print(&format!("{head}\n\nNo parameters.\n\n{}", example_toml(entry)));
    }
    let mut lines = table(["parameter", "type", "default", "range", "about"]);
    for parameter in &entry.parameters {
        let Parameter { name, about, default, kind, .. } = parameter;
        lines.add_row([
            name.clone(),
            kind.clone(),
            default.to_string(),
            format_range(parameter),
            about.clone(),
        ]);
    }
    print(&format!("{head}\n\n{}\n\n{}", lines.render(), example_toml(entry)))
}

fn example_toml(entry: &StrategyEntry) -> String {
    let pair = |parameter: &Parameter| format!("{} = {}", parameter.name, parameter.default);
    let defaults = entry.parameters.iter().map(pair).collect::<Vec<_>>().join(", ");
    let params = if defaults.is_empty() { String::new() } else { format!("\nparams = {{ {defaults} }}") };
    format!(
        "[[bots]]\nname = \"my-bot\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nstrategy = \"{}\"{params}\nclose_type = \"05:00\"\nstake = {{ kind = \
         \"fixed\", amount = 10.0 }}",
        entry.name
    )
}

fn find_strategy<'a>(name: &str, registry: &'a Registry) -> Result<&'a StrategyEntry, Failure> {
    registry.find(name).ok_or_else(|| {
        let problem = format!("unknown strategy \"{name}\"");
        let path = Path::new(name);
        let help = if path.is_file() || path.extension().is_some_and(|ending| ending == "toml") {
            FileKind::detect(path).unwrap_or(FileKind::Rule).usage_hint(path)
        } else {
            suggest_strategy(name, registry)
        };
        Failure::configuration(problem).hint(help)
    })
}

fn format_range(parameter: &Parameter) -> String {
    match (parameter.minimum, parameter.maximum) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("{low} or more"),
        (None, Some(high)) => format!("{high} or less"),
        (None, None) => String::new(),
    }
}

fn to_json(entry: &StrategyEntry) -> Value {
    let parameter = |parameter: &Parameter| {
        let Parameter { name, about, default, minimum, maximum, kind } = parameter;
        json!({
            "name": name, "type": kind, "default": default, "minimum": minimum, "maximum": maximum, "about": about,
        })
    };
    json!({
        "name": entry.name,
        "version": entry.version,
        "about": entry.about,
        "wants_prices": entry.wants_prices,
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}
