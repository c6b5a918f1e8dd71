//! `halt`: no more opens, from another terminal.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::journal::JournalArguments;
use crate::output::{print, print_json};
use candlewick_app::configuration::control_paths;
use candlewick_app::control::{describe, done, give_order};
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::{ControlError, ControlOrder, ControlPaths, Raised, RunState};
use clap::Args;
use serde_json::json;

/// Why.
#[derive(Debug, Args)]
#[command(
    after_help = "What is open cannot be cut short: it is tracked to its end. The bot is found by its journal: that \
                        of the configuration, or --journal as the bot was given it.\nWhere no bot runs, a file is made that halts one that starts; `touch \
                        candlewick.db.HALT` does the same by hand.\n\n\
                        Examples:\n  candlewick halt\n  candlewick halt --reason \"news at noon\" --config config/demo.toml\n  candlewick halt --journal run.db"
)]
pub(crate) struct HaltArguments {
    /// Why, for the journal
    #[arg(long, value_name = "TEXT", default_value = "ordered by hand")]
    reason: String,
    #[command(flatten)]
    journal: JournalArguments,
}

const BY_HAND: &str = "to halt a bot all the same, make the file that lies beside its journal, with .HALT after its \
                       name: candlewick.db.HALT";

pub(super) fn run(arguments: &HaltArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let found = arguments.journal.load(context);
    let (paths, journal) = found
        .and_then(|(loaded, url)| Ok((control_paths(&loaded)?, url)))
        .map_err(|failure| failure.help(BY_HAND))?;
    let order = ControlOrder::Halt { reason: arguments.reason.clone() };
    let failure = match give_order(&paths.socket, &order)? {
        Ok(answer) => match done(answer) {
            Ok(state) => return tell_halted(&state, context),
            Err(error) => error.into(),
        },
        Err(ControlError::NoBotListens { .. } | ControlError::NoSocketsHere) => {
            raise(&paths, &arguments.reason)?;
            return tell_raised(&paths, &journal, context);
        }
        // Nothing was sent, and nothing else is wrong.
        Err(error @ ControlError::ReasonTooLong { .. }) => return Err(error.into()),
        Err(error) => Failure::from(error),
    };
    // The bot was not seen to halt by order: it may yet see the file.
    raise(&paths, &arguments.reason)?;
    let path = paths.halt_file.path().display();
    Err(failure
        .help(format!("the file {path} is there now, and a bot that looks for it halts within a second")))
}

fn raise(paths: &ControlPaths, reason: &str) -> Result<Raised, Failure> {
    let path = paths.halt_file.path().display();
    paths.halt_file.raise(reason).map_err(|error| {
        Failure::new(FailureKind::Unexpected, error).context(format!("the file {path} cannot be made"))
    })
}

fn tell_halted(state: &RunState, context: &Context<'_>) -> Result<Ending, Failure> {
    if context.global.json {
        print_json(&json!({ "halted": true, "bot_runs": true, "state": state }))?;
    } else {
        print(&describe(state))?;
    }
    Ok(Ending::Done)
}

fn tell_raised(paths: &ControlPaths, journal: &JournalUrl, context: &Context<'_>) -> Result<Ending, Failure> {
    let path = paths.halt_file.path();
    if context.global.json {
        print_json(&json!({ "halted": true, "bot_runs": false, "halt_file": path }))?;
    } else {
        print(&format!(
            "No bot runs on {journal}. The file {} is there now: a bot that starts on it opens no trade until `candlewick \
             resume`. A bot with another journal is not halted: name it with --journal or --config.",
            path.display()
        ))?;
    }
    Ok(Ending::Done)
}
