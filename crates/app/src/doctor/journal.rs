//! Check that the journal is readable and its hash chain intact.

use super::bound::{LOOK, READING, within};
use super::finding::{Check, Finding};
use crate::journal::exposure;
use candlewick_journal::{JournalError, JournalUrl, Reader};

/// Opens the journal as a reader, which needs no lease, and verifies its chain.
pub(super) async fn check(url: &JournalUrl) -> Finding {
    let late = format!("{url} was not read to its end within {} s", READING.as_secs());
    let late = Check::Journal.warn(late, "its chain is not verified: look again when the disk is quiet");
    within(READING, late, verify(url)).await
}

async fn verify(url: &JournalUrl) -> Finding {
    let Ok(opened) = tokio::time::timeout(LOOK, Reader::open(url)).await else {
        let text = format!("{url} does not answer within {} s", LOOK.as_secs());
        return Check::Journal.fail(text, "check journal.url, and that the database runs");
    };
    let verified = match opened {
        Ok(mut reader) => reader.verify().await,
        Err(JournalError::NotFound { .. }) => {
            return Check::Journal.ok(format!("there is none yet: the first run begins {url}"));
        }
        Err(error) => Err(error),
    };
    match verified {
        Ok(verified) => {
            if let Some((problem, remedy)) = exposure(url) {
                return Check::Journal.warn(problem, remedy);
            }
            let outside = match verified.exchanges_outside {
                0 => String::new(),
                count => format!("; {count} raw exchanges of an earlier program lie outside of it"),
            };
            Check::Journal
                .ok(format!("{url} holds {} entries, and their chain is whole{outside}", verified.entries))
        }
        Err(error) => Check::Journal.fail(error.to_string(), remedy(&error)),
    }
}

pub(super) fn remedy(error: &JournalError) -> &'static str {
    match error {
        JournalError::BrokenChain { .. } => {
            "trust no figure from that entry on: restore a copy, or begin another journal once nothing is open"
        }
        JournalError::Damaged { .. } => "restore a copy, or begin another journal once nothing is open",
        JournalError::NewerSchema { .. } => "use the newer program",
        JournalError::NotAJournal { .. } | JournalError::InvalidUrl { .. } => "correct journal.url",
        JournalError::NotWritable { .. } | JournalError::PermissionDenied { .. } => {
            "give this user the right to read and write it"
        }
        JournalError::DiskFull { .. } => "make room on the disk",
        JournalError::Unavailable { .. } => "check journal.url, and that the database runs",
        JournalError::FileGone { .. } => "put the journal file back",
        JournalError::WithoutPostgres { .. } => {
            "build the program with --features postgres, or name a file in journal.url"
        }
        JournalError::OlderSchema { .. } => "let a bot of this program write it",
        JournalError::HeldBy { .. } | JournalError::LostLease { .. } => "stop the other process",
        JournalError::JournalExists { .. }
        | JournalError::OnServer { .. }
        | JournalError::NotFound { .. }
        | JournalError::Unexpected { .. } => "look at the file, and at journal.url",
    }
}
