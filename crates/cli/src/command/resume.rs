//! `resume`: opens are allowed again.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::journal::JournalArguments;
use crate::output::{print, print_json};
use candlewick_app::configuration::control_paths;
use candlewick_app::control::{describe, done, give_order};
use candlewick_runtime::control::{ControlError, ControlOrder, ControlPaths, Removed, RunState};
use clap::Args;
use serde_json::json;

/// Which bot.
#[derive(Debug, Args)]
#[command(
    after_help = "Removes the HALT file, if there is one, and orders the running bot to go on; peak and loss streak start \
                        anew.\n\nExamples:\n  candlewick resume\n  candlewick resume --config config/demo.toml\n  candlewick resume \
                        --journal run.db"
)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &ResumeArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, _) = arguments.journal.load(context)?;
    let paths = control_paths(&loaded)?;
    let path = paths.halt_file.path().display();
    // First: while the file is there, a bot refuses the order.
    let removed = paths.halt_file.remove().map_err(|error| {
        let failure = Failure::new(FailureKind::Unexpected, error);
        failure.context(format!("the file {path} cannot be removed, so the bot stays halted"))
    })?;
    match (give_order(&paths.socket, &ControlOrder::Resume)?, removed) {
        (Ok(answer), _) => tell_resumed(&done(answer)?, removed, &paths, context),
        (Err(ControlError::NoBotListens { .. } | ControlError::NoSocketsHere), Removed::Now) => {
            tell_removed(&paths, context)
        }
        (Err(ControlError::NoBotListens { .. }), Removed::Before) => {
            let socket = paths.socket.display();
            let problem =
                format!("nothing to resume: no bot listens at {socket}, and there is no file {path}");
            Err(Failure::configuration(problem)
                .help("name the journal of the bot with --journal, or its configuration with --config"))
        }
        (Err(error), _) => Err(error.into()),
    }
}

fn tell_resumed(
    state: &RunState,
    removed: Removed,
    paths: &ControlPaths,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let path = paths.halt_file.path();
    if context.global.json {
        let removed = (removed == Removed::Now).then_some(path);
        print_json(&json!({ "bot_runs": true, "removed": removed, "state": state }))?;
    } else {
        if removed == Removed::Now {
            print(&format!("The file {} is removed.", path.display()))?;
        }
        print(&describe(state))?;
    }
    Ok(Ending::Done)
}

fn tell_removed(paths: &ControlPaths, context: &Context<'_>) -> Result<Ending, Failure> {
    let path = paths.halt_file.path();
    if context.global.json {
        print_json(&json!({ "bot_runs": false, "removed": path }))?;
    } else {
        print(&format!(
            "The file {} is removed. No bot runs here; one that was halted while it ran is still halted when it \
             starts again, until it is resumed then.",
            path.display()
        ))?;
    }
    Ok(Ending::Done)
}
