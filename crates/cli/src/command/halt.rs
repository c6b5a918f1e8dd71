//! `halt`: stops opens from another terminal.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json};
use candlewick_app::configuration::control_paths;
use candlewick_app::control::{Halted, describe, halt};
use clap::Args;
use serde_json::json;
use std::error::Error;

/// Why.
#[derive(Debug, Args)]
#[command(
    after_help = "What is open cannot be cut short: it is tracked to its end. The bot is found by its journal: that \
                        of the configuration, or --journal as the bot was given it; and by --config from any folder, \
                        while one bot runs by it. The order goes through its socket and through the journal's \
                        database; a process that holds the journal and does not acknowledge it is an error.\nWhere no bot runs, an order in the journal \
                        and a file halt one that starts; `touch candlewick.db.HALT` does the same by hand.\n\n\
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
    let found = arguments.journal.load_of_bot(context);
    let (paths, journal) = found
        .and_then(|(loaded, url)| Ok((control_paths(&loaded)?, url)))
        .map_err(|failure| failure.help(BY_HAND))?;
    match block_on(halt(&paths, &journal, &arguments.reason))? {
        Halted::ByOrder(state) if context.global.json => {
            print_json(&json!({ "halted": true, "bot_runs": true, "state": state }))?;
        }
        Halted::ByOrder(state) => print(&describe(&state))?,
        Halted::ByFile(file) if context.global.json => {
            print_json(&json!({ "halted": true, "bot_runs": false, "halt_file": file }))?;
        }
        Halted::ByFile(file) => print(&format!(
            "No bot runs on {journal}. The file {} is there now, and an order in the journal: a bot that starts on it opens no \
             trade until `candlewick resume`. A bot with another journal is not halted: name it with --journal or --config.",
            file.display()
        ))?,
        Halted::ByJournal { .. } if context.global.json => {
            print_json(&json!({ "halted": true, "bot_runs": false, "halt_file": null }))?;
        }
        Halted::ByJournal { error } => print(&format!(
            "No bot runs on {journal}. An order in the journal halts a bot that starts on it, until `candlewick resume`. There is no \
             file beside it: {error}{}.",
            error.source().map_or(String::new(), |cause| format!(" ({cause})"))
        ))?,
        Halted::Unconfirmed { error, file } => {
            let file = file.display();
            let rest = error.help_text().map_or(String::new(), |help| format!("{help}; "));
            let help = format!(
                "{rest}the file {file} is there now, and a bot that looks for it halts within a second"
            );
            return Err(Failure::from(error).help(help));
        }
    }
    Ok(Ending::Done)
}
