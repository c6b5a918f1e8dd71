//! Finds the header of the last run without reading the whole journal.

use candlewick_journal::{LineKind, Reader};
use candlewick_records::{BETWEEN_RUNS, RecordedRun, RecordsError};

/// Lines read around a position. Lines written manually between runs belong to no run.
const AROUND: u32 = 500;

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
