//! `reload`: makes a running bot reload its settings.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json};
use candlewick_app::configuration::control_paths;
use candlewick_app::control::{describe, reload};
use clap::Args;
use serde_json::json;

/// Which bot.
#[derive(Debug, Args)]
#[command(
    after_help = "The bot reads its own files, environment and arguments again, those that it was started with, and validates the \
                  whole; kill -HUP does the same (a terminal that is closed ends a bot that was started in it). Limits ([risk]) and what [runtime] says of alarms and patience may change; anything \
                  else is refused by name, as is a wrong configuration: then nothing has changed. What is open, in doubt or halted \
                  stays so.\n\nExamples:\n  candlewick reload\n  candlewick reload --config config/demo.toml\n  candlewick reload --journal \
                  run.db"
)]
pub(crate) struct ReloadArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &ReloadArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    // Where the bot's own configuration is wrong by now, its journal is still found by --journal.
    let (loaded, journal) = arguments.journal.load_of_bot(context)?;
    let state = block_on(reload(&control_paths(&loaded)?, &journal))?;
    if context.global.json {
        print_json(&json!({ "reloaded": state.reloaded, "state": state }))?;
        return Ok(Ending::Done);
    }
    match &state.reloaded {
        Some(reloaded) if !reloaded.changes.is_empty() => {
            print("The settings were read again:")?;
            for change in &reloaded.changes {
                print(&format!("  {change}"))?;
            }
        }
        _ => print("The settings were read again; nothing has changed.")?,
    }
    print(&describe(&state))?;
    Ok(Ending::Done)
}
