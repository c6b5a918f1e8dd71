//! `journal verify`: checks that every entry is unchanged.

use crate::context::Context;
use crate::failure::Failure;
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_journal::{Compaction, Reader};
use candlewick_records::utc;
use candlewick_runtime::{JournalCheck, RuntimeError, TablesCheck, check_journal};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Which journal.
#[derive(Debug, Args)]
#[command(
    after_help = "Computes the chain of hashes again, from the first entry to the last, each snapshot from the entries \
                  before it, and the tables from the entries that they hold. Exit code 5 when one is not as it was written. The hash of the last entry stands for all before it: noted elsewhere, it shows later \
                  that nobody made the journal anew.\n\nExamples:\n  candlewick journal verify\n  candlewick journal verify \
                  --journal run.db --json"
)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct Sound {
    journal: String,
    entries: u64,
    head_hash: String,
    raw_exchanges: u64,
    /// Requests and answers outside the chain, because an earlier program version wrote them.
    raw_exchanges_outside: u64,
    snapshots: u64,
    /// Snapshots that this program cannot check, by reason.
    snapshots_not_checked: BTreeMap<String, u64>,
    /// Last entry of the verified tables; `None` if there are none or they are being built.
    tables_up_to: Option<u64>,
    /// What was omitted when the journal was compacted; `None` for a complete one.
    compacted: Option<Compaction>,
}

impl Sound {
    fn of(journal: String, JournalCheck { verified, snapshots, tables, compaction }: JournalCheck) -> Self {
        Self {
            journal,
            entries: verified.entries,
            head_hash: verified.head_hash.to_string(),
            raw_exchanges: verified.exchanges,
            raw_exchanges_outside: verified.exchanges_outside,
            snapshots: snapshots.sound,
            snapshots_not_checked: snapshots.not_checked,
            tables_up_to: match tables {
                TablesCheck::Sound { seq, .. } => Some(seq),
                TablesCheck::Absent => None,
            },
            compacted: compaction,
        }
    }
}

pub(super) fn run(arguments: &VerifyArguments, context: &Context<'_>) -> Result<(), Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let check = block_on(async {
        let mut reader = Reader::open(&url).await.map_err(RuntimeError::from)?;
        check_journal(&mut reader).await
    })?;
    show(&Sound::of(url.to_string(), check), context.global)
}

impl fmt::Display for Sound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { journal, entries, head_hash, raw_exchanges, raw_exchanges_outside, .. } = self;
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
        if self.snapshots > 0 {
            write!(f, "\n{} snapshots, each what the entries before it come to", self.snapshots)?;
        }
        if let Some(seq) = self.tables_up_to {
            write!(f, "\nthe tables are what the entries up to {seq} come to")?;
        }
        if let Some(compaction) = &self.compacted {
            write!(f, "\n{}; nothing here shows that they were as they should be", left_out(compaction))?;
        }
        for (why, count) in &self.snapshots_not_checked {
            write!(f, "\n{count} snapshots not checked: {why}")?;
        }
        Ok(())
    }
}

pub(super) fn left_out(compaction: &Compaction) -> String {
    let Compaction { of, since, candles, exchanges, .. } = compaction;
    format!(
        "compacted from {} entries, the last with the hash {}: {candles} candles and {exchanges} raw exchanges before {} were left out",
        of.seq,
        of.hash,
        utc(*since)
    )
}
