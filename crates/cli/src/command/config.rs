//! `config show`, `config check` and `config schema`.

use super::Context;
use crate::configuration::{self, Base, Loaded, Problem, Problems, RealMoney, check_secrets};
use crate::crew::{Crew, problem_of_session, session_settings};
use crate::failure::{Ending, Failure};
use crate::output::{print, print_json};
use candlewick_api::clock::SystemClock;
use candlewick_api::{ApiError, HttpVenue};
use candlewick_engine::{Session, check_ladders};
use candlewick_history::DataSource;
use clap::Subcommand;
use serde_json::json;
use std::sync::Arc;

/// The merged configuration.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  candlewick config check --config config/demo.toml")]
pub(crate) enum ConfigCommand {
    /// The merged configuration, each value with its origin; secrets are masked
    #[command(after_help = "Example:\n  candlewick config show --config config/demo.toml")]
    Show,
    /// Find everything that is wrong, down to each bot's strategy
    #[command(after_help = "Example:\n  candlewick config check --config config/demo.toml")]
    Check {
        /// The second yes to real money, as for `live`
        #[arg(long)]
        real: bool,
    },
    /// The JSON Schema of a configuration
    #[command(after_help = "Example:\n  candlewick config schema > candlewick.schema.json")]
    Schema,
}

pub(super) fn run(command: &ConfigCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        ConfigCommand::Show => show(context)?,
        ConfigCommand::Check { real } => {
            let real = if *real { RealMoney::Asked } else { RealMoney::NotAsked };
            check(real, context)?;
        }
        ConfigCommand::Schema => print_json(&configuration::schema())?,
    }
    Ok(Ending::Done)
}

fn show(context: &Context<'_>) -> Result<(), Failure> {
    let loaded = Loaded::read(&context.global.config, Base::Sandbox, Vec::new())?;
    if context.global.json {
        print_json(&configuration::to_json(&loaded))
    } else {
        print(configuration::to_toml(&loaded).trim_end())
    }
}

fn check(real: RealMoney, context: &Context<'_>) -> Result<(), Failure> {
    let loaded = Loaded::read(&context.global.config, Base::Sandbox, Vec::new())?;
    let notices = Problems::check(problems_of(&loaded, real, context)).map(|()| notices_of(&loaded))?;
    let bots = loaded.config.bots.len();
    if context.global.json {
        return print_json(&json!({ "bots": bots, "notices": notices }));
    }
    for notice in notices {
        print(&notice)?;
    }
    let plural = if bots == 1 { "" } else { "s" };
    print(&format!("The configuration is sound: {bots} bot{plural}."))
}

/// Everything that is wrong, as far as it can be told without candles and without the venue.
fn problems_of(loaded: &Loaded, real: RealMoney, context: &Context<'_>) -> Vec<Problem> {
    let config = &loaded.config;
    let mut problems: Vec<Problem> = loaded.check_mode(real).err().into_iter().collect();
    problems.extend(check_secrets(loaded));
    problems.extend(problem_of_client(loaded));
    for (index, text) in config.sandbox.data.iter().enumerate() {
        if let Err(error) = text.parse::<DataSource>() {
            problems.push(loaded.problem(&format!("sandbox.data[{index}]"), error.to_string()));
        }
    }
    if let Err(error) = config.simulation.check() {
        problems.push(loaded.problem("simulation", error.to_string()));
    }
    if let Err(error) = config.sandbox.check() {
        problems.push(loaded.problem("sandbox", error.to_string()));
    }
    match Crew::build(loaded, context.registry) {
        Ok(crew) => {
            let settings = session_settings(loaded);
            let made = Session::new(&settings, crew.strategies).and_then(|_| check_ladders(&settings));
            problems.extend(made.err().map(|error| problem_of_session(&error, loaded)));
        }
        Err(found) => problems.extend(found.into_list()),
    }
    problems
}

/// What keeps the client from being made; no request leaves.
fn problem_of_client(loaded: &Loaded) -> Option<Problem> {
    // Credentials that cannot be read are a problem of their own.
    let credentials = configuration::credentials(loaded).unwrap_or_default();
    let client =
        HttpVenue::new(loaded.config.broker.client.clone(), credentials, Arc::new(SystemClock::new()));
    client.err().map(|error| match error {
        ApiError::Settings { key, value, problem } => {
            loaded.problem(&format!("broker.{key}"), problem).value(format!("{value:?}"))
        }
        other => loaded.problem("broker", other.to_string()),
    })
}

fn notices_of(loaded: &Loaded) -> Vec<String> {
    let ladders = check_ladders(&session_settings(loaded)).unwrap_or_default();
    ladders.into_iter().map(|notice| notice.text).collect()
}
