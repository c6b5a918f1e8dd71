//! `journal verify`: whether every entry is as it was written.

use crate::context::Context;
use crate::failure::Failure;
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_journal::{Reader, Verified};
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Which journal.
#[derive(Debug, Args)]
#[command(
    after_help = "Computes the chain of hashes again, from the first entry to the last. Exit code 5 when an entry is not as \
                  it was written. The hash of the last entry stands for all before it: noted elsewhere, it shows later \
                  that nobody made the journal anew.\n\nExamples:\n  candlewick journal verify\n  candlewick journal verify \
                  --journal run.db --json"
)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Sound {
    journal: String,
    entries: u64,
    head_hash: String,
}

impl Sound {
    fn of(journal: String, verified: Verified) -> Self {
        Self { journal, entries: verified.entries, head_hash: verified.head_hash.to_string() }
    }
}

pub(super) fn run(arguments: &VerifyArguments, context: &Context<'_>) -> Result<(), Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let verified = block_on(async { Reader::open(&url).await?.verify().await })?;
    show(&Sound::of(url.to_string(), verified), context.global)
}

impl fmt::Display for Sound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { journal, entries, head_hash } = self;
        write!(f, "{journal}: {entries} entries, each as it was written; the last has the hash {head_hash}")
    }
}
