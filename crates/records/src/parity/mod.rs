//! Parity check: compares the decisions and outcomes of a journal with this program.

mod cause;
mod decisions;
mod market;
mod outcomes;
mod prices;
mod report;

pub use report::{ChainCheck, ParityReport};

use crate::contents::{JournalContents, compacted_since};
use crate::error::RecordsError;
use crate::lines::{Which, read_unverified};
use crate::run::RecordedRun;
use candlewick_journal::{JournalError, Reader};
use candlewick_sdk::Registry;
use decisions::Decisions;
use outcomes::Outcomes;

pub async fn check(reader: &mut Reader, registry: &Registry) -> Result<ParityReport, RecordsError> {
    let chain = match reader.verify().await {
        Ok(verified) => ChainCheck::Whole { entries: verified.entries },
        Err(JournalError::BrokenChain { seq, reason, .. }) => ChainCheck::Broken { seq, reason },
        Err(error) => return Err(error.into()),
    };
    let lines = match read_unverified(reader, Which::All).await {
        Ok(read) => read.kept,
        // A row that is no line: the chain has named it.
        Err(JournalError::BrokenChain { .. }) => return Ok(ParityReport::unread(chain)),
        Err(error) => return Err(error.into()),
    };
    if let Some(since) = compacted_since(&lines).filter(|_| chain.is_whole()) {
        return Err(RecordsError::Compacted { since });
    }
    let runs = match RecordedRun::all_of(&lines) {
        Ok(runs) => runs,
        Err(_) if !chain.is_whole() => return Ok(ParityReport::unread(chain)),
        Err(failure) => return Err(failure),
    };
    let decisions = Decisions::compare(&lines, &runs, registry)?;
    // Of a journal that is not as it was written no figures are shown.
    let outcomes = if decisions.difference.is_none() && chain.is_whole() {
        let contents = JournalContents::read(reader).await?;
        Some(Outcomes::compare(&contents, &lines)?)
    } else {
        None
    };
    Ok(ParityReport::of(chain, runs.len(), decisions, outcomes))
}
