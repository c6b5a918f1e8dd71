//! `journal compact`: writes a copy without old candles and polls.

use super::verify::left_out;
use crate::arguments::parse_length;
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_journal::{Compaction, Holder, LeaseTerms, Reader};
use candlewick_runtime::{RuntimeError, compact_journal};
use candlewick_sdk::Millis;
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// Of which journal, and where to.
#[derive(Debug, Args)]
#[command(
    after_help = "Candles go, and raw exchanges about no trade such as lists and wallets, where they are older than --keep at the \
                  journal's last entry. Trades, decisions, refusals, settlements, notes and the exchanges about trades stay, \
                  word for word. The first entry of the copy names the last one of the journal by its hash and says what was left out; \
                  the rest has a chain of its own, which `journal verify` checks. The copy gets its name once a start from it would go \
                  on from the same money, intents, limits and verdicts. The journal stays as it is: keep it where you may \
                  want to prove what is missing in the copy. What needs old candles (`parity`, `why`, the indicators of `explain`) says \
                  that they were left out.\n\nA journal that a bot writes is not compacted: stop the bot, or compact a \
                  backup to read it. A journal in PostgreSQL is none of this command's.\n\nExamples:\n  candlewick journal compact small.db --keep 90d\n  \
                  candlewick journal compact small.db --keep 30d --journal run.db --json"
)]
pub(crate) struct CompactArguments {
    /// The file to make
    file: PathBuf,
    /// How old candles and polls may be that are kept
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, default_value = "90d")]
    keep: Millis,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct Compacted {
    file: PathBuf,
    entries: u64,
    head_hash: String,
    #[serde(rename = "compacted")]
    missing: Compaction,
}

pub(super) fn run(arguments: &CompactArguments, context: &Context<'_>) -> Result<(), Failure> {
    let (_, url) = arguments.journal.load(context)?;
    if url.file().is_none() {
        let problem = anyhow::anyhow!("{url} lies on a server: only a journal in a file is compacted");
        return Err(Failure::new(FailureKind::Configuration, problem));
    }
    let holder = block_on(async {
        let held = Reader::open(&url).await?.holder().await?;
        Ok::<_, candlewick_journal::JournalError>(held)
    })?;
    let us = Holder::of_this_process("candlewick journal compact");
    if let Some(lease) = holder.filter(|lease| !LeaseTerms::default().is_over(lease, &us)) {
        let problem = anyhow::anyhow!(
            "{} writes {url}: stop it, or compact a copy that `candlewick journal backup` makes",
            lease.holder
        );
        return Err(Failure::new(FailureKind::JournalHeld, problem));
    }
    let (compaction, verified) = block_on(async {
        compact_journal(&url, &arguments.file, arguments.keep).await.map_err(|error| match error {
            RuntimeError::Journal(error) => Failure::from(error),
            other => other.into(),
        })
    })?;
    let compacted = Compacted {
        file: arguments.file.clone(),
        entries: verified.entries,
        head_hash: verified.head_hash.to_string(),
        missing: compaction,
    };
    show(&compacted, context.global)
}

impl fmt::Display for Compacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, entries, head_hash, missing } = self;
        write!(
            f,
            "{}: {entries} entries, verified; the last has the hash {head_hash}\n{}",
            file.display(),
            left_out(missing)
        )
    }
}
