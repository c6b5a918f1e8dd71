//! `status`: the status of a journal and its bot.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_app::status::Status;
use candlewick_runtime::control::RunState;
use clap::Args;

/// Whose.
#[derive(Debug, Args)]
#[command(
    after_help = "Money and intents are read from the journal; a bot that runs is asked for its state besides. Without --journal \
                  it is the configured journal, candlewick.db in this folder unless [journal] url names another; other journals \
                  that lie here are named on stderr. With --quiet no table is printed: the exit code answers.\n\n\
                  Examples:\n  candlewick status\n  candlewick status --journal run.db --json\n  candlewick status --running --quiet"
)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Health check: end with exit code 5 if no bot answers, an API of the venue is silent, or candles are late
    #[arg(long)]
    running: bool,
}

pub(super) fn run(arguments: &StatusArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load_of_bot(context)?;
    let status = block_on(Status::read(&loaded, &url))?;
    if context.global.json || !context.global.quiet {
        show(&status, context.global)?;
    }
    if arguments.running && status.bot.is_none() {
        return Err(Failure::new(
            FailureKind::Check,
            anyhow::anyhow!("no bot answers on {}", status.journal),
        ));
    }
    let problems = status.bot.as_ref().map(RunState::venue_problems).unwrap_or_default();
    if arguments.running && !problems.is_empty() {
        return Err(Failure::new(
            FailureKind::Check,
            anyhow::anyhow!("the bot on {} cannot trade: {}", status.journal, problems.join("; ")),
        ));
    }
    Ok(Ending::Done)
}
