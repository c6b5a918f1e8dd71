//! `journal verify`: whether every entry is as it was written.

use crate::context::Context;
use crate::failure::Failure;
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_journal::{Reader, Verified};
use candlewick_runtime::{RuntimeError, check_snapshots};
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Which journal.
#[derive(Debug, Args)]
#[command(
    after_help = "Computes the chain of hashes again, from the first entry to the last, and each snapshot from the entries \
                  before it. Exit code 5 when one is not as it was written. The hash of the last entry stands for all before it: noted elsewhere, it shows later \
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
    /// Requests and answers that the chain covers.
    raw_exchanges: u64,
    /// Those that it does not, because an earlier program wrote them.
    raw_exchanges_outside: u64,
}

impl Sound {
    fn of(journal: String, verified: Verified) -> Self {
        Self {
            journal,
            entries: verified.entries,
            head_hash: verified.head_hash.to_string(),
            raw_exchanges: verified.exchanges,
            raw_exchanges_outside: verified.exchanges_outside,
        }
    }
}

pub(super) fn run(arguments: &VerifyArguments, context: &Context<'_>) -> Result<(), Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let verified = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let verified = reader.verify().await?;
        check_snapshots(&mut reader).await?;
        Ok::<_, RuntimeError>(verified)
    })?;
    show(&Sound::of(url.to_string(), verified), context.global)
}

impl fmt::Display for Sound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { journal, entries, head_hash, raw_exchanges, raw_exchanges_outside } = self;
        write!(
            f,
            "{journal}: {entries} entries and {raw_exchanges} raw exchanges, each as it was written; the last entry has the \
             hash {head_hash}"
        )?;
        if *raw_exchanges_outside > 0 {
            write!(
                f,
                "\n{raw_exchanges_outside} raw exchanges of an earlier program lie outside the chain: nothing is said of them"
            )?;
        }
        Ok(())
    }
}
