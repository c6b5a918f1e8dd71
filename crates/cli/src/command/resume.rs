//! `resume`: allows opens again.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json};
use candlewick_app::configuration::control_paths;
use candlewick_app::control::{Resumed, describe, limit_reached, resume};
use clap::Args;
use serde_json::json;

/// Which bot.
#[derive(Debug, Args)]
#[command(
    after_help = "Removes the HALT file, if there is one, and orders the running bot to open trades again; drawdown peak and \
                        loss streak are reset.\n\nExamples:\n  candlewick resume\n  candlewick resume --config config/demo.toml\n  candlewick resume \
                        --journal run.db"
)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &ResumeArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, journal) = arguments.journal.load_of_bot(context)?;
    let paths = control_paths(&loaded)?;
    match block_on(resume(&paths, &journal))? {
        Resumed::ByOrder { state, removed } if context.global.json => {
            print_json(&json!({ "bot_runs": true, "removed": removed, "state": state }))?;
        }
        Resumed::ByOrder { state, removed } => {
            if let Some(file) = removed {
                print(&format!("The file {} is removed.", file.display()))?;
            }
            print(&describe(&state))?;
        }
        Resumed::TakenBack { removed, orders } if context.global.json => {
            print_json(&json!({ "bot_runs": false, "removed": removed, "orders_taken_back": orders }))?;
        }
        Resumed::TakenBack { removed, .. } => {
            if let Some(file) = removed {
                print(&format!("The file {} is removed.", file.display()))?;
            }
            print(
                "No bot runs here, and no order waits for one any more. One that was halted while it ran is still halted \
                 when it starts again, until it is resumed then.",
            )?;
        }
        Resumed::NothingToResume => {
            let (socket, file) = (paths.socket.display(), paths.halt_file.path().display());
            let problem =
                format!("nothing to resume: no bot listens at {socket}, and there is no file {file}");
            if let Some(ended) = block_on(async { Ok::<_, Failure>(limit_reached(&journal).await) })? {
                let problem = format!("nothing to resume: the run of this journal ended, {}", ended.words());
                return Err(Failure::configuration(problem).help("a run that begins is held by the same limit: `candlewick halt` before it begins, then `candlewick resume`, from which its limits count anew"));
            }
            let help = "name the journal of the bot with --journal, or its configuration with --config";
            return Err(Failure::configuration(problem).help(help));
        }
    }
    Ok(Ending::Done)
}
