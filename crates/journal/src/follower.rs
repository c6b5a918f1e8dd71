//! Follower of a run's durable lines, which requests snapshots.

use crate::tables::IntentRows;
use crate::{Head, JournalError, StoredLine};

const WHOLE: &str = "{\"snapshot\":";
const PART: &str = "{\"snapshot_part\":";

pub trait Follower: Send {
    fn take(&mut self, stored: &StoredLine);

    fn is_due(&self) -> bool;

    /// Returns the next piece of a pending snapshot, `None` if there is none.
    ///
    /// It is written after all lines received so far. `is_end` is true at the end of the run.
    fn next_piece(&mut self, is_end: bool) -> Option<String>;

    fn recorded(&mut self, head: Head);

    /// Reports that the last piece may be lost. The next piece begins a new snapshot.
    fn not_recorded(&mut self, why: &str);

    fn rows(&self) -> Option<&dyn IntentRows> {
        None
    }

    fn rows_complete(&mut self) {}

    fn rows_not_written(&mut self, error: &JournalError) {
        let _ = error;
    }
}

pub fn is_snapshot(body: &str) -> bool {
    body.starts_with(WHOLE) || body.starts_with(PART)
}
