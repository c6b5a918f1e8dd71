//! `config init`, `config show`, `config check` and `config schema`.

mod init;

use crate::combinations::{describe_combinations, describe_gates};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::{print, print_coloured, print_json, print_verbatim};
use anstyle::AnsiColor;
use candlewick_app::configuration::{
    self, BaseLayer, LoadedConfig, Problems, RealMoneyRequest, check_secrets,
};
use candlewick_app::inspection::{
    describe_ladders, describe_ruin_risk, estimate_request_demand, find_problems,
};
use candlewick_app::lints::{self, LintFinding, LintInput, OUTGROWN_STAKE, Stage, UNAFFORDABLE_STAKE};
use clap::Subcommand;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  candlewick config check --config config/demo.toml")]
pub(crate) enum ConfigCommand {
    /// Create a commented configuration from your answers to a few questions
    Init(init::InitArguments),
    /// Show the effective configuration with the origin of each value; secrets are masked
    #[command(after_help = "Example:\n  candlewick config show --config config/demo.toml")]
    Show,
    /// Check the configuration, including the strategies of the bots
    #[command(after_help = "Example:\n  candlewick config check config/demo.toml")]
    Check {
        /// Configuration files, in addition to those given with --config
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Also run the checks for real-money trading, as `live --real` does
        #[arg(long)]
        real: bool,
    },
    /// Print the JSON Schema of the configuration
    #[command(after_help = "Example:\n  candlewick config schema > candlewick.schema.json")]
    Schema,
}

pub(super) fn run(command: &ConfigCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        ConfigCommand::Init(arguments) => init::run(arguments, context)?,
        ConfigCommand::Show => show(context)?,
        ConfigCommand::Check { files, real } => {
            let real = if *real { RealMoneyRequest::Requested } else { RealMoneyRequest::NotRequested };
            let hint = "fix the problems above and run the check again";
            let files: Vec<PathBuf> = context.global.config.iter().chain(files).cloned().collect();
            check(&files, real, context).map_err(|failure| failure.or_hint(hint))?;
        }
        ConfigCommand::Schema => print_json(&configuration::schema())?,
    }
    Ok(Ending::Done)
}

fn show(context: &Context<'_>) -> Result<(), Failure> {
    let loaded = LoadedConfig::read(&context.global.config, BaseLayer::Sandbox, Vec::new())?;
    if context.global.json {
        print_json(&configuration::to_json(&loaded))
    } else {
        print_verbatim(configuration::to_toml(&loaded).trim_end())
    }
}

fn check(files: &[PathBuf], real: RealMoneyRequest, context: &Context<'_>) -> Result<(), Failure> {
    let loaded = LoadedConfig::read(files, BaseLayer::Sandbox, Vec::new())?;
    let mut problems = find_problems(&loaded, real, context.registry);
    problems.extend(check_secrets(&loaded));
    Problems::check(problems)?;
    let mut notices = describe_ladders(&loaded);
    let limit = loaded.config.broker.client.requests_per_second;
    let demand = estimate_request_demand(&loaded, context.registry);
    notices.extend(describe_combinations(&loaded.config.bots, context.registry));
    let gates = describe_gates(&loaded.config.bots, context.registry).into_iter();
    notices.extend(gates.map(|gate| format!("gate of {gate}")));
    let (ruin, halved) = describe_ruin_risk(&loaded);
    notices.extend(ruin);
    let findings = lints::run(&LintInput::new(&loaded, context.registry), Stage::Check);
    let count = |lint: &str| findings.iter().filter(|finding| finding.lint == lint).count();
    let (idle, stopping) = (count(UNAFFORDABLE_STAKE), count(OUTGROWN_STAKE));
    notices.extend(findings.into_iter().map(|LintFinding { text, .. }| text));
    notices.extend(demand.as_ref().and_then(|demand| demand.describe_shortage(limit)));
    let requests = demand.map(|demand| demand.summary(limit));
    let bots = loaded.config.bots.len();
    if context.global.json {
        let document = json!({
            "sound": idle == 0 && halved == 0 && stopping == 0, "bots": bots, "idle_bots": idle, "halved_bots": halved,
            "stopping_bots": stopping, "notices": notices, "requests": requests
        });
        return print_json(&document);
    }
    for notice in notices {
        print(&notice)?;
    }
    if let Some(requests) = requests {
        print(&requests)?;
    }
    let plural = if bots == 1 { "" } else { "s" };
    let of_bots = format!("of {bots} bot{plural}");
    let concern = if idle > 0 {
        Some(format!(
            "{idle} {of_bots} cannot open a trade (see above): raise account.initial_balance, or change the stakes or their limits"
        ))
    } else if stopping > 0 {
        Some(format!("{stopping} {of_bots} will stop trading once the stake exceeds max_stake (see above)"))
    } else {
        (halved > 0).then(|| {
            format!(
                "{halved} {of_bots} would lose half of the balance or more in most simulated runs (see above): stake less, or limit the loss"
            )
        })
    };
    let (colour, answer) = match concern {
        Some(concern) => (AnsiColor::Yellow, format!("The configuration is valid, but {concern}.")),
        None => (AnsiColor::Green, format!("The configuration is valid: {bots} bot{plural}.")),
    };
    let style = colour.on_default().bold();
    print_coloured(&format!("\n{style}{answer}{style:#}"))
}
