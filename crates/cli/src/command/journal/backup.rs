//! `journal backup`: writes a consistent copy.

use crate::context::Context;
use crate::failure::Failure;
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_journal::{Verified, back_up};
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// Of which journal, and where to.
#[derive(Debug, Args)]
#[command(
    after_help = "A journal is copied as it stands at one moment, also while a bot writes it: its file alone, copied by other \
                  means, lacks what stands in the -wal file beside it. The copy is verified before it gets its name, is \
                  its owner's alone, and is held by no process: name it with --journal to read it or to go on with it. A file \
                  that is there is never replaced. A journal in PostgreSQL is copied with pg_dump.\n\nExamples:\n  \
                  candlewick journal backup 2026-01-05.db\n  candlewick journal backup /mnt/safe/run.db --journal run.db --json"
)]
pub(crate) struct BackupArguments {
    /// The file to make
    file: PathBuf,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct Copied {
    file: PathBuf,
    entries: u64,
    head_hash: String,
}

pub(super) fn run(arguments: &BackupArguments, context: &Context<'_>) -> Result<(), Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let Verified { entries, head_hash, .. } = block_on(back_up(&url, &arguments.file))?;
    let copied = Copied { file: arguments.file.clone(), entries, head_hash: head_hash.to_string() };
    show(&copied, context.global)
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, entries, head_hash } = self;
        write!(f, "{}: {entries} entries, verified; the last has the hash {head_hash}", file.display())
    }
}
