//! `journal`: maintenance of journals.

mod backup;
mod compact;
mod export;
mod project;
mod verify;

use crate::context::Context;
use crate::failure::{Ending, Failure};
use clap::Subcommand;

/// What to do with a journal.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  candlewick journal verify\n  candlewick journal backup 2026-01-05.db --journal run.db\n  candlewick journal compact small.db --keep 90d\n  candlewick journal export january --journal run.db\n  candlewick journal project --rebuild"
)]
pub(crate) enum JournalCommand {
    /// Check that every entry is as it was written
    Verify(verify::VerifyArguments),
    /// Copy a journal, also while a bot writes it
    Backup(backup::BackupArguments),
    /// Copy a journal without its old candles and polls
    Compact(compact::CompactArguments),
    /// Write trades, intents and figures as files for other programs
    Export(export::ExportArguments),
    /// Bring the tables of trades, intents and figures up to the last entry
    Project(project::ProjectArguments),
}

pub(super) fn run(command: &JournalCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        JournalCommand::Verify(arguments) => verify::run(arguments, context)?,
        JournalCommand::Backup(arguments) => backup::run(arguments, context)?,
        JournalCommand::Compact(arguments) => compact::run(arguments, context)?,
        JournalCommand::Export(arguments) => export::run(arguments, context)?,
        JournalCommand::Project(arguments) => project::run(arguments, context)?,
    }
    Ok(Ending::Done)
}
