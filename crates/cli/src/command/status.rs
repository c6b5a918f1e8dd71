//! `status`: the status of a journal and its bot.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_app::status::Status;
use clap::Args;

/// Whose.
#[derive(Debug, Args)]
#[command(
    after_help = "Money and intents are read from the journal; a bot that runs is asked for its state besides.\n\n\
                  Examples:\n  candlewick status\n  candlewick status --journal run.db --json"
)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &StatusArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load_of_bot(context)?;
    show(&block_on(Status::read(&loaded, &url))?, context.global)?;
    Ok(Ending::Done)
}
