//! Whoever follows a run's lines once they are durable, and has snapshots kept of what they come to.

use crate::tables::IntentRows;
use crate::{Head, JournalError, StoredLine};

/// How the body of a whole snapshot begins.
const WHOLE: &str = "{\"snapshot\":";
/// How the body of a part begins that stands before it.
const PART: &str = "{\"snapshot_part\":";

/// Follows the lines of a run as they become durable. What it asks to be kept stands in the journal as notes.
pub trait Follower: Send {
    /// A line is durable; called for each, in their order.
    fn take(&mut self, stored: &StoredLine);

    /// Whether a snapshot, or the rest of one, is due.
    fn is_due(&self) -> bool;

    /// The next piece of a snapshot that is due, to be written behind all lines that it has taken; none when nothing is due.
    /// `is_end`: the run ends.
    fn next_piece(&mut self, is_end: bool) -> Option<String>;

    /// That piece is the line of this number and hash.
    fn recorded(&mut self, head: Head);

    /// That piece was not kept, as far as is known: the next one begins a snapshot that goes on from what was.
    fn not_recorded(&mut self, why: &str);

    /// What the rows of the tables are made of; none where it does not know.
    fn rows(&self) -> Option<&dyn IntentRows> {
        None
    }

    /// The tables hold all intents as they stand, by the lines that it has taken.
    fn rows_complete(&mut self) {}

    /// Rows of the tables were not written; they are tried again later.
    fn rows_not_written(&mut self, error: &JournalError) {
        let _ = error;
    }
}

/// Whether a note is a snapshot or a part of one.
pub fn is_snapshot(body: &str) -> bool {
    body.starts_with(WHOLE) || body.starts_with(PART)
}
