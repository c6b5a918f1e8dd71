//! `journal project`: updates the tables of a journal to its last entry.

use crate::context::Context;
use crate::failure::Failure;
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_journal::Holder;
use candlewick_runtime::{Projected, Projection, RuntimeError, project_journal};
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Of which journal, and how.
#[derive(Debug, Args)]
#[command(
    after_help = "The tables intents and figures and the view trades stand in the journal's own database, to be read with sqlite3 or psql; \
                  a bot keeps them within seconds of its entries, and catches up after a start. This command does the same where no \
                  bot runs: for a journal of an earlier program, or after a crash. Nothing that trades reads the tables; `journal verify` holds them to \
                  the entries.\n\nExamples:\n  candlewick journal project\n  candlewick journal project --rebuild --journal run.db --json"
)]
pub(crate) struct ProjectArguments {
    /// Empty the tables and make them again from the entries
    #[arg(long)]
    rebuild: bool,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct UpToDate {
    journal: String,
    entries: u64,
    intents: u64,
}

pub(super) fn run(arguments: &ProjectArguments, context: &Context<'_>) -> Result<(), Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let projection = if arguments.rebuild { Projection::Anew } else { Projection::CatchUp };
    let holder = Holder::of_this_process("candlewick journal project");
    let Projected { up_to, intents } = block_on(async {
        project_journal(&url, &holder, projection).await.map_err(|error| match error {
            RuntimeError::Journal(error) => Failure::from(error),
            other => other.into(),
        })
    })?;
    show(&UpToDate { journal: url.to_string(), entries: up_to.seq, intents }, context.global)
}

impl fmt::Display for UpToDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { journal, entries, intents } = self;
        write!(f, "{journal}: the tables hold {intents} intents, up to entry {entries}")
    }
}
