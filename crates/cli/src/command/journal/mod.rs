//! `journal`: what keeps a journal sound.

mod backup;
mod verify;

use crate::context::Context;
use crate::failure::{Ending, Failure};
use clap::Subcommand;

/// What to do with a journal.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  candlewick journal verify\n  candlewick journal backup 2026-01-05.db --journal run.db"
)]
pub(crate) enum JournalCommand {
    /// Check that every entry is as it was written
    Verify(verify::VerifyArguments),
    /// Copy a journal, also while a bot writes it
    Backup(backup::BackupArguments),
}

pub(super) fn run(command: &JournalCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        JournalCommand::Verify(arguments) => verify::run(arguments, context)?,
        JournalCommand::Backup(arguments) => backup::run(arguments, context)?,
    }
    Ok(Ending::Done)
}
