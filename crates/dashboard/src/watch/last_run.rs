//! The header of a journal's last run, without reading all that stands before it.

use candlewick_journal::{LineKind, Reader};
use candlewick_records::{BETWEEN_RUNS, RecordedRun, RecordsError};

/// Lines looked at around a place: those that a person wrote while no bot ran are none of a run.
const AROUND: u32 = 500;

/// The last run of a journal that has one.
///
/// # Errors
/// The journal cannot be read, or has no run yet.
pub(crate) async fn last_run(reader: &mut Reader) -> Result<RecordedRun, RecordsError> {
    let head = reader.head().await?.seq;
    let end = reader.lines(head.saturating_sub(u64::from(AROUND) - 1).max(1), AROUND).await?;
    let last = end.iter().rev().map(|stored| stored.line.run).find(|run| *run != BETWEEN_RUNS);
    let last = last.ok_or(RecordsError::NoRun)?;
    // Runs ascend: its first line is found by halving.
    let (mut low, mut high) = (1, head);
    while low < high {
        let middle = low + (high - low) / 2;
        let there = reader.lines(middle, AROUND).await?;
        let run = there.iter().map(|stored| stored.line.run).find(|run| *run != BETWEEN_RUNS);
        if run.is_none_or(|run| run >= last) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // Lines of no run may stand before it.
    let around = reader.lines(low, AROUND).await?;
    let header =
        around.into_iter().find(|stored| stored.line.kind == LineKind::Run && stored.line.run == last);
    let header = header.ok_or(RecordsError::NoRun)?;
    RecordedRun::all_of(&[header])?.pop().ok_or(RecordsError::NoRun)
}
